"""Every route, asked as every kind of caller, for what is theirs, another's, absent or elsewhere.

What is allowed stands in docs/access.md and nowhere else: a route without a row there fails.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.application import Application
from engine.access.keys import issue_key
from engine.access.models import Caller, Role
from engine.access.tenants import add_tenant
from engine.access.tokens import issue_token
from engine.ids import new_id
from engine.night.nights import run_night
from engine.store.graph import Graph
from tests.api.access.test_identity import EC, ISSUER, pem, signed
from tests.api.conftest import a_client, a_token
from tests.api.dumps import dump
from tests.conftest import clear
from tests.lives import add_shape

DOCUMENT = Path(__file__).parents[3] / "docs" / "access.md"
PENDING = "†"  # decided elsewhere, not asked yet
STREAM = "listen_to_events"  # never ends by itself

# Each caller, and the column of the table that says what they may.
CALLERS = {
    "admin": "admin",
    "runtime": "runtime",
    "analyst": "analyst",
    "author": "author",
    "author by JWT": "author",
    "member": "member",
    "runtime for the author": "for a member",
    "person in no instance": "outsider",
    "member of another instance": "outsider",
    "narrowed to another instance": "outsider",
    "runtime for nobody's member": "for an outsider",
}
SKYLIGHT = "The skylight of the attic leaks."
ITEMS = ("memories", "candidates")
STRANGERS = ("no key", "revoked key", "expired token", "token of a revoked key", "key of nobody")


def table() -> dict[tuple[str, str], dict[str, str]]:
    """Method and path of every row: what each column says."""
    lines = DOCUMENT.read_text().splitlines()
    header = next(line for line in lines if line.startswith("| route |"))
    _, *columns = [cell.strip() for cell in header.strip("|").split("|")]
    rows = {}
    for line in lines[lines.index(header) + 2 :]:
        route, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        method, path = route.split()
        assert (method, path) not in rows, route
        rows[method, path] = dict(zip(columns, cells, strict=True))
    return rows


ALLOWED = table()


def operations(app: Application) -> dict[tuple[str, str], str]:
    return {
        (method.upper(), path): operation["operationId"]
        for path, item in app.openapi_schema.to_schema()["paths"].items()
        for method, operation in item.items()
    }


def test_every_route_stands_in_the_table_and_nothing_else_does(app: Application) -> None:
    assert set(ALLOWED) == set(operations(app))


def body_of(operation: str, ids: dict[str, str]) -> Any:
    """A good body, naming what the path does not."""
    ends = {"first_message_id": ids["message_id"], "last_message_id": ids["message_id"]}
    item = {"memory_type": "semantic", "text": "Sam lives in Lisbon."}
    said = {
        "persona_id": ids["persona_id"],
        "role": "user",
        "content": "And the gate is blue.",
        "timestamp": "2026-05-02T13:00:00Z",
    }
    bodies: dict[str, Any] = {
        "add_persona": {"name": "Eve"},
        "change_persona": {"tone": "warm"},
        "duplicate_persona": {},
        "add_instance": {"name": "Cellar"},
        "put_member": {},
        "issue_key": {"name": "k", "role": "analyst"},
        "rotate_key": {},
        "issue_token": {"user_id": "sam", "instance_ids": [ids["instance_id"]]},
        "set_identity_provider": {"issuer": ISSUER, "public_keys": [pem(EC)]},
        "add_conversation": {
            "instance_id": ids["instance_id"],
            "persona_ids": [ids["persona_id"]],
        },
        "record_messages": {"messages": [said]},
        "split_conversation": ends,
        "edit_candidate": {"text": "Sam lives in Porto."},
        "propose_candidate": item,
        "forget_range": ends,
        "undo_message": {},
        "undo_range": {},
        "change_memory": {"pinned": True},
        "coactivate": {"memory_ids": [ids["memory_id"]]},
        "add_link": {"to_id": ids["other_memory_id"]},
        "minimize_memory": {},
        "remember": item,
        "recall": {"query": "Where does Sam live?"},
        "assemble_context": {"conversation_id": ids["conversation_id"]},
        "add_shape": {"connected_themes": "boats", "felt_absence": "They are gone."},
        "add_contract_shape": {"connectedThemes": "boats", "feltAbsence": "They are gone."},
        "record_recall": {"response": "It made me smile.", "valence": "Positive"},
        "hydrate": {},
        "set_policy": {},
        "set_tenant_policy": {},
        "move_clock": {"now": None},
        "share_shape": {"persona_id": ids["persona_id"]},
    }
    return bodies.get(operation)


@dataclass
class World:
    """One tenant with one of everything."""

    tenant_id: str
    admin: httpx.AsyncClient
    ids: dict[str, str]
    callers: dict[str, httpx.AsyncClient] = field(default_factory=dict)


async def patiently(
    client: httpx.AsyncClient, method: str, path: str, **fields: Any
) -> httpx.Response:
    """The answer, though a busy Neo4j plans a statement for seconds when it first sees it."""
    for _ in range(5):
        answer = await client.request(method, path, **fields)
        if answer.status_code != 503:
            break
    return answer


async def key_of(graph: Graph, tenant_id: str, role: Role, **fields: Any) -> Any:
    return await issue_key(
        graph, tenant_id, name="access", role=role, now=datetime.now(UTC), **fields
    )


def a_message(message_id: str, persona_id: str, user_id: str, content: str) -> dict[str, str]:
    return {
        "message_id": message_id,
        "persona_id": persona_id,
        "role": "user",
        "user_id": user_id,
        "content": content,
        "timestamp": "2026-05-02T12:00:00Z",
    }


async def a_world(app: Application, graph: Graph, tenant_id: str, mark: str) -> World:
    """sam said and flagged something in the studio, where lee is too. mia is in the attic, and
    has told the same persona something else there."""
    await add_tenant(graph, tenant_id, name="Access", now=datetime.now(UTC))
    admin = a_client(app, (await key_of(graph, tenant_id, Role.ADMIN)).api_key)

    async def made(path: str, body: Any, **headers: str) -> Any:
        answer = await patiently(admin, "POST", path, json=body, headers=headers)
        assert answer.status_code < 300, (path, answer.text)
        return answer.json()

    ada, studio, monday, said = (f"{name}-{mark}" for name in ("ada", "studio", "monday", "said"))
    await made("/api/personas", {"id": ada, "name": "Ada", "identity": "Secret."})
    for place, members in ((studio, ("sam", "lee")), (f"attic-{mark}", ("sam", "mia"))):
        await made("/api/instances", {"id": place, "name": "A place"})
        for user_id in members:
            await admin.put(f"/api/instances/{place}/members/{user_id}", json={})
    await made("/api/conversations", {"id": monday, "instance_id": studio, "persona_ids": [ada]})
    message = a_message(said, ada, "sam", "I moved to Lisbon.")
    quiet = a_message(f"quiet-{mark}", ada, "sam", "The kettle is on.")
    await made(f"/api/conversations/{monday}/messages", {"messages": [message, quiet]})
    untouched = {"memory_type": "semantic", "source_message_ids": [quiet["message_id"]]}
    for kind, id_ in zip(ITEMS, ("memory_id", "candidate_id"), strict=True):
        body = {**untouched, "text": quiet["content"], id_: f"quiet-{id_}-{mark}"}
        await made(f"/api/personas/{ada}/{kind}", body)
    item = {"memory_type": "semantic", "source_message_ids": [said]}
    for memory_id in (f"kept-{mark}", f"other-{mark}"):
        text = f"Sam lives in {memory_id}."
        await made(f"/api/personas/{ada}/memories", {**item, "text": text, "memory_id": memory_id})
    candidate = {**item, "text": "Sam likes trams.", "candidate_id": f"fact-{mark}"}
    await made(f"/api/personas/{ada}/candidates", candidate)
    await talk_in_the_attic(made, f"attic-{mark}", ada, mark)
    ends = {"first_message_id": said, "last_message_id": said}
    flagged = await made(f"/api/conversations/{monday}/forget-range", ends, **{"X-User-Id": "sam"})
    night = await run_night(
        graph,
        tenant_id,
        ada,
        now=datetime.now(UTC),
        started_by="test",
    )
    ids = {
        "persona_id": ada,
        "identity_id": ada,  # the word of the published contract
        "instance_id": studio,
        "user_id": f"ann-{mark}",
        "key_id": (await key_of(graph, tenant_id, Role.ANALYST)).key.id,
        "conversation_id": monday,
        "message_id": said,
        "range_id": flagged["range_id"],
        "candidate_id": f"fact-{mark}",
        "memory_id": f"kept-{mark}",
        "other_memory_id": f"other-{mark}",
        # Never named in a path: no call of an earlier caller has taken it away.
        "quiet_message_id": f"quiet-{mark}",
        "quiet_memory_id": f"quiet-memory_id-{mark}",
        "quiet_candidate_id": f"quiet-candidate_id-{mark}",
        "run_id": night.id,
        "shape_id": await add_shape(graph, tenant_id, ada, f"gone-{mark}"),
    }
    return World(tenant_id, admin, ids)


async def talk_in_the_attic(
    made: Callable[..., Awaitable[Any]], attic: str, persona_id: str, mark: str
) -> None:
    """What keeps outsiders from the studio's things is then not that they share no persona."""
    loft, message_id = f"loft-{mark}", f"told-{mark}"
    await made(
        "/api/conversations", {"id": loft, "instance_id": attic, "persona_ids": [persona_id]}
    )
    message = a_message(message_id, persona_id, "mia", "The skylight leaks.")
    await made(f"/api/conversations/{loft}/messages", {"messages": [message]})
    item = {"memory_type": "semantic", "source_message_ids": [message_id], "text": SKYLIGHT}
    await made(f"/api/personas/{persona_id}/memories", {**item, "memory_id": f"leak-{mark}"})
    await made(f"/api/personas/{persona_id}/candidates", {**item, "candidate_id": f"drip-{mark}"})


