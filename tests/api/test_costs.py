"""What each statement reads when a persona has many memories: held against docs/costs.md.

Every route is called and every job run while Neo4j profiles the statements. The table says, for
each statement, how many database hits one call of it may take and how many rows its widest operator
may have. A statement that is not in the table fails the test, and so does one that takes more. The
table is for 100,000 memories, which `make costs` loads; here it is a tenth of them.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.application import Application
from engine.access.models import Caller, Role
from engine.embedding import MemoryVectors, normalized, search_scope
from engine.extraction.port import RuleExtractor
from engine.ids import new_id
from engine.memory.drawing import draw_candidates, list_overdue_conversations
from engine.memory.memories import archive_memory, unarchive_memory
from engine.night.nights import claim_due_nights, list_due_to_fade, run_hour, run_night
from engine.recall.recall import Recall
from engine.store.graph import Graph
from engine.talk.checkpoints import list_overdue_checkpoints, make_checkpoints
from tests.api.access.test_access import (
    ALLOWED,
    STREAM,
    World,
    a_world,
    ask,
    before,
    operations,
    patiently,
    with_callers,
)
from tests.conftest import clear
from tests.lives import DIMENSIONS, word_embedder
from tests.plans import Cost, Costs, profiling

pytestmark = pytest.mark.timeout(900)

DOCUMENT = Path(__file__).parents[2] / "docs" / "costs.md"
MEMORIES = int(os.environ.get("COST_MEMORIES", "10000"))  # `make costs` loads them all
WITH_VECTORS = 1_000  # a vector index reads no rows: more of them would only take time to load
MESSAGES = MEMORIES // 5
CANDIDATES = 500
CONVERSATIONS = 2_000
RUNS, STEPS = 100, 20
SHAPES = 300  # each with ten sources
NOW = datetime.now(UTC)
SHAPE_CONTENT = (
    '{"kind": "shape", "themes": ["garden"], "memories": 10, "depth": 1, '
    '"first": "2026-05-01T12:00:00+00:00", "last": "2026-05-02T12:00:00+00:00"}'
)
# A stream has no end; the clock is the whole database's; a copy is made in batches, by a job.
LEFT_OUT = {STREAM, "move_clock", "duplicate_persona"}

LOAD = {
    "messages": """
        MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
        UNWIND range(0, $count - 1) AS place
        CALL (conversation, place) {
          CREATE
            (conversation)-[:CONTAINS]->
            (:Message {
              tenant_id: $tenant_id,
              id: 'bulk-' + place,
              conversation_id: $conversation_id,
              persona_id: $persona_id,
              role: 'user',
              content: 'story' + place + ' of the harbour',
              said_at: $now - duration({minutes: $count - place}),
              arrival: place + 10,
              speaker: 'Sam',
              user_id: 'sam',
              fingerprint: 'bulk-' + place
            })
        } IN TRANSACTIONS OF 5000 ROWS""",
    "memories": """
        MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
        UNWIND range(0, $count - 1) AS place
        CALL (persona, place) {
          CREATE (persona)-[:REMEMBERS]->(memory:Memory:Semantic)
          SET
            memory += $alike,
            memory.id = 'kept-' + place,
            memory.text = 'story' + place % 5000 + ' of the harbour number' + place,
            memory.fact = 'sam|thing' + place % 20000,
            memory.category = 'kind' + place % 50,
            memory.project = CASE place % 100 WHEN 0 THEN 'boat' END,
            memory.tags = CASE place % 100 WHEN 1 THEN ['blue'] END,
            memory.tagged = CASE place % 100 WHEN 1 THEN true END,
            memory.pinned = place % 5000 = 2,
            memory.importance = 1 + place % 10,
            memory.idle_importance = 1 + place % 10,
            memory.salience = toFloat(place) / $count,
            memory.said_at = $now - duration({minutes: $count - place}),
            memory.formed_at = $now - duration({minutes: $count - place}),
            memory.idle_since = $now,
            memory.salience_at = $now,
            memory.valid_from = $now - duration({minutes: $count - place}),
            memory.fades_at = $now + duration({days: 30 + place % 100})
          WITH memory, place
          MATCH (message:Message {tenant_id: $tenant_id, id: 'bulk-' + place % $messages})
          CREATE (memory)-[:DRAWN_FROM]->(message)
        } IN TRANSACTIONS OF 5000 ROWS""",
    "links": """
        UNWIND range(1, $count - 1) AS place
        CALL (place) {
          MATCH (one:Memory {tenant_id: $tenant_id, id: 'kept-' + (place - 1)})
          MATCH (next:Memory {tenant_id: $tenant_id, id: 'kept-' + place})
          CREATE
            (one)-[:PRECEDES {strength: 0.5, weight_modifier: 1.0, coactivations: 0}]->
            (next)
        } IN TRANSACTIONS OF 5000 ROWS""",
    "candidates": """
        MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
        UNWIND range(0, $count - 1) AS place
        CALL (persona, place) {
          MATCH (message:Message {tenant_id: $tenant_id, id: 'bulk-' + ($messages - 1 - place)})
          CREATE (persona)-[:CONSIDERS]->(candidate:Candidate)-[:DRAWN_FROM]->(message)
          SET
            candidate += $alike,
            candidate.state = 'pending',
            candidate.id = 'waits-' + place,
            candidate.text = 'tale' + place + ' of the quay',
            candidate.said_at = message.said_at,
            candidate.extracted_at = $now - duration({hours: 1})
        } IN TRANSACTIONS OF 5000 ROWS""",
    "shapes": """
        MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
        UNWIND range(0, $count - 1) AS place
        CREATE (persona)-[:REMEMBERS]->(shape:Memory:ForgottenShape)
        SET
          shape += $alike,
          shape.id = 'shape-' + place,
          shape.memory_type = 'forgotten_shape',
          shape.title = 'Forgotten Shape -- 2026-05-01',
          shape.text = 'You once knew something about the harbour.',
          shape.content = $content,
          shape.shape_depth = 1,
          shape.shape_memories = 10,
          shape.drawn_by = 'night',
          shape.importance = 3,
          shape.pinned = false,
          shape.salience = 0.5,
          shape.said_at = $now - duration({days: place}),
          shape.formed_at = $now - duration({days: place})
        CREATE
          (shape)-[:FELT_AS]->
          (:ShapeExperience {
            tenant_id: $tenant_id,
            id: shape.id,
            persona_id: $persona_id,
            connected_themes: 'garden, theme' + place % 50,
            felt_absence: 'It is gone.',
            emotional_residue: 0.3,
            temporal_marker: 'in May 2026',
            sense_of_loss: 'it mattered',
            decayed_at: $now
          })
        WITH persona, shape, place
        UNWIND range(0, 9) AS number
        CREATE (persona)-[:REMEMBERS]->(memory:Memory:Semantic)-[:SHAPED_INTO]->(shape)
        SET
          memory += $alike,
          memory.id = 'lost-' + place + '-' + number,
          memory.state = 'archived',
          memory.text = 'tale' + number + ' of the quay',
          memory.fact = 'sam|thing' + (place * 10 + number),
          memory.category = 'kind' + number,
          memory.embedding = $vector,
          memory.pinned = false,
          memory.importance = 1,
          memory.salience = 0.2,
          memory.salience_at = $now,
          memory.said_at = $now - duration({days: 40 + place}),
          memory.formed_at = $now - duration({days: 40 + place}),
          memory.valid_from = $now - duration({days: 40 + place})""",
    "conversations": """
        MATCH (instance:Instance {tenant_id: $tenant_id, id: $instance_id})
        MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
        UNWIND range(0, $count - 1) AS place
        CREATE
          (instance)-[:HOLDS]->
          (conversation:Conversation {
            tenant_id: $tenant_id,
            id: 'talk-' + place,
            created_at: $now - duration({minutes: place})
          })
        CREATE (persona)-[:SPEAKS_IN]->(conversation)""",
    "events": """
        UNWIND range(0, $count - 1) AS place
        CALL (place) {
          MATCH (memory:Memory {tenant_id: $tenant_id, id: 'kept-' + place})
          CREATE
            (:Event {
              tenant_id: $tenant_id,
              id: 'event-' + place,
              action: 'changed',
              by: 'admin',
              at: $now - duration({minutes: place}),
              written_at: $now - duration({minutes: place})
            })-[:ABOUT]->(memory)
        } IN TRANSACTIONS OF 5000 ROWS""",
    "runs": """
        MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
        UNWIND range(1, $count) AS night
        CREATE
          (persona)-[:SLEPT]->
          (run:Run {
            tenant_id: $tenant_id,
            persona_id: $persona_id,
            id: 'run-' + night,
            kind: 'night',
            period: 'bulk-' + night,
            holds: 'bulk-' + night,
            state: 'done',
            started_by: 'test',
            as_of: $now - duration({days: night}),
            began_at: $now - duration({days: night}),
            finished_at: $now - duration({days: night}),
            steps: $steps,
            stages: []
          })
        WITH run
        UNWIND range(1, $steps) AS place
        CREATE
          (run)-[:DID]->
          (:Step {
            tenant_id: $tenant_id,
            run_id: run.id,
            place: place,
            stage: 'integrate',
            did: '{"formed": 1}',
            changes: '{"formed": [{"id": "kept-' + place + '"}]}'
          })""",
}
VECTORS = """
    UNWIND $rows AS row
    MATCH (item:Memory|Candidate {tenant_id: $tenant_id, id: row.id})
    SET item.embedding = toFloatList(row.embedding)"""
CLEAR = """
    MATCH (node:$($label) {tenant_id: $tenant_id})
    CALL (node) { DETACH DELETE node } IN TRANSACTIONS OF 2000 ROWS"""


def table(costs: Costs) -> str:
    """What was measured, as rows of the document."""
    return "\n".join(
        f"| {name} | {cost.hits} | {cost.rows} |" for name, cost in sorted(costs.items())
    )


def allowed() -> dict[str, Cost]:
    """The table: hits and rows that a call of each statement may take."""
    lines = DOCUMENT.read_text().splitlines()
    header = next(line for line in lines if line.startswith("| statement |"))
    rows = {}
    for line in lines[lines.index(header) + 2 :]:
        if not line.startswith("|"):
            break
        name, hits, most = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
        assert name not in rows, f"{name} stands twice in {DOCUMENT.name}"
        rows[name] = Cost(int(hits), int(most))
    return rows


async def bare(graph: Graph, statement: str, **parameters: Any) -> None:
    async with graph._driver.session(database=graph._database) as session:
        await (await session.run(f"CYPHER 25 {statement}", parameters)).consume()


async def furnish(graph: Graph, world: World) -> None:
    """A persona that has lived long: in bulk, as the engine's own statements would leave it."""
    ids = world.ids
    which: dict[str, Any] = {
        name: ids[name] for name in ("persona_id", "conversation_id", "instance_id")
    }
    which |= {"tenant_id": world.tenant_id, "now": NOW, "messages": MESSAGES, "steps": STEPS}
    which |= {"content": SHAPE_CONTENT}
    chance = np.random.default_rng(5)
    vectors = [normalized(row) for row in chance.normal(size=(WITH_VECTORS, DIMENSIONS))]
    which |= {"vector": vectors[0].tolist()}
    alike = {
        "tenant_id": world.tenant_id,
        "persona_id": ids["persona_id"],
        "conversation_id": ids["conversation_id"],
        "memory_type": "semantic",
        "state": "active",
        "flagged": False,
        "minimized": False,
        "content": "{}",
        "about": "Sam",
        "search_scope": search_scope(world.tenant_id, ids["persona_id"]),
        "packed_vectors": MemoryVectors(vectors[0]).pack(),
        "token_estimate": 14,
        "access_count": 0,
        "uses_today": 0,
        "reinforcements": 0,
        "weight_modifier": 1.0,
    }
    sizes = {
        "messages": MESSAGES,
        "memories": MEMORIES,
        "links": MEMORIES // 5,
        "candidates": CANDIDATES,
        "shapes": SHAPES,
        "conversations": CONVERSATIONS,
        "events": MEMORIES // 10,
        "runs": RUNS,
    }
    for name, count in sizes.items():
        await bare(graph, LOAD[name], count=count, alike=alike, **which)
    rows = [
        {"id": f"{name}-{it}", "embedding": row.tolist()}
        for name, count in (("kept", WITH_VECTORS), ("waits", CANDIDATES))
        for it, row in enumerate(vectors[:count])
    ]
    await bare(graph, VECTORS, rows=rows, tenant_id=world.tenant_id)
    await bare(graph, "CALL db.awaitIndexes(300)")


