"""Any order of saying, editing, removing, using, sleeping, dying and taking back."""

import contextlib
from datetime import timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
)

from engine.access.tenants import add_tenant
from engine.errors import CandidateClosed, RunFolded
from engine.extraction.port import RuleExtractor
from engine.memory.candidates import edit_candidate, remove_candidate
from engine.memory.drawing import draw_candidates
from engine.memory.links import add_link
from engine.memory.models import LinkType
from engine.night.ledger import list_runs
from engine.night.undo import undo_run
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.conversations import list_messages
from engine.talk.models import Message
from tests.changes import WatchedGraph
from tests.graph.night.test_rollback import Dying, Killed
from tests.lives import BORN, WINDOW, Life, word_embedder
from tests.machines import Machine, run_machine

THINGS = [
    "I live in Lisbon.",
    "I live in Porto now.",
    "My favourite tea is jasmine.",
    "I went for a long run along the wide river this morning",
    "went for a long run along the wide river this morning",
    "My pottery class with the red clay kiln",
    "In pottery class the clay kiln was hot",
    "Another pottery class beside the clay kiln",
    "I am so happy about the garden, I love it!!",
    "I hate the rain, it makes me sad.",
    "ok",
    "The bus came late and I missed the boat.",
]
LABELS = "MATCH (n:Candidate|Memory {tenant_id: $t}) "