async def with_callers(app: Application, graph: Graph, world: World) -> World:
    tenant_id = world.tenant_id
    attic = world.ids["instance_id"].replace("studio", "attic")
    provider = body_of("set_identity_provider", world.ids)
    await world.admin.put("/api/identity-provider", json=provider)
    runtime = await key_of(graph, tenant_id, Role.RUNTIME)
    revoked = await key_of(graph, tenant_id, Role.RUNTIME)
    issuer = Caller(tenant_id, revoked.key.id, Role.RUNTIME)
    orphan = await issue_token(
        graph, issuer, user_id="sam", instance_ids=None, minutes=60, now=datetime.now(UTC)
    )
    await world.admin.delete(f"/api/keys/{revoked.key.id}")
    living = Caller(tenant_id, runtime.key.id, Role.RUNTIME)
    long_ago = datetime.now(UTC) - timedelta(hours=2)
    expired = await issue_token(
        graph, living, user_id="sam", instance_ids=None, minutes=60, now=long_ago
    )
    texts: dict[str, str | None] = {
        "runtime": runtime.api_key,
        "analyst": (await key_of(graph, tenant_id, Role.ANALYST)).api_key,
        "author": await a_token(graph, tenant_id, "sam"),
        "author by JWT": signed(tenant_id, exp=datetime.now(UTC) + timedelta(hours=2)),
        "member": await a_token(graph, tenant_id, "lee"),
        "runtime for the author": runtime.api_key,
        "person in no instance": await a_token(graph, tenant_id, "kim"),
        "member of another instance": await a_token(graph, tenant_id, "mia"),
        "narrowed to another instance": await a_token(
            graph, tenant_id, "sam", instance_ids=[attic]
        ),
        "runtime for another member": runtime.api_key,
        "runtime for nobody's member": runtime.api_key,
        "no key": None,
        "revoked key": revoked.api_key,
        "expired token": expired.token,
        "token of a revoked key": orphan.token,
        "key of nobody": "pmt_0123456789abcdef_nothing",
    }
    world.callers = {"admin": world.admin}
    for name, text in texts.items():
        world.callers[name] = a_client(app, text)
    world.callers["runtime for the author"].headers["X-User-Id"] = "sam"
    world.callers["runtime for another member"].headers["X-User-Id"] = "lee"
    world.callers["runtime for nobody's member"].headers["X-User-Id"] = "kim"
    return world


