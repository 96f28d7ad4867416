"""Two tenants, every route: what is another's cannot be told from what never was."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.application import Application
from engine.access.models import Role
from engine.night.nights import run_night
from engine.store.graph import Graph
from tests.api.conftest import NewCaller
from tests.lives import add_shape

SAID = {
    "message_id": "said",
    "persona_id": "ada",
    "role": "user",
    "content": "I moved to Lisbon.",
    "timestamp": "2026-05-02T12:00:00Z",
}

# Everything that takes an id: the path with the other tenant's id in it, and a body that is good.
BODIES: dict[tuple[str, str], Any] = {
    ("PATCH", "/api/personas/{persona_id}"): {"name": "Mine now"},
    ("POST", "/api/personas/{persona_id}/duplicate"): {},
    ("PUT", "/api/instances/{instance_id}/members/{user_id}"): {"role": "admin"},
    ("POST", "/api/keys/{key_id}/rotate"): {},
    ("POST", "/api/conversations/{conversation_id}/messages"): {"messages": [SAID]},
    ("POST", "/api/personas/{persona_id}/candidates"): {"memory_type": "semantic", "text": "Mine."},
    ("PATCH", "/api/candidates/{candidate_id}"): {"text": "Mine."},
    ("POST", "/api/conversations/{conversation_id}/forget-range"): {
        "first_message_id": "said",
        "last_message_id": "said",
    },
    ("POST", "/api/conversations/{conversation_id}/split"): {"first_message_id": "said"},
    ("POST", "/api/messages/{message_id}/undo"): {},
    ("POST", "/api/ranges/{range_id}/undo"): {},
    ("PATCH", "/api/memories/{memory_id}"): {"pinned": True},
    ("POST", "/api/memories/{memory_id}/minimize"): {},
    ("POST", "/api/personas/{persona_id}/memories"): {"memory_type": "semantic", "text": "Mine."},
    ("POST", "/api/personas/{persona_id}/recall"): {"query": "What is theirs?"},
    ("POST", "/api/personas/{persona_id}/context"): {"conversation_id": "other"},
    ("POST", "/api/personas/{persona_id}/hydrate"): {},
    ("POST", "/api/memories/{memory_id}/links"): {"to_id": "other"},
    ("POST", "/api/personas/{persona_id}/coactivate"): {"memory_ids": ["kept"]},
    ("POST", "/api/shapes/{shape_id}/share"): {"persona_id": "ada"},
    ("POST", "/api/personas/{persona_id}/shapes"): {
        "connected_themes": "boats",
        "felt_absence": "They are gone.",
    },
    ("POST", "/api/identities/{identity_id}/shapes"): {
        "connectedThemes": "boats",
        "feltAbsence": "They are gone.",
    },
    ("POST", "/api/memories/{memory_id}/recalls"): {"response": "Mine.", "valence": "Neutral"},
    ("PUT", "/api/personas/{persona_id}/policy"): {"figures": {"decay_days": 1}},
}
THEIRS = (
    "/api/personas/ada",
    "/api/keys",
    "/api/conversations/monday/messages",
    "/api/conversations/monday/checkpoints",
    "/api/personas/ada/candidates",
    "/api/personas/ada/memories",
    "/api/personas/ada/runs",
    "/api/personas/ada/policy",
    "/api/memories/kept/links",
    "/api/memories/kept/recalls",
    "/api/personas/ada/shapes",
)
OPEN = {"/api/health", "/api/ready"}


def routes(app: Application) -> list[tuple[str, str]]:
    return [
        (method.upper(), path)
        for path, item in app.openapi_schema.to_schema()["paths"].items()
        for method in item
        if method in ("get", "post", "put", "patch", "delete")
    ]


async def a_full_tenant(admin: httpx.AsyncClient, graph: Graph, tenant_id: str) -> dict[str, str]:
    """One of everything; what its ids are."""
    key = (await admin.post("/api/keys", json={"name": "k", "role": "admin"})).json()["key"]
    await admin.post("/api/personas", json={"id": "ada", "name": "Ada", "identity": "Secret."})
    await admin.post("/api/instances", json={"id": "studio", "name": "Studio"})
    await admin.put("/api/instances/studio/members/sam", json={})
    await admin.post(
        "/api/conversations",
        json={"id": "monday", "instance_id": "studio", "persona_ids": ["ada"]},
    )
    await admin.post("/api/conversations/monday/messages", json={"messages": [SAID]})
    new_memory = {"memory_type": "semantic", "text": "Sam lives in Lisbon."}
    await admin.post("/api/personas/ada/candidates", json={"candidate_id": "kept", **new_memory})
    night = await run_night(
        graph,
        tenant_id,
        "ada",
        now=datetime.now(UTC) + timedelta(days=3),
        started_by="test",
    )
    proposed = await admin.post(
        "/api/personas/ada/candidates", json={"candidate_id": "fact", **new_memory}
    )
    assert proposed.status_code == 201, proposed.text
    smiled = {"response": "It made me smile.", "valence": "Positive", "recall_id": "smiled"}
    assert (await admin.post("/api/memories/kept/recalls", json=smiled)).status_code == 201
    ends = {"first_message_id": "said", "last_message_id": "said"}
    flagged = await admin.post("/api/conversations/monday/forget-range", json=ends)
    return {
        "message_id": "said",
        "range_id": flagged.json()["range_id"],
        "memory_id": "kept",
        "run_id": night.id,
        "persona_id": "ada",
        "identity_id": "ada",  # the word of the published contract
        "instance_id": "studio",
        "user_id": "sam",
        "key_id": key["id"],
        "conversation_id": "monday",
        "candidate_id": "fact",
        "shape_id": await add_shape(graph, tenant_id, "ada", "gone"),
    }


def without_traces(answer: httpx.Response, ids: dict[str, str]) -> tuple[Any, ...]:
    """The answer, less what names the request itself."""
    text = answer.text
    for name, value in ids.items():
        text = text.replace(value, name)
    text = re.sub(r'"request_?[iI]d":"\w+"', "", text)
    headers = {
        k: v for k, v in answer.headers.items() if k not in ("x-request-id", "content-length")
    }
    return answer.status_code, text, headers


@pytest.mark.spec("SEC-01")
async def test_nothing_of_another_tenant_can_be_reached_or_told_apart(
    app: Application, graph: Graph, new_tenant: Callable[[], Awaitable[str]], new_caller: NewCaller
) -> None:
    victim = await new_caller(theirs_id := await new_tenant())
    theirs = await a_full_tenant(victim, graph, theirs_id)
    absent = {name: f"absent-{name.replace('_', '-')}" for name in theirs}
    absent["identity_id"] = absent["persona_id"]
    before = [(await victim.get(path)).text for path in THEIRS]
    tried = 0
    other_tenant = await new_tenant()

    for role in Role:
        attacker = await new_caller(other_tenant, role, "sam")
        for method, path in routes(app):
            if "{" not in path:
                continue
            body = BODIES.get((method, path))
            there, nowhere = [
                without_traces(await attacker.request(method, path.format(**ids), json=body), ids)
                for ids in (theirs, absent)
            ]
            assert there == nowhere, (role, method, path)
            assert there[0] in (403, 404), (role, method, path)
            tried += 1

    assert tried >= 4 * 15
    assert [(await victim.get(path)).text for path in THEIRS] == before


@pytest.mark.spec("SEC-01")
async def test_listings_hold_only_what_is_ones_own(
    app: Application, graph: Graph, new_tenant: Callable[[], Awaitable[str]], new_caller: NewCaller
) -> None:
    theirs_id = await new_tenant()
    victim, other = await new_caller(theirs_id), await new_caller(await new_tenant())
    theirs = await a_full_tenant(victim, graph, theirs_id)

    for method, path in routes(app):
        if method != "GET" or "{" in path or path in OPEN:
            continue
        answer = await other.get(path)
        # A tenant that trusts no provider says so; every other listing is there.
        assert answer.status_code == (404 if path == "/api/identity-provider" else 200), path
        text = re.sub(r'"request_?[iI]d":"[\w.-]+"', "", answer.text)  # has letters by chance
        assert not any(value in text for value in theirs.values()), path


@pytest.mark.spec("SEC-01")
async def test_the_same_ids_live_side_by_side_in_two_tenants(
    new_tenant: Callable[[], Awaitable[str]], new_caller: NewCaller
) -> None:
    one, two = await new_caller(await new_tenant()), await new_caller(await new_tenant())
    for admin, name in ((one, "First"), (two, "Second")):
        made = await admin.post("/api/personas", json={"id": "ada", "name": name})
        assert made.status_code == 201
        await admin.post("/api/instances", json={"id": "studio", "name": name})
        await admin.put("/api/instances/studio/members/sam", json={})

    await two.delete("/api/instances/studio/members/sam")
    await two.patch("/api/personas/ada", json={"tone": "playful"})

    assert (await one.get("/api/personas/ada")).json()["name"] == "First"
    assert (await one.get("/api/personas/ada")).json()["tone"] == "plain"
    assert len((await one.get("/api/instances/studio/members")).json()["items"]) == 1


async def test_every_route_but_the_open_ones_wants_a_key(
    app: Application, stranger: httpx.AsyncClient
) -> None:
    for method, path in routes(app):
        answer = await stranger.request(method, re.sub(r"\{\w+\}", "x", path), json={})
        assert (answer.status_code != 401) == (path in OPEN), path
