"""Every change of state has a record: who, when, what. Asked of every route that writes."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.application import Application
from engine.access.models import Caller, Role
from engine.embedding.embedder import open_embedder
from engine.memory.shapes import list_shapes
from engine.night.nights import run_night
from engine.night.steps import NightTools
from engine.night.undo import undo_run
from engine.settings import Settings
from engine.store.graph import Graph
from tests.api.access.test_access import body_of, operations
from tests.api.conftest import NewCaller

# Routes with a method that writes, and why they leave no event.
WITHOUT_EVENT = {
    "recall": "asks",
    "assemble_context": "asks",
    "hydrate": "asks",
    "coactivate": "counts a use, which its memories and links keep",
    "record_messages": "what was said is its own record, and never changes",
    "move_clock": "exists only where time is simulated",
}
# In this order each of them changes something.
CALLS: tuple[tuple[str, str, str, Any], ...] = (
    ("POST", "/personas", "add_persona", {"id": "ada", "name": "Ada"}),
    ("PATCH", "/personas/ada", "change_persona", {"tone": "playful"}),
    ("POST", "/instances", "add_instance", {"id": "studio", "name": "Studio"}),
    ("PUT", "/instances/studio/members/sam", "put_member", {}),
    ("PUT", "/instances/studio/members/kim", "put_member", {}),
    ("DELETE", "/instances/studio/members/kim", "remove_member", None),
    ("POST", "/keys", "issue_key", {"name": "k", "role": "analyst"}),
    ("POST", "/keys/{key_id}/rotate", "rotate_key", {}),
    ("DELETE", "/keys/{key_id}", "revoke_key", None),
    ("POST", "/tokens", "issue_token", {"user_id": "sam"}),
    ("PUT", "/identity-provider", "set_identity_provider", "good"),
    ("DELETE", "/identity-provider", "remove_identity_provider", None),
    ("PUT", "/policy", "set_tenant_policy", {"figures": {"decay_days": 60}}),
    ("PUT", "/personas/ada/policy", "set_policy", {"figures": {"decay_days": 50}}),
    (
        "POST",
        "/conversations",
        "add_conversation",
        {"id": "monday", "instance_id": "studio", "persona_ids": ["ada"]},
    ),
    ("POST", "/conversations/monday/messages", "record_messages", "said"),
    ("POST", "/personas/ada/memories", "remember", "kept"),
    ("POST", "/personas/ada/memories", "remember", "other"),
    ("PATCH", "/memories/kept", "change_memory", {"pinned": True, "tags": ["home"]}),
    ("POST", "/memories/kept/links", "add_link", {"to_id": "other"}),
    ("POST", "/memories/kept/minimize", "minimize_memory", {}),
    ("POST", "/memories/kept/restore", "restore_memory", None),
    ("POST", "/memories/kept/archive", "archive_memory", None),
    ("POST", "/memories/kept/unarchive", "unarchive_memory", None),
    ("POST", "/personas/ada/candidates", "propose_candidate", "candidate"),
    ("PATCH", "/candidates/fact", "edit_candidate", {"text": "Sam likes trams a lot."}),
    ("POST", "/messages/m1/forget", "forget_message", None),
    ("POST", "/messages/m1/undo", "undo_message", {}),
    ("POST", "/conversations/monday/forget-range", "forget_range", "range"),
    ("POST", "/ranges/{range_id}/undo", "undo_range", {}),
    ("POST", "/conversations/monday/split", "split_conversation", {"first_message_id": "m1"}),
    ("POST", "/candidates/fact/restore", "restore_candidate", "passed over"),
    ("DELETE", "/candidates/second", "remove_candidate", "second"),
    ("POST", "/personas/ada/duplicate", "duplicate_persona", {"id": "ada-2"}),
    ("POST", "/personas", "add_persona", {"id": "eve", "name": "Eve"}),
    ("POST", "/memories/other/archive", "archive_memory", None),
    ("POST", "/personas/ada/shapes", "add_shape", "shape"),
    ("POST", "/identities/ada/shapes", "add_contract_shape", "contract shape"),
    ("POST", "/memories/{shape_id}/recalls", "record_recall", "drawn"),
    ("POST", "/shapes/{shape_id}/share", "share_shape", {"persona_id": "eve"}),
    ("POST", "/shapes/{shape_id}/relearn", "relearn_shape", None),
)
# One for what was told of, and one for what was heard.
TWO_EVENTS = {"share_shape"}


async def events(admin: httpx.AsyncClient) -> list[dict[str, Any]]:
    """The whole audit, in the order in which things took effect."""
    lines = await admin.get("/api/audit", params={"format": "jsonl"})
    return [json.loads(line) for line in lines.text.splitlines()]


def body_for(given: Any, operation: str) -> Any:
    item = {"memory_type": "semantic", "text": "Sam likes trams.", "source_message_ids": ["m1"]}
    said = {"persona_id": "ada", "role": "user", "user_id": "sam", "content": "I like trams."}
    bodies: dict[str, Callable[[], Any]] = {
        "good": lambda: body_of(operation, IDS),
        "said": lambda: {
            "messages": [{**said, "message_id": "m1", "timestamp": "2026-05-02T12:00:00Z"}]
        },
        "kept": lambda: {**item, "memory_id": "kept"},
        "other": lambda: {**item, "memory_id": "other", "text": "Sam lives in Porto."},
        "candidate": lambda: {**item, "candidate_id": "fact", "text": "Sam rides the tram."},
        "shape": lambda: {"connected_themes": "boats", "felt_absence": "They are gone."},
        "contract shape": lambda: {"connectedThemes": "boats", "feltAbsence": "They are gone."},
        "drawn": lambda: {"response": "It made me smile.", "valence": "Positive"},
        "range": lambda: {"first_message_id": "m1", "last_message_id": "m1"},
    }
    if not isinstance(given, str):
        return given
    return bodies[given]() if given in bodies else None


IDS = dict.fromkeys(
    ("persona_id", "instance_id", "message_id", "memory_id", "other_memory_id", "conversation_id"),
    "x",
)


def test_every_route_that_writes_is_asked(app: Application) -> None:
    writing = {name for (method, _), name in operations(app).items() if method != "GET"}

    assert writing == {name for _, _, name, _ in CALLS} | set(WITHOUT_EVENT)


@pytest.mark.spec("SEC-04")
async def test_every_change_of_state_is_written_down_once(
    settings: Settings, graph: Graph, tenant_id: str, new_caller: NewCaller
) -> None:
    admin = await new_caller(tenant_id)
    ids: dict[str, str] = {}
    missing = []

    for method, path, operation, given in CALLS:
        if given == "passed over":
            await pass_over(graph, admin, tenant_id)
        if given == "second":
            second = {"memory_type": "semantic", "text": "Sam has a cat.", "candidate_id": given}
            await admin.post("/api/personas/ada/candidates", json=second)
        if given == "drawn":
            ids["shape_id"] = await drawn_shape(graph, settings, tenant_id)
        before = await events(admin)
        answer = await admin.request(
            method, f"/api{path.format(**ids)}", json=body_for(given, operation)
        )
        assert answer.status_code < 300, (operation, answer.text)
        if operation == "issue_key":
            ids["key_id"] = answer.json()["key"]["id"]
        if operation == "forget_range":
            ids["range_id"] = answer.json()["range_id"]
        written = (await events(admin))[len(before) :]
        if operation in WITHOUT_EVENT:
            assert not written, operation
        elif len(written) != (2 if operation in TWO_EVENTS else 1):
            missing.append((operation, written))
        for event in written:
            assert event["by"].startswith("key:"), operation
            assert datetime.fromisoformat(event["at"]).tzinfo, operation
            assert "tram" not in str(event), operation

    assert not missing


async def pass_over(graph: Graph, admin: httpx.AsyncClient, tenant_id: str) -> None:
    """Let a night pass over the candidate `fact` while its message is flagged."""
    await admin.post("/api/messages/m1/forget")
    later = datetime.now(UTC) + timedelta(days=2)
    await run_night(graph, tenant_id, "ada", now=later, started_by="test")
    await admin.post("/api/messages/m1/undo", json={})


async def drawn_shape(graph: Graph, settings: Settings, tenant_id: str) -> str:
    """The id of the shape that a night draws of what was archived."""
    next_night = datetime.now(UTC) + timedelta(days=3)
    embedder = open_embedder(settings)
    tools = NightTools(embedder)
    await run_night(graph, tenant_id, "ada", now=next_night, started_by="test", tools=tools)
    embedder.close()
    caller = Caller(tenant_id, "test", Role.ADMIN)
    page = await list_shapes(graph, caller, "ada", limit=10)
    (shape_id,) = (shape.shape_id for shape in page.items if shape.drawn_by == "night")
    return shape_id


@pytest.mark.spec("SEC-04")
async def test_nights_and_nights_taken_back_are_written_down(
    graph: Graph, tenant_id: str, new_caller: NewCaller
) -> None:
    admin = await new_caller(tenant_id)
    await admin.post("/api/personas", json={"id": "ada", "name": "Ada"})
    now = datetime.now(UTC)

    night = await run_night(graph, tenant_id, "ada", now=now, started_by="ops")
    await undo_run(graph, tenant_id, night.id, now=now, undone_by="ops")

    run, undone = (await events(admin))[-2:]
    assert (run["action"], run["by"], run["about"]) == ("night_run", "ops", [night.id])
    assert (undone["action"], undone["by"], undone["about"]) == ("night_undone", "ops", [night.id])
