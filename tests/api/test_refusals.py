"""A refused request changes nothing: every write route and every kind of refusal.

Made from the OpenAPI document: a route that is new is in it by itself. What cannot be made from
the document stands in CONFLICTS; a route that may answer 409 and is missing there fails the test.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.application import Application
from engine.access.keys import issue_key
from engine.access.models import Role
from engine.access.tenants import add_tenant
from engine.ids import new_id
from engine.settings import Settings
from engine.store.graph import Graph
from tests.api.access.test_tenancy import SAID, a_full_tenant
from tests.api.conftest import NewCaller, a_client
from tests.api.dumps import dump
from tests.api.test_bounds import cursor_of
from tests.conftest import clear

WRITES = ("post", "put", "patch", "delete")
KINDS = ("400", "401", "403", "404", "409", "413", "422", "429")
ABSENT = "absent-everywhere"
GUID = "5d8a6c1e-2b7f-4a93-8e40-97c3d1f0b6a2"
CLAMPED = ("emotional_residue", "emotionalResidue")  # any number is taken, and brought between

# By operation: what is sent, with {...} filled in; the state of `house` makes each a conflict.
CONFLICTS: dict[str, tuple[dict[str, str], Any]] = {
    "add_persona": ({}, {"id": "ada", "name": "Somebody else"}),
    "duplicate_persona": ({}, {"id": "eve"}),
    "add_instance": ({}, {"id": "studio", "name": "Something else"}),
    "revoke_key": ({"key_id": "{last_key_id}"}, None),
    "add_conversation": (
        {},
        {"id": "monday", "instance_id": "attic", "persona_ids": ["ada"]},
    ),
    "record_messages": ({}, {"messages": [{**SAID, "content": "Something else."}]}),
    "split_conversation": ({}, {"id": "tuesday", "first_message_id": "said"}),
    "propose_candidate": (
        {},
        {"candidate_id": "fact", "memory_type": "semantic", "text": "Something else."},
    ),
    "edit_candidate": ({"candidate_id": "kept"}, {"text": "Something else."}),
    "remove_candidate": ({"candidate_id": "kept"}, None),
    "restore_candidate": ({}, None),
    "relearn_shape": ({}, None),
    "share_shape": ({}, {"persona_id": "ada"}),
    "remember": ({}, {"memory_id": "kept", "memory_type": "semantic", "text": "Something else."}),
    "add_shape": (
        {},
        {"shape_id": "gone", "connected_themes": "boats", "felt_absence": "Something else."},
    ),
    "add_contract_shape": (
        {},
        {"guid": GUID, "connectedThemes": "boats", "feltAbsence": "Something else."},
    ),
    "record_recall": (
        {},
        {"recall_id": "smiled", "response": "Something else.", "valence": "Positive"},
    ),
    "forget_range": ({}, {"first_message_id": "more1", "last_message_id": "more4"}),
    "undo_message": ({}, {"source": "undo_toast"}),
    "undo_range": ({}, {"source": "undo_toast"}),
}
# Refusals that a route's document names and that no request here brings about, and why.
UNREACHED: dict[tuple[str, str], str] = {}
# What cursors may say that no listing has given out.
MADE_UP = [
    "1" + "0" * 370,
    f'[1{"0" * 370}, "x"]',
    '[1e999, "x"]',
    '[true, "x"]',
    "[" * 300,
    "9" * 30,
    "٣",
    "-1",
    "9999-12-31T23:59:59-23:59|x",
    "0001-01-01T00:00:00+23:59|x",
    "2026-01-01T00:00:00|x",
    "\0",
]


@dataclass(frozen=True)
class Operation:
    """A write route as the document describes it."""

    id: str
    method: str
    path: str
    statuses: frozenset[str]
    example: Any  # a good body, or None

    def address(self, ids: dict[str, str]) -> str:
        return self.path.format(**ids)


def operations(document: dict[str, Any]) -> list[Operation]:
    writes = []
    for path, item in document["paths"].items():
        for method in set(item) & set(WRITES):
            operation = item[method]
            example = None
            if body := operation.get("requestBody"):
                (example,) = body["content"]["application/json"]["schema"]["examples"]
            statuses = frozenset(operation["responses"])
            name = operation["operationId"]
            writes.append(Operation(name, method, path, statuses, example))
    return sorted(writes, key=lambda write: write.id)


def with_absent_ids(value: Any, name: str = "") -> Any:
    """A body with every id in it replaced by one that is nobody's."""
    if isinstance(value, dict):
        return {key: with_absent_ids(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_absent_ids(inner, name) for inner in value]
    return ABSENT if name.endswith(("_id", "_ids")) else value


def bad_bodies(example: dict[str, Any]) -> list[bytes]:
    """Bodies that no route takes, and a good one with each field made wrong."""
    bodies = [b"", b"{", b"[]", b"null", b'{"unknown_field": 1}', b"[" * 50_000, b"\xff"]
    text = json.dumps(example)
    name = next(iter(example), "x")
    doubled = f'{{"{name}": {json.dumps(example.get(name))}, {text[1:]}' if example else '{"x":1}'
    bodies.append(doubled.encode())
    wrong: tuple[Any, ...] = ([[]], {"unknown": [[]]}, "\0" * 3, "x" * 30_000, -(10**30))
    changed = [
        {**example, field: value}
        for field in example
        for value in wrong
        if not (field in CLAMPED and isinstance(value, int))
    ]
    return [*bodies, *(json.dumps(body).encode() for body in changed)]


@dataclass(frozen=True)
class House:
    """A tenant with one of everything, its callers, and the ids that are there."""

    tenant_id: str
    graph: Graph
    admin: httpx.AsyncClient
    ids: dict[str, str]

    async def unchanged(self, before: dict[str, Any]) -> bool:
        return await dump(self.graph, self.tenant_id) == before


@pytest.fixture(scope="module")
async def house(app: Application, graph: Graph) -> AsyncIterator[House]:
    """Shared by all tests here, since none of them changes anything."""
    tenant_id, now = f"test-{new_id()}", datetime.now(UTC)
    await add_tenant(graph, tenant_id, name="Refusals", now=now)
    key = await issue_key(graph, tenant_id, name="test", role=Role.ADMIN, now=now)
    async with a_client(app, key.api_key) as admin:
        yield await furnished(admin, graph, tenant_id)
    await clear(graph, [tenant_id])


async def furnished(admin: httpx.AsyncClient, graph: Graph, tenant_id: str) -> House:
    """One of everything, and what makes each request of CONFLICTS one."""
    ids = await a_full_tenant(admin, graph, tenant_id)
    await admin.post("/api/personas", json={"id": "eve", "name": "Eve"})
    await admin.post("/api/instances", json={"id": "attic", "name": "Attic"})
    lost = {"guid": GUID, "connectedThemes": "boats", "feltAbsence": "They are gone."}
    assert (await admin.post("/api/identities/ada/shapes", json=lost)).status_code == 201
    for conversation in ("tuesday",):
        body = {"id": conversation, "instance_id": "studio", "persona_ids": ["ada"]}
        await admin.post("/api/conversations", json=body)
    more = [{**SAID, "message_id": f"more{n}", "content": f"Thing {n}"} for n in range(1, 5)]
    said = await admin.post("/api/conversations/monday/messages", json={"messages": more})
    assert said.status_code == 201, said.text
    for key in (await admin.get("/api/keys", params={"limit": 500})).json()["items"]:
        if key["name"] != "test" and key["revoked_at"] is None:
            assert (await admin.delete(f"/api/keys/{key['id']}")).status_code == 204
        elif key["name"] == "test":
            ids["last_key_id"] = key["id"]
    async with graph._driver.session() as session:  # the time for an undo by toast is over
        await session.run(
            """MATCH (flag:Flag {tenant_id: $tenant_id})
            SET flag.flagged_at = flag.flagged_at - duration('PT1H')""",
            tenant_id=tenant_id,
        )
    return House(tenant_id, graph, admin, ids)


@pytest.fixture
def writes(app: Application) -> list[Operation]:
    return operations(app.openapi_schema.to_schema())


async def refuse_each(
    house: House,
    writes: list[Operation],
    status: str,
    tries: Callable[[Operation], Awaitable[list[httpx.Response]]],
) -> None:
    """Every route that may answer this status does, and the graph stays as it was."""
    before = await dump(house.graph, house.tenant_id)
    wrong = []
    for operation in writes:
        if status not in operation.statuses:
            continue
        answers = await tries(operation)
        if not await house.unchanged(before):
            wrong.append(f"{operation.id} changed something when it answered {status}")
            before = await dump(house.graph, house.tenant_id)
        given = {answer.status_code for answer in answers}
        if any(code >= 500 for code in given):
            wrong.append(f"{operation.id} answered {sorted(given)}")
        if int(status) not in given and (operation.id, status) not in UNREACHED:
            wrong.append(f"{operation.id} was never refused with {status}, only {sorted(given)}")
    assert wrong == []


def test_every_kind_of_refusal_in_the_document_is_one_that_is_tested(
    writes: list[Operation],
) -> None:
    named = {code for operation in writes for code in operation.statuses if code.startswith("4")}

    assert named <= set(KINDS)
    assert len(writes) > 25


@pytest.mark.spec("SEC-05")
async def test_a_bad_request_changes_nothing(house: House, writes: list[Operation]) -> None:
    async def tries(operation: Operation) -> list[httpx.Response]:
        address = operation.address(house.ids)
        answers = [
            await house.admin.request(
                operation.method, address, headers={"X-Bookmark": "a,b,c"}, json=operation.example
            ),
            await house.admin.request(
                operation.method, address, headers={"X-User-Id": "no id"}, json=operation.example
            ),
        ]
        for body in bad_bodies(operation.example) if operation.example is not None else []:
            answer = await house.admin.request(operation.method, address, content=body)
            assert answer.status_code in (400, 403, 404, 409), (
                operation.id,
                body[:80],
                answer.text,
            )
            answers.append(answer)
        return answers

    await refuse_each(house, writes, "400", tries)


async def test_a_cursor_that_no_listing_gave_is_never_a_500(house: House, app: Application) -> None:
    listings = []
    for path, item in app.openapi_schema.to_schema()["paths"].items():
        named = {parameter["name"] for parameter in item.get("get", {}).get("parameters", [])}
        if "cursor" in named:
            listings.append(path.format(**house.ids))
    assert len(listings) > 12
    assert f"/api/runs/{house.ids['run_id']}/changes" in listings

    for made_up in MADE_UP:
        cursor = cursor_of(made_up)
        answers = [await house.admin.get(path, params={"cursor": cursor}) for path in listings]
        asked = {"query": "Where?", "cursor": cursor}
        answers.append(await house.admin.post("/api/personas/ada/recall", json=asked))
        for answer in answers:
            assert answer.status_code in (200, 400), (answer.request.url, made_up, answer.text)


@pytest.mark.spec("SEC-05")
async def test_a_request_without_a_good_key_changes_nothing(
    house: House, writes: list[Operation], app: Application
) -> None:
    async def tries(operation: Operation) -> list[httpx.Response]:
        answers = []
        for key in (None, "pmt_0123_nobody", "x.y.z", "\x7f"):
            async with a_client(app, key) as stranger:
                address = operation.address(house.ids)
                answers.append(
                    await stranger.request(operation.method, address, json=operation.example)
                )
        assert {answer.status_code for answer in answers} == {401}, operation.id
        return answers

    await refuse_each(house, writes, "401", tries)


@pytest.mark.spec("SEC-05")
async def test_a_request_of_the_wrong_role_changes_nothing(
    house: House, writes: list[Operation], new_caller: NewCaller
) -> None:
    callers = [
        await new_caller(house.tenant_id, Role.ANALYST),
        await new_caller(house.tenant_id, Role.RUNTIME),
        await new_caller(house.tenant_id, Role.USER, "sam"),
    ]

    async def tries(operation: Operation) -> list[httpx.Response]:
        # Of those whose role is enough, the body or the id is refused: nothing here is taken.
        ids = dict.fromkeys(house.ids, ABSENT) if operation.example is None else house.ids
        body = None if operation.example is None else b"{"
        address = operation.address(ids)
        return [await caller.request(operation.method, address, content=body) for caller in callers]

    await refuse_each(house, writes, "403", tries)


@pytest.mark.spec("SEC-05")
async def test_a_request_for_what_is_not_there_changes_nothing(
    house: House, writes: list[Operation]
) -> None:
    async def tries(operation: Operation) -> list[httpx.Response]:
        nowhere = operation.address(dict.fromkeys(house.ids, ABSENT))
        body = with_absent_ids(operation.example)
        bodies = [body] if "{" not in operation.path else [operation.example, body]
        return [await house.admin.request(operation.method, nowhere, json=body) for body in bodies]

    await refuse_each(house, writes, "404", tries)


@pytest.mark.spec("SEC-05")
async def test_a_request_with_ids_in_its_body_that_are_not_there_changes_nothing(
    house: House, writes: list[Operation]
) -> None:
    wrong = []
    for operation in writes:
        body = with_absent_ids(operation.example)
        if body == operation.example:
            continue
        before = await dump(house.graph, house.tenant_id)
        address = operation.address(house.ids)
        answer = await house.admin.request(operation.method, address, json=body)
        if answer.status_code >= 500:
            wrong.append(f"{operation.id} answered {answer.status_code}")
        if answer.status_code >= 400 and not await house.unchanged(before):
            wrong.append(f"{operation.id} changed something and answered {answer.status_code}")
    assert wrong == []


@pytest.mark.spec("SEC-05")
async def test_a_conflict_changes_nothing(house: House, writes: list[Operation]) -> None:
    may_conflict = {operation.id for operation in writes if "409" in operation.statuses}
    assert may_conflict - set(CONFLICTS) == set(), "say in CONFLICTS how these come to a 409"

    async def tries(operation: Operation) -> list[httpx.Response]:
        path, body = CONFLICTS[operation.id]
        ids = house.ids | {name: value.format(**house.ids) for name, value in path.items()}
        return [await house.admin.request(operation.method, operation.address(ids), json=body)]

    await refuse_each(house, writes, "409", tries)


@pytest.mark.spec("SEC-05")
async def test_a_request_that_is_too_large_changes_nothing(
    house: House, writes: list[Operation], settings: Settings
) -> None:
    async def tries(operation: Operation) -> list[httpx.Response]:
        padding = b" " * settings.max_body_bytes
        body = json.dumps(operation.example).encode() + padding
        address = operation.address(house.ids)
        return [await house.admin.request(operation.method, address, content=body)]

    await refuse_each(house, writes, "413", tries)


@pytest.mark.spec("SEC-05")
async def test_a_request_over_the_rate_limit_changes_nothing(
    house: House, writes: list[Operation], settings: Settings
) -> None:
    """By an app that lets a key through once a minute."""
    if not any("429" in operation.statuses for operation in writes):
        pytest.skip("the document names no rate limit")
    roles = [name for name in Settings.model_fields if name.startswith("rate_limit_")]
    limits = {name: 1 for name in roles if Settings.model_fields[name].annotation is int}
    limited = settings.model_copy(update={"rate_limits": "on", **limits})
    app = create_app(limited)
    async with app.lifespan():
        key = house.admin.headers["Authorization"].removeprefix("Bearer ")
        async with a_client(app, key) as client:
            await client.get("/api/personas")

            async def tries(operation: Operation) -> list[httpx.Response]:
                address = operation.address(house.ids)
                return [await client.request(operation.method, address, json=operation.example)]

            await refuse_each(house, writes, "429", tries)