@pytest.fixture(scope="module")
async def worlds(app: Application, graph: Graph) -> AsyncIterator[tuple[World, World]]:
    """The tenant that is asked, and another."""
    ids = [f"test-{new_id()}" for _ in range(2)]
    ours = await with_callers(app, graph, await a_world(app, graph, ids[0], "ours"))
    theirs = await a_world(app, graph, ids[1], "theirs")
    yield ours, theirs
    for client in (*ours.callers.values(), theirs.admin):
        await client.aclose()
    await clear(graph, ids)


@pytest.fixture
def ours(worlds: tuple[World, World]) -> World:
    """The tenant that is asked."""
    return worlds[0]


async def before(operation: str, world: World) -> None:
    """What a call takes away is there when the next caller tries it."""
    if operation == "remove_member":
        path = "/api/instances/{instance_id}/members/{user_id}".format(**world.ids)
        await world.admin.put(path, json={})
    if operation in ("rotate_key", "revoke_key"):
        made = await world.admin.post("/api/keys", json={"name": "k", "role": "analyst"})
        world.ids["key_id"] = made.json()["key"]["id"]
    if operation.endswith("identity_provider"):
        body = body_of("set_identity_provider", world.ids)
        await world.admin.put("/api/identity-provider", json=body)


async def ask(
    client: httpx.AsyncClient, method: str, path: str, operation: str, ids: dict[str, str]
) -> httpx.Response:
    request = patiently(client, method, path.format(**ids), json=body_of(operation, ids))
    if operation != STREAM:
        return await request
    try:
        return await asyncio.wait_for(request, 2)
    except TimeoutError:
        return httpx.Response(200, text="")  # it goes on and on, as it should


