"""A persona with a conversation, memories and nights, and calls that move its life on."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from engine.access.instances import add_instance
from engine.access.models import Caller, Instance, Persona, Role, Tone
from engine.access.personas import add_persona
from engine.embedding import Embedder, Encoder, Vector, normalized
from engine.extraction.port import RuleExtractor
from engine.forgetting.flags import FlagRules
from engine.memory.candidates import list_candidates, propose_candidate
from engine.memory.changes import Change
from engine.memory.drawing import draw_candidates
from engine.memory.links import list_links
from engine.memory.memories import list_memories
from engine.memory.models import Candidate, CandidateState, Link, Memory, MemoryState
from engine.memory.shapes import NewShape, create_shape
from engine.memory.uses import coactivate
from engine.models import MemoryType
from engine.night.ledger import Run
from engine.night.nights import preview_night, run_hour, run_night
from engine.night.steps import NightTools
from engine.store.graph import Graph
from engine.talk.conversations import add_conversation, record_messages
from engine.talk.models import Conversation, Message, Speaker

NOT_OF_MEMORY = ("next_night_at", "night_sent_at", "uncovered_since", "events", "folded_until")
DIMENSIONS = 384  # of the vector index of the graph under test
WINDOW = timedelta(hours=24)
BORN = datetime(2026, 5, 1, 12, tzinfo=UTC)
FIRST_NIGHT = datetime(2026, 5, 3, 3, tzinfo=UTC)  # of what was said in the first hours
RULES = FlagRules(confirm_from=3, undo_window=timedelta(seconds=7), debounce=timedelta(seconds=30))


class WordEncoder(Encoder):
    """Counts words: texts that share words are near each other, and the same words are the same."""

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        return [normalized(self.counted(text)) for text in texts]

    def counted(self, text: str) -> Vector:
        counts = np.zeros(DIMENSIONS, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            counts[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSIONS] += 1
        counts[0] += 0.001  # a text without words is a text too
        return counts


def word_embedder() -> Embedder:
    return Embedder(WordEncoder, model="words", dimensions=DIMENSIONS, cache=10)


async def add_shape(graph: Graph, tenant_id: str, persona_id: str, shape_id: str) -> str:
    """Add a shape by hand, of a tenant that need not have a life. Returns its id."""
    embedder, caller = word_embedder(), Caller(tenant_id, "test", Role.ADMIN)
    new = NewShape("the garden", "Something about the garden is gone.", chosen_id=shape_id)
    await create_shape(graph, embedder, caller, persona_id, new, now=BORN)
    embedder.close()
    return shape_id


@dataclass
class Life:
    """Ada, in a conversation with Sam called Monday."""

    graph: Graph
    tenant_id: str
    embedder: Embedder
    said: int = 0

    @property
    def caller(self) -> Caller:
        return Caller(self.tenant_id, "test", Role.ADMIN)

    @property
    def tools(self) -> NightTools:
        return NightTools(self.embedder)

    async def begin(self) -> "Life":
        ada = Persona("ada", "Ada", Tone.WARM, "UTC", BORN, BORN)
        await add_persona(self.graph, self.tenant_id, ada)
        await add_instance(self.graph, self.tenant_id, Instance("studio", "Studio", BORN))
        monday = Conversation("monday", "studio", ["ada"], BORN, "Monday")
        await add_conversation(self.graph, self.caller, monday)
        return self

    async def say(
        self,
        *contents: str,
        at: datetime = BORN,
        speaker: str = "Sam",
        to: str = "ada",
        where: str = "monday",
    ) -> list[str]:
        """Record messages a minute apart and draw candidates. Returns the ids of the messages."""
        messages = []
        for place, content in enumerate(contents):
            messages.append(
                Message(
                    message_id=f"m{self.said:04}",
                    conversation_id=where,
                    persona_id=to,
                    role=Speaker.USER,
                    content=content,
                    timestamp=at + timedelta(minutes=place),
                    user_id=speaker.lower(),
                    speaker=speaker,
                )
            )
            self.said += 1
        await record_messages(self.graph, self.caller, where, messages, now=at)
        await draw_candidates(
            self.graph, self.embedder, RuleExtractor(), self.tenant_id, where, now=at
        )
        return [message.message_id for message in messages]

    async def propose(
        self,
        text: str,
        *,
        at: datetime = BORN,
        memory_type: MemoryType = MemoryType.EPISODIC,
        sources: Sequence[str] = (),
        chosen_id: str | None = None,
        persona_id: str = "ada",
        **content: Any,
    ) -> str:
        """Add exactly one candidate. Returns its id, which its memory will have too."""
        candidate = await propose_candidate(
            self.graph,
            self.embedder,
            self.caller,
            persona_id,
            memory_type=memory_type,
            text=text,
            content=content or {"who": "Sam", "said": text},
            source_message_ids=sources,
            chosen_id=chosen_id,
            now=at,
        )
        return candidate.candidate_id

    async def remember(self, *texts: str, at: datetime = BORN) -> list[str]:
        """Add candidates of these texts and run a night that makes memories of them."""
        ids = [await self.propose(text, at=at, chosen_id=text.replace(" ", "-")) for text in texts]
        await self.night(at + timedelta(hours=39))  # from noon to three in the second night
        return ids

    async def night(
        self, now: datetime = FIRST_NIGHT, *, persona_id: str = "ada", **options: Any
    ) -> Run:
        return await run_night(
            self.graph,
            self.tenant_id,
            persona_id,
            now=now,
            started_by="test",
            **{"tools": self.tools} | options,
        )

    async def hour(self, now: datetime) -> Run:
        return await run_hour(
            self.graph, self.tenant_id, "ada", now=now, started_by="test", tools=self.tools
        )

    async def preview(self, now: datetime = FIRST_NIGHT) -> tuple[Run, list[Change]]:
        return await preview_night(
            self.graph,
            self.tenant_id,
            "ada",
            now=now,
            tools=self.tools,
        )

    async def use(self, *memory_ids: str, at: datetime, use_id: str | None = None) -> None:
        await coactivate(self.graph, self.caller, "ada", memory_ids, use_id=use_id, now=at)

    async def memories(
        self, state: MemoryState = MemoryState.ACTIVE, now: datetime = FIRST_NIGHT, **filters: Any
    ) -> list[Memory]:
        page = await list_memories(
            self.graph, self.caller, "ada", now=now, state=state, limit=10_000, **filters
        )
        return page.items

    async def memory(self, memory_id: str, now: datetime = FIRST_NIGHT) -> Memory:
        memories = [memory for state in MemoryState for memory in await self.memories(state, now)]
        return next(memory for memory in memories if memory.memory_id == memory_id)

    async def texts(self, **filters: Any) -> list[str]:
        return sorted(memory.text for memory in await self.memories(**filters))

    async def links(self) -> list[Link]:
        """All links between memories, once each."""
        links = {
            (link.from_id, link.type, link.to_id): link
            for state in MemoryState
            for memory in await self.memories(state)
            for link in await list_links(self.graph, self.caller, memory.memory_id)
        }
        return [links[key] for key in sorted(links)]

    async def candidates(
        self, state: CandidateState = CandidateState.PENDING, *, persona_id: str = "ada"
    ) -> list[Candidate]:
        page = await list_candidates(
            self.graph, self.caller, persona_id, states=[state], limit=10_000
        )
        return page.items

    async def ask(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a statement of the test's own; $t is the tenant."""
        async with self.graph._driver.session(database=self.graph._database) as session:
            result = await session.run(f"CYPHER 25 {statement}", t=self.tenant_id, **parameters)
            return [dict(record) async for record in result]

    async def everything(self) -> dict[str, Any]:
        """The properties of every node and relationship of the tenant.

        Leaves out what is only ever added to (the ledger, the change log, events of later
        effects) and checkpoints, which belong to a conversation and not to a run.
        """
        nodes = await self.ask(
            """
            MATCH (n)
            WHERE n.tenant_id = $t
              AND NOT n:Run|Step|Use|Checkpoint|Summary|ChangeLog|Change
              AND n.effect_of IS NULL AND NOT EXISTS { (n:Event)-[:ABOUT]->(:Run) }
            RETURN labels(n) AS labels, properties(n) AS properties"""
        )
        links = await self.ask(
            """
            MATCH (a)-[r]->(b)
            WHERE a.tenant_id = $t AND b.tenant_id = $t AND NOT b:Run AND NOT a:Run
              AND NOT r:HAS_CHECKPOINT|COVERS|HAD
            RETURN a.id AS source, type(r) AS type, b.id AS target, properties(r) AS properties"""
        )
        dump = {
            f"{sorted(node['labels'])} {node['properties']['id']}": node["properties"]
            for node in nodes
        }
        for properties in dump.values():
            # Of the timetable, the streams and the ledger, not of the memory.
            for name in NOT_OF_MEMORY:
                properties.pop(name, None)
        dump |= {
            f"{link['source']} {link['type']} {link['target']}": link["properties"]
            for link in links
        }
        assert len(dump) == len(nodes) + len(links)  # every link is there once
        return dump

    async def check_flags(self) -> dict[str, int]:
        """Assert what holds after any order of flags, undos, nights and crashes. Returns counts.

        The state of each message follows from its events, and the state of each item from the
        flags that are not undone.
        """
        messages = await self.ask(
            """
            MATCH (m:Message {tenant_id: $t})
            RETURN m.id AS id, coalesce(m.flagged, false) AS flagged,
              COLLECT { MATCH (m)<-[:ABOUT]-(e:Event) RETURN e.action ORDER BY e.place } AS actions,
              COUNT { (m)<-[:FLAGS]-(f:Flag) WHERE f.reversed_at IS NULL } AS live,
              COUNT { (m)<-[:FLAGS]-(:Flag) } AS flags"""
        )
        for row in messages:
            actions = row["actions"]
            assert row["live"] == row["flagged"] == len(actions) % 2, row
            assert row["flags"] == (len(actions) + 1) // 2, row
            assert set(actions[::2]) <= {"flagged"}, row
            assert set(actions[1::2]) <= {"unflagged"}, row
        items = await self.ask(
            """
            MATCH (n:Candidate|Memory {tenant_id: $t})
            RETURN n.id AS id, n:Memory AS memory, n.state AS state, n.flagged AS flagged,
              n.weight_modifier AS weight, n.passed_over_at IS NOT NULL AS passed,
              COLLECT {
                MATCH (n)-[:DRAWN_FROM]->(:Message)<-[:FLAGS]-(f:Flag)
                WHERE f.reversed_at IS NULL
                RETURN DISTINCT f.act
              } AS acts,
              [(n)-[l:RELATED|EXTENDS|PRECEDES|CONTRADICTS]->(:Memory) | l.weight_modifier] AS links
            """
        )
        for row in items:
            acts = len(row["acts"])
            assert row["flagged"] == bool(acts), row
            if row["memory"]:
                assert abs(row["weight"] - 0.2**acts) < 1e-9, row
                assert all(weight == row["weight"] for weight in row["links"]), row
            elif row["state"] not in ("merged", "removed"):
                waiting = "passed_over" if row["passed"] else "pending"
                assert row["state"] == ("suppressed" if acts else waiting), row
        places = await self.ask(
            """
            MATCH (e:Event {tenant_id: $t}) WHERE e.place IS NOT NULL
            RETURN e.place AS place ORDER BY place"""
        )
        assert [row["place"] for row in places] == list(range(1, len(places) + 1))
        return {
            "messages": len(messages),
            "flagged": sum(row["flagged"] for row in messages),
            "memories": sum(row["memory"] for row in items),
            "events": len(places),
        }