@pytest.fixture(scope="module")
async def grown(app: Application, graph: Graph) -> AsyncIterator[World]:
    tenant_id = f"test-{new_id()}"
    world = await with_callers(app, graph, await a_world(app, graph, tenant_id, "grown"))
    where = f"/api/instances/{world.ids['instance_id']}/members/lee"
    (await world.admin.put(where, json={"role": "admin"})).raise_for_status()
    await furnish(graph, world)
    await bare(graph, "CALL db.clearQueryCaches()")  # planned for what is there now
    yield world
    for client in world.callers.values():
        await client.aclose()
    for label in ("Event", "Memory", "Candidate", "Message", "Conversation", "Step"):
        await bare(graph, CLEAR, tenant_id=tenant_id, label=label)
    await clear(graph, [tenant_id])
    await bare(graph, "CALL db.clearQueryCaches()")


def more_calls(world: World) -> list[tuple[str, str, Any]]:
    """What one call of a route does not show: other orders, filters, words, a longer stretch."""
    ada, monday = world.ids["persona_id"], world.ids["conversation_id"]
    ends = {"first_message_id": "bulk-100", "last_message_id": "bulk-149", "confirmed": True}
    which = f"persona_id={ada}"
    items = [
        f"/api/items?{which}&sort={sort}{more}"
        for sort in ("newest", "oldest", "importance", "salience")
        for more in ("", "&state=active")
    ]
    words = ["/api/items?q=harbour", f"/api/items?{which}&q=harbour+number77", "/api/items"]
    asked = {"query": "the story of the harbour"}
    recalls = [
        asked,
        {**asked, "tags": ["blue"]},
        {**asked, "project": "boat"},
        {**asked, "categories": ["kind7"]},
        {**asked, "include_archived": True, "limit": 50},
        {**asked, "as_of": (NOW - timedelta(days=3)).isoformat()},
    ]
    return [
        *(("GET", path, None) for path in [*items, *words]),
        ("GET", f"/api/items/counts?{which}", None),
        ("GET", f"/api/personas/{ada}/memories?limit=200", None),
        ("GET", f"/api/personas/{ada}/candidates?limit=200", None),
        ("GET", f"/api/conversations/{monday}/messages?limit=200", None),
        ("GET", "/api/messages/bulk-7/history", None),
        ("GET", "/api/memories/kept-7/history", None),
        ("POST", f"/api/conversations/{monday}/forget-range?preview=true", ends),
        ("POST", f"/api/conversations/{monday}/forget-range", ends),
        ("POST", "/api/messages/bulk-7/forget?preview=true", {}),
        ("POST", "/api/messages/bulk-7/forget", {}),
        ("POST", "/api/messages/bulk-7/undo", {"source": "memory_manager"}),
        *(("POST", f"/api/personas/{ada}/recall", body) for body in recalls),
        ("PUT", f"/api/personas/{ada}/policy", {"figures": {"involuntary_recall_rate": 1}}),
        ("POST", f"/api/personas/{ada}/hydrate", {"project": "boat"}),
        ("POST", f"/api/personas/{ada}/coactivate", {"memory_ids": ["kept-5", "kept-6"]}),
        ("POST", "/api/personas", {"id": "listener", "name": "Eve"}),
        ("POST", "/api/shapes/shape-7/share", {"persona_id": "listener"}),
        ("POST", "/api/shapes/shape-7/relearn?preview=true", None),
        ("POST", "/api/shapes/shape-7/relearn", None),
        ("GET", f"/api/personas/{ada}/shadow?limit=200", None),
    ]