def status_and_detail(answer: httpx.Response, ids: dict[str, str]) -> tuple[int, str]:
    """An answer, less what names the request itself."""
    text = answer.text
    for name, value in ids.items():
        text = text.replace(value, name)
    return answer.status_code, re.sub(r'"request_?[iI]d":"[\w.-]+"', "", text)


@pytest.mark.spec("SEC-01")
@pytest.mark.parametrize("name", CALLERS)
async def test_each_caller_may_do_what_the_table_says(
    app: Application, worlds: tuple[World, World], name: str
) -> None:
    ours, theirs = worlds
    client, column = ours.callers[name], CALLERS[name]
    absent = {id_: f"absent-{id_.replace('_', '-')}" for id_ in ours.ids}
    absent["identity_id"] = absent["persona_id"]
    of_studio = {value for value in ours.ids.values() if value != ours.ids["persona_id"]}
    seen: dict[str, str] = {}
    wanted: dict[str, str] = {}
    shown: dict[str, bool] = {}

    for (method, path), operation in operations(app).items():
        route, cell = f"{method} {path}", ALLOWED[method, path][column]
        if cell == "open" or PENDING in cell:
            continue
        await before(operation, ours)
        answer = await ask(client, method, path, operation, ours.ids)
        wanted[route] = cell
        if cell == "yes":
            good = answer.status_code < 500 and answer.status_code not in (401, 403, 404)
            seen[route] = "yes" if good else answer.text
        elif cell == "none":
            hidden = not any(value in answer.text for value in of_studio)
            seen[route] = "none" if answer.status_code == 200 and hidden else answer.text
            shown[route] = SKYLIGHT in answer.text
        else:
            seen[route] = str(answer.status_code)
        nowhere = await ask(client, method, path, operation, absent)
        if cell == "404":  # what one may not see is answered as what is not there
            assert status_and_detail(answer, ours.ids) == status_and_detail(nowhere, absent), route
        if "{" in path:
            elsewhere = await ask(client, method, path, operation, theirs.ids)
            assert status_and_detail(elsewhere, theirs.ids) == status_and_detail(nowhere, absent), (
                route
            )
            not_found = (401, 403, 404) if operation != "put_member" else (403, 404)
            assert nowhere.status_code in not_found, (route, nowhere.text)

    await before("set_identity_provider", ours)
    assert seen == wanted
    if shown:  # and what is of the caller's own instance is not hidden with the rest
        is_in_attic = "another instance" in name
        assert {route for route, whether in shown.items() if whether} == (
            {"GET /api/items", *(f"GET /api/personas/{{persona_id}}/{noun}" for noun in ITEMS)}
            if is_in_attic
            else set()
        )


@pytest.mark.spec("SEC-01")
@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("member of another instance", 2),
        ("narrowed to another instance", 2),
        ("person in no instance", 0),
        ("runtime for nobody's member", 0),
    ],
)
async def test_what_a_caller_may_not_see_is_not_counted_either(
    ours: World, name: str, counted: int
) -> None:
    counts = (await ours.callers[name].get("/api/items/counts")).json()

    assert not counts.pop("more")
    assert sum(counts.values()) == counted, counts