class Nights(Machine):
    """The model: what was said, which candidates there ever were, and which were removed."""

    def __init__(self) -> None:
        super().__init__()
        tenant_id = self.new_tenant()
        # The change log names what each transaction changes.
        self.graph = WatchedGraph(self.graph, tenant_id)
        self.life = Life(self.graph, tenant_id, word_embedder())
        self.now = BORN
        self.said: list[Message] = []
        self.seen: set[str] = set()
        self.removed: set[str] = set()

    @initialize()
    def begin(self) -> None:
        life = self.life
        self.run(add_tenant(life.graph, life.tenant_id, name="T", now=BORN))
        self.run(life.begin())

    @rule(things=st.lists(st.sampled_from(THINGS), min_size=1, max_size=4))
    def say(self, things: list[str]) -> None:
        self.now += timedelta(minutes=10)
        self.run(self.life.say(*things, at=self.now))
        self.said = self.run(self.transcript())
        self.seen |= {candidate.candidate_id for candidate in self.run(self.life.candidates())}

    @rule(days=st.sampled_from([0.2, 1, 2, 31, 61, 95]))
    def time_passes(self, days: float) -> None:
        self.now += timedelta(days=days)

    @rule()
    def draw_again(self) -> None:
        life = self.life
        self.run(
            draw_candidates(
                life.graph,
                life.embedder,
                RuleExtractor(),
                life.tenant_id,
                "monday",
                now=self.now,
            )
        )

    @precondition(lambda self: self.seen)
    @rule(index=st.integers(0, 1000), remove=st.booleans())
    def change(self, index: int, remove: bool) -> None:
        life, chosen = self.life, sorted(self.seen)[index % len(self.seen)]
        (before,) = self.run(life.ask(LABELS + "WHERE n.id = $id RETURN n {.*} AS n", id=chosen))
        is_open = (
            before["n"]["state"] in ("pending", "suppressed")
            and before["n"]["extracted_at"] > self.now - WINDOW
        )
        try:
            if remove:
                self.run(remove_candidate(life.graph, life.caller, chosen, now=self.now))
                self.removed.add(chosen)
            else:
                edited = edit_candidate(
                    life.graph,
                    life.embedder,
                    life.caller,
                    chosen,
                    text=f"Edited {index}",
                    content=None,
                    now=self.now,
                )
                self.run(edited)
            assert is_open
        except CandidateClosed:
            assert not is_open
            (after,) = self.run(life.ask(LABELS + "WHERE n.id = $id RETURN n {.*} AS n", id=chosen))
            assert after == before

    @rule(places=st.lists(st.integers(0, 30), min_size=1, max_size=4), weak=st.booleans())
    def use(self, places: list[int], weak: bool) -> None:
        memories = [memory.memory_id for memory in self.run(self.life.memories(now=self.now))]
        chosen = sorted({memories[place % len(memories)] for place in places}) if memories else []
        if chosen:
            self.run(self.life.use(*chosen, at=self.now))
        for other in chosen[1:]:
            made = add_link(
                self.graph,
                self.life.caller,
                chosen[0],
                other,
                LinkType.ENABLES,
                strength=0.05 if weak else None,
                now=self.now,
            )
            self.run(made)

    @rule()
    def night(self) -> None:
        self.run(self.life.night(self.now))

    @rule()
    def hour(self) -> None:
        self.run(self.life.hour(self.now))

    @rule(die_at=st.integers(1, 25), after=st.booleans())
    def night_that_dies(self, die_at: int, after: bool) -> None:
        self.life.graph = Dying(self.graph, die_at, after=after)
        with contextlib.suppress(Killed):
            self.run(self.life.night(self.now))
        self.life.graph = self.graph
        over = "MATCH (p:Persona {tenant_id: $t}) REMOVE p.run_until, p.run_worker"
        self.run(self.life.ask(over))

    @rule()
    def night_and_back(self) -> None:
        self.run(self.life.night(self.now))  # whatever was left open is over now
        self.now += timedelta(days=1)
        before = self.run(self.life.everything())
        run = self.run(self.life.night(self.now))
        assert self.undo(run.id) == []
        assert self.run(self.life.everything()) == before

    @rule()
    def take_back_the_newest(self) -> None:
        runs = self.run(list_runs(self.graph, self.life.tenant_id, "ada", cursor=None, limit=50))
        standing = [run for run in runs.items if run.state != "undone"]
        if not standing:
            return
        try:
            self.undo(standing[0].id)
            assert standing[0].folded_at is None
        except RunFolded:  # its steps are kept for thirty days
            assert standing[0].as_of < self.now - timedelta(days=30)

    def undo(self, run_id: str) -> list[str]:
        return self.run(
            undo_run(self.graph, self.life.tenant_id, run_id, now=self.now, undone_by="test")
        )

    async def transcript(self) -> list[Message]:
        page = await list_messages(self.graph, self.life.caller, "monday", limit=500)
        return page.items

    @invariant()
    def what_was_said_is_untouched(self) -> None:
        if self.said:
            assert self.run(self.transcript()) == self.said

    @invariant()
    def no_candidate_is_lost_or_consolidated_twice(self) -> None:
        rows = self.run(
            self.life.ask(
                LABELS
                + """
                RETURN n.id AS id, n:Memory AS memory, n.state AS state,
                  n.distilled_at IS NOT NULL AS distilled, n:ForgottenShape AS shape,
                  n.formed_at AS formed_at,
                  n.extracted_at AS extracted_at,
                  COUNT { (n)-[:MERGED_INTO]->() } AS merged,
                  COUNT { (n)-[:DRAWN_FROM]->(:Message) } AS sources,
                  COUNT { (:Persona)-[:REMEMBERS]->(n) } AS remembered,
                  COUNT { (:Persona)-[:CONSIDERS]->(n) } AS considered"""
            )
        )
        rows = [row for row in rows if not row["shape"]]
        drawn = [row["id"] for row in rows if not row["distilled"]]
        assert sorted(drawn) == sorted(self.seen)
        for row in rows:
            assert row["sources"] >= 1, row  # nothing without provenance
            assert row["merged"] == (row["state"] == "merged"), row
            assert (row["remembered"], row["considered"]) == ((1, 0) if row["memory"] else (0, 1))
            states = ("active", "archived") if row["memory"] else ("pending", "removed", "merged")
            assert row["state"] in states, row
            if row["id"] in self.removed:
                assert row["state"] == "removed"
            if row["memory"] and not row["distilled"]:
                age = row["formed_at"] - row["extracted_at"]
                assert age >= WINDOW

    @invariant()
    def links_are_unique_and_scales_are_kept(self) -> None:
        links = self.run(
            self.life.ask(
                """
                MATCH (a:Memory {tenant_id: $t})-[l]->(b:Memory)
                WHERE type(l) <> 'SHAPED_INTO'
                RETURN a.id AS a, type(l) AS type, b.id AS b, l.strength AS strength,
                  l.weight_modifier AS weight"""
            )
        )
        assert len({(link["a"], link["type"], link["b"]) for link in links}) == len(links)
        for link in links:
            assert link["a"] != link["b"]
            assert 0 <= link["strength"] <= 1
            assert 0 <= link["weight"] <= 1
        wrong = self.run(
            self.life.ask(
                """
                MATCH (m:Memory {tenant_id: $t})
                WHERE NOT (
                  1 <= m.importance <= 10 AND 0 <= m.salience <= 1 AND
                  0 <= m.weight_modifier <= 1 AND m.access_count >= 0 AND
                  (m.valid_to IS NULL OR m.valid_to >= m.valid_from)
                )
                RETURN m.id AS id"""
            )
        )
        assert wrong == []

    def teardown(self) -> None:
        self.life.embedder.close()
        super().teardown()


@pytest.mark.timeout(7200)
@pytest.mark.spec("CONS-09", "CONS-13")
async def test_any_order_of_days_and_nights(settings: Settings, graph: Graph) -> None:
    await run_machine(Nights, settings, examples=10)