async def call_everything(app: Application, world: World) -> None:
    """As the tenant's own system, as a member, and as an admin of the instance."""
    callers = [world.callers[name] for name in ("admin", "author", "member")]
    for (method, path), operation in operations(app).items():
        if operation in LEFT_OUT or ALLOWED[method, path]["admin"] == "open":
            continue
        for caller in callers:
            await before(operation, world)
            answer = await ask(caller, method, path, operation, world.ids)
            assert answer.status_code < 500, (method, path, answer.text)
    for method, path, body in more_calls(world):
        for caller in callers:
            answer = await patiently(caller, method, path, json=body)
            assert answer.status_code in (200, 201, 403, 404, 409), (method, path, answer.text)
            if caller is world.admin:
                assert answer.status_code in (200, 201), (method, path, answer.text)


async def run_every_job(graph: Graph, world: World) -> None:
    tenant_id, ada = world.tenant_id, world.ids["persona_id"]
    monday = world.ids["conversation_id"]
    embedder, later = word_embedder(), NOW + timedelta(days=2)
    patient = graph.with_limit(120)
    await list_overdue_conversations(patient, now=later, limit=100)
    await draw_candidates(patient, embedder, RuleExtractor(), tenant_id, monday, now=NOW)
    await list_overdue_checkpoints(patient, now=later, limit=100)
    await make_checkpoints(patient, tenant_id, monday, now=NOW)
    await claim_due_nights(patient, now=NOW, limit=100)
    await list_due_to_fade(patient, now=NOW, limit=100)
    await run_hour(patient, tenant_id, ada, now=NOW + timedelta(hours=1), started_by="test")
    run = await run_night(patient, tenant_id, ada, now=later, started_by="test")
    assert run.state == "done"
    await asyncio.to_thread(embedder.close)


