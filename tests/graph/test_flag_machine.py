"""Any order of flagging, undoing, sleeping and restoring."""

import asyncio
import os
from collections import Counter
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from engine.acknowledgments import Templates
from engine.candidates import restore_candidate
from engine.errors import NothingToRestore
from engine.flags import FlagRules, flag_message, flag_range, undo_message, undo_range
from engine.graph import Graph
from engine.models import CandidateState, ReversalSource, new_id
from engine.night.ledger import list_runs
from engine.night.undo import undo_run
from engine.settings import Settings
from engine.tenants import add_tenant
from tests.conftest import clear
from tests.graph.test_night_machine import THINGS
from tests.lives import BORN, WINDOW, Life, word_embedder

T = TypeVar("T")

ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
RULES = FlagRules(
    confirm_from=3, undo_window=timedelta(seconds=7), debounce=timedelta(seconds=30), factor=0.2
)
LATER = ReversalSource.MEMORY_MANAGER


def machine(settings: Settings) -> type[RuleBasedStateMachine]:
    class Flags(RuleBasedStateMachine):
        """The model: for each message the act that flags it, if any, and how many ever have."""

        def __init__(self) -> None:
            super().__init__()
            self.loop = asyncio.new_event_loop()
            self.graph = Graph.open(settings)
            self.life = Life(self.graph, f"test-{new_id()}", word_embedder())
            self.now = BORN
            self.said: list[str] = []
            self.act: dict[str, str] = {}  # by message: what flags it now
            self.flags: Counter[str] = Counter()  # by message: how often it was flagged
            self.ranges: list[str] = []

        def run(self, work: Coroutine[Any, Any, T]) -> T:
            return self.loop.run_until_complete(work)

        def which(self, place: int) -> str:
            return self.said[place % len(self.said)]

        @initialize()
        def begin(self) -> None:
            self.run(add_tenant(self.graph, self.life.tenant_id, name="T", now=BORN))
            self.run(self.life.begin())

        @rule(things=st.lists(st.sampled_from(THINGS), min_size=1, max_size=4))
        def say(self, things: list[str]) -> None:
            self.now += timedelta(minutes=10)
            said = self.run(self.life.say(*things, at=self.now))
            self.said += said
            if len(said) > 1:  # a candidate, and then a memory, of several messages
                both = self.life.propose(
                    f"Of {said[0]}", at=self.now, sources=said, chosen_id=f"of-{said[0]}"
                )
                self.run(both)

        @rule(days=st.sampled_from([0.1, 1, 2, 40]))
        def time_passes(self, days: float) -> None:
            self.now += timedelta(days=days)

        @precondition(lambda self: self.said)
        @rule(place=st.integers(0, 100))
        def flag(self, place: int) -> None:
            chosen = self.which(place)
            done = self.run(
                flag_message(self.graph, Templates(), self.life.caller, chosen, RULES, now=self.now)
            )
            assert done.changed == ([] if chosen in self.act else [chosen])
            self.flagged(done.changed, new_id())

        @precondition(lambda self: self.said)
        @rule(one=st.integers(0, 100), other=st.integers(0, 100))
        def flag_some(self, one: int, other: int) -> None:
            done = self.run(
                flag_range(
                    self.graph,
                    Templates(),
                    self.life.caller,
                    "monday",
                    first_id=self.which(one),
                    last_id=self.which(other),
                    confirmed=True,
                    rules=RULES,
                    now=self.now,
                )
            )
            if done.range_id:
                self.ranges.append(done.range_id)
                self.flagged(done.changed, done.range_id)

        def flagged(self, message_ids: list[str], act: str) -> None:
            for message_id in message_ids:
                self.act[message_id] = act
                self.flags[message_id] += 1

        @precondition(lambda self: self.said)
        @rule(place=st.integers(0, 100))
        def undo(self, place: int) -> None:
            chosen = self.which(place)
            self.now += timedelta(seconds=1)
            done = self.run(
                undo_message(self.graph, self.life.caller, chosen, LATER, RULES, now=self.now)
            )
            assert done.changed == ([chosen] if chosen in self.act else [])
            self.act.pop(chosen, None)

        @precondition(lambda self: self.ranges)
        @rule(which=st.integers(0, 100), part=st.booleans())
        def undo_some(self, which: int, part: bool) -> None:
            range_id = self.ranges[which % len(self.ranges)]
            (row,) = self.run(
                self.life.ask(
                    "MATCH (r:Range {tenant_id: $t, id: $id}) RETURN r.message_ids AS ids",
                    id=range_id,
                )
            )
            chosen = row["ids"][: 1 + which % len(row["ids"])] if part else row["ids"]
            self.now += timedelta(seconds=1)
            done = self.run(
                undo_range(
                    self.graph,
                    self.life.caller,
                    range_id,
                    LATER,
                    RULES,
                    message_ids=chosen if part else None,
                    now=self.now,
                )
            )
            assert done.changed == [it for it in chosen if it in self.act]
            for message_id in chosen:
                self.act.pop(message_id, None)

        @rule()
        def night(self) -> None:
            self.run(self.life.night(self.now))

        @rule()
        def take_back_the_newest_night(self) -> None:
            runs = self.run(
                list_runs(self.graph, self.life.tenant_id, "ada", cursor=None, limit=50)
            )
            standing = [run.id for run in runs.items if run.state != "undone"]
            if standing:
                self.run(
                    undo_run(
                        self.graph,
                        self.life.tenant_id,
                        standing[0],
                        now=self.now,
                        undone_by="test",
                    )
                )

        @rule()
        def restore(self) -> None:
            for state in (CandidateState.PASSED_OVER, CandidateState.SUPPRESSED):
                for candidate in self.run(self.life.candidates(state)):
                    again = restore_candidate(
                        self.graph,
                        self.life.tenant_id,
                        candidate.candidate_id,
                        now=self.now,
                        window=WINDOW,
                    )
                    try:
                        self.run(again)
                        assert state is CandidateState.PASSED_OVER
                    except NothingToRestore:
                        assert state is CandidateState.SUPPRESSED

        @rule()
        def undo_everything(self) -> None:
            self.now += timedelta(seconds=1)
            for chosen in sorted(self.act):
                self.run(
                    undo_message(self.graph, self.life.caller, chosen, LATER, RULES, now=self.now)
                )
            self.act.clear()
            rows = self.run(
                self.life.ask(
                    """
                    MATCH (n:Candidate|Memory {tenant_id: $t})
                    WHERE n.flagged OR n.minimized OR n.weight_modifier < 1
                      OR n.state = 'suppressed' OR n.deprioritized_at IS NOT NULL
                    RETURN n.id AS id"""
                )
            )
            assert rows == []

        @invariant()
        def a_messages_record_is_the_fold_of_its_events(self) -> None:
            rows = self.run(
                self.life.ask(
                    """
                    MATCH (m:Message {tenant_id: $t})
                    RETURN m.id AS id, coalesce(m.flagged, false) AS flagged,
                      COLLECT { MATCH (m)<-[:ABOUT]-(e:Event) RETURN e.action ORDER BY e.place }
                        AS actions,
                      COUNT { (m)<-[:FLAGS]-(f:Flag) WHERE f.reversed_at IS NULL } AS live,
                      COUNT { (m)<-[:FLAGS]-(:Flag) } AS flags"""
                )
            )
            for row in rows:
                told = row["actions"]
                assert row["flagged"] == (row["id"] in self.act) == bool(row["live"]), row
                assert row["flags"] == self.flags[row["id"]], row
                assert told == ["flagged", "unflagged"] * (len(told) // 2) + ["flagged"] * (
                    len(told) % 2
                )
                assert row["flagged"] == bool(len(told) % 2), row

        @invariant()
        def what_a_flag_does_follows_from_the_flags_that_stand(self) -> None:
            rows = self.run(
                self.life.ask(
                    """
                    MATCH (n:Candidate|Memory {tenant_id: $t})
                    RETURN n.id AS id, n:Memory AS memory, n.state AS state, n.flagged AS flagged,
                      n.weight_modifier AS weight, n.minimized AS minimized,
                      n.passed_over_at IS NOT NULL AS passed,
                      [(n)-[:DRAWN_FROM]->(m:Message) | m.id] AS sources,
                      [(n)-[l:RELATED|EXTENDS|PRECEDES|CONTRADICTS]->(:Memory) |
                        l.weight_modifier] AS links"""
                )
            )
            for row in rows:
                acts = {self.act[it] for it in row["sources"] if it in self.act}
                assert row["flagged"] == bool(acts), row
                if row["memory"]:
                    assert row["weight"] == pytest.approx(0.2 ** len(acts)), row
                    assert row["minimized"] == bool(acts), row
                    assert all(it == row["weight"] for it in row["links"]), row
                elif row["state"] not in ("merged", "removed"):
                    waiting = "passed_over" if row["passed"] else "pending"
                    assert row["state"] == ("suppressed" if acts else waiting), row

        def teardown(self) -> None:
            self.run(clear(self.graph, [self.life.tenant_id]))
            self.run(self.graph.close())
            self.life.embedder.close()
            self.loop.close()

    return Flags


@pytest.fixture
def engine_settings(settings: Settings, graph: Graph) -> Settings:
    return settings


@pytest.mark.timeout(7200)
@pytest.mark.spec("UNDO-03")
async def test_any_order_of_flags_and_undos(engine_settings: Settings) -> None:
    await asyncio.to_thread(
        run_state_machine_as_test,
        machine(engine_settings),
        settings=hypothesis_settings(
            max_examples=12 * ROUNDS,
            stateful_step_count=25,
            deadline=None,
            derandomize=ROUNDS == 1,
            suppress_health_check=list(HealthCheck),
        ),
    )