@pytest.mark.spec("SEC-01")
@pytest.mark.parametrize("kind", ITEMS)
async def test_what_an_outsider_did_not_hear_is_no_source_of_theirs(ours: World, kind: str) -> None:
    outsider = ours.callers["runtime for nobody's member"]
    path = f"/api/personas/{ours.ids['persona_id']}/{kind}"
    item = {"memory_type": "semantic", "text": "The kettle is on."}

    hidden = ours.ids["quiet_message_id"]
    refused = await outsider.post(path, json={**item, "source_message_ids": [hidden]})
    absent = await outsider.post(path, json={**item, "source_message_ids": ["absent"]})

    assert refused.status_code == 404
    assert status_and_detail(refused, {"": hidden}) == status_and_detail(absent, {"": "absent"})


@pytest.mark.spec("SEC-01")
async def test_a_key_that_acts_for_a_member_changes_only_what_that_member_may(
    app: Application, ours: World, graph: Graph
) -> None:
    """lee sees what sam has said, and may not change it, by whichever key."""
    for_lee = ours.callers["runtime for another member"]
    quiet = {id_: ours.ids[f"quiet_{id_}"] for id_ in ("memory_id", "candidate_id")}
    before = await dump(graph, ours.tenant_id)

    asked = []
    for (method, path), operation in operations(app).items():
        if method != "GET" and any(f"{{{id_}}}" in path for id_ in quiet):
            refused = await ask(for_lee, method, path, operation, ours.ids | quiet)
            assert refused.status_code == 404, (path, refused.text)
            assert await dump(graph, ours.tenant_id) == before, path
            asked.append(path)

    assert len(asked) >= 9


@pytest.mark.spec("SEC-01")
async def test_what_is_used_together_is_what_its_caller_may_see(ours: World, graph: Graph) -> None:
    outsider = ours.callers["runtime for nobody's member"]
    path = f"/api/personas/{ours.ids['persona_id']}/coactivate"
    pair = [ours.ids["quiet_memory_id"], ours.ids["other_memory_id"]]
    before = await dump(graph, ours.tenant_id)

    refused = await outsider.post(path, json={"memory_ids": pair})

    assert refused.status_code == 404, refused.text
    assert await dump(graph, ours.tenant_id) == before


@pytest.mark.spec("SEC-01")
async def test_a_link_shows_nothing_of_an_instance_its_caller_is_not_in(
    ours: World,
) -> None:
    leak, quiet = "leak-ours", ours.ids["quiet_memory_id"]
    linked = await ours.admin.post(f"/api/memories/{leak}/links", json={"to_id": quiet})
    assert linked.status_code < 300, linked.text

    answers = [
        await ours.callers[name].get(f"/api/memories/{leak}/links")
        for name in ("member of another instance", "narrowed to another instance", "author")
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert [quiet in answer.text for answer in answers] == [False, False, True]
    for_mia = {"X-User-Id": "mia"}
    runtime = ours.callers["runtime"]
    hers = await runtime.patch(f"/api/memories/{leak}", json={"pinned": True}, headers=for_mia)
    to_hidden = await runtime.post(
        f"/api/memories/{leak}/links", json={"to_id": quiet}, headers=for_mia
    )
    assert [hers.status_code, to_hidden.status_code] == [200, 404]


@pytest.mark.spec("SEC-01")
@pytest.mark.parametrize("name", STRANGERS)
async def test_who_is_nobody_gets_the_same_401_everywhere(
    app: Application, worlds: tuple[World, World], name: str
) -> None:
    ours, _ = worlds
    answers = set()

    for (method, path), operation in operations(app).items():
        if ALLOWED[method, path]["admin"] == "open":
            continue
        answer = await ask(ours.callers[name], method, path, operation, ours.ids)
        answers.add(status_and_detail(answer, {}))

    ((status, _),) = answers
    assert status == 401


@pytest.mark.spec("SEC-01")
async def test_an_id_that_another_tenant_has_is_free(worlds: tuple[World, World]) -> None:
    ours, theirs = worlds

    for path, id_, more in (
        ("/api/personas", "persona_id", {"name": "Ada"}),
        ("/api/instances", "instance_id", {"name": "Studio"}),
        (
            "/api/conversations",
            "conversation_id",
            {"instance_id": ours.ids["instance_id"], "persona_ids": [ours.ids["persona_id"]]},
        ),
    ):
        made = await ours.admin.post(path, json={"id": theirs.ids[id_], **more})
        assert made.status_code == 201, made.text