async def recall_from_memory(graph: Graph, world: World) -> None:
    """Load the persona, let a memory leave and come back, and recall after each."""
    caller, ada = Caller(world.tenant_id, "test", Role.ADMIN), world.ids["persona_id"]
    embedder, patient = word_embedder(), graph.with_limit(120)
    recall = Recall(patient, embedder, seconds=60, hot_bytes=2**30)
    await archive_memory(patient, caller, "kept-9", now=NOW)
    for change in (None, unarchive_memory, archive_memory, unarchive_memory):
        if change:
            await change(patient, caller, "kept-9", now=NOW)
        await recall.recall(world.tenant_id, ada, "the story of the harbour", now=NOW)
        await recall.loaded()
    await recall.close()
    await asyncio.to_thread(embedder.close)


@pytest.mark.spec("CONS-12")
async def test_no_statement_reads_more_than_the_table_says(
    app: Application, graph: Graph, grown: World
) -> None:
    with profiling() as costs:
        await call_everything(app, grown)
        await run_every_job(graph, grown)
        await recall_from_memory(graph, grown)

    most = allowed()
    over = {
        name: f"{cost} of {most.get(name)}"
        for name, cost in costs.items()
        if name not in most or cost.hits > most[name].hits or cost.rows > most[name].rows
    }
    assert not over, f"{over}\n{table(costs)}"
    assert set(most) <= set(costs), "these are in the table, and nothing calls them"
