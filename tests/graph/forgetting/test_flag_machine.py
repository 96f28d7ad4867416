"""Any order of flagging, undoing, sleeping, restoring, splitting and duplicating."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.access.tenants import add_tenant
from engine.errors import NothingToRestore
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, flag_range, undo_message, undo_range
from engine.forgetting.models import ReversalSource
from engine.ids import id_from, new_id
from engine.memory.candidates import restore_candidate
from engine.memory.duplicates import duplicate_persona
from engine.memory.models import CandidateState
from engine.night.ledger import list_runs
from engine.night.undo import undo_run
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.checkpoints import make_checkpoints
from engine.talk.conversations import add_conversation
from engine.talk.models import Conversation
from engine.talk.splits import split_conversation
from tests.graph.night.test_night_machine import THINGS
from tests.lives import BORN, RULES, Life, word_embedder
from tests.machines import Machine, run_machine

LATER = ReversalSource.MEMORY_MANAGER
SOME = st.integers(0, 100)  # one of what there is
MOST = 3  # conversations split off, and personas: more would only be slower
USES = ("access_count", "accessed_at", "uses_on", "stirred_at")


class Flags(Machine):
    """The model: what was said, for each message the act that flags it, for each copy its source.

    An act is one «Forget This». What a split carries is flagged by the same act as the message was.
    """

    def __init__(self) -> None:
        super().__init__()
        self.life = Life(self.graph, self.new_tenant(), word_embedder())
        self.now = BORN
        self.personas = ["ada"]
        self.talks = {"monday": "ada"}  # by conversation: whom it is with
        self.splits = 0
        self.said: dict[str, list[str]] = {"monday": []}  # by conversation: its messages
        self.first: dict[str, str] = {}  # by message: itself, or what it is a copy of
        self.act: dict[str, str] = {}  # by message: what flags it now
        self.flags: Counter[str] = Counter()  # by message: how often it was flagged
        self.history: dict[str, list[str]] = {}  # by message: what happened to it
        self.transcript: dict[str, Any] = {}  # by message: as it was said
        self.ranges: list[str] = []
        self.own: dict[str, tuple[float, bool]] = {}  # by copied memory: weight, flag it came with
        self.checkpoints: set[str] = set()

    def which(self, place: int) -> str:
        return sorted(self.first)[place % len(self.first)]

    def where(self, place: int) -> str:
        """A conversation in which something was said."""
        spoken = [conversation_id for conversation_id, said in self.said.items() if said]
        return spoken[place % len(spoken)]

    def whose(self, place: int) -> str:
        return self.personas[place % len(self.personas)]

    @initialize()
    def begin(self) -> None:
        self.run(add_tenant(self.graph, self.life.tenant_id, name="T", now=BORN))
        self.run(self.life.begin())

    @rule(things=st.lists(st.sampled_from(THINGS), min_size=1, max_size=4), talk=SOME)
    def say(self, things: list[str], talk: int) -> None:
        self.now += timedelta(minutes=10)
        where, to = list(self.talks.items())[talk % len(self.talks)]
        said = self.run(self.life.say(*things, at=self.now, where=where, to=to))
        self.keep(where, {message_id: message_id for message_id in said})
        if len(said) > 1:  # a candidate, and then a memory, of several messages
            self.propose(said, to)

    @precondition(lambda self: self.first)
    @rule(one=SOME, other=SOME, persona=SOME)
    def a_runtime_draws_from_what_was_said_before(self, one: int, other: int, persona: int) -> None:
        self.propose(sorted({self.which(one), self.which(other)}), self.whose(persona))

    def propose(self, sources: list[str], whose: str) -> None:
        text = f"Of {' '.join(sources)}"
        self.run(self.life.propose(text, at=self.now, sources=sources, persona_id=whose))

    def keep(self, where: str, of: dict[str, str]) -> None:
        """These messages are there now, each a copy of another or said for the first time."""
        self.said.setdefault(where, []).extend(of)
        for message_id, source in of.items():
            self.first[message_id] = self.first.get(source, source)
            self.history[message_id] = [*self.history.get(source, [])]
            self.flags[message_id] = min(1, self.flags[source])
            if source in self.act:
                self.act[message_id] = self.act[source]
        self.transcript |= {id_: said for id_, said in self.read().items() if id_ in of}

    def read(self) -> dict[str, Any]:
        rows = self.run(
            self.life.ask(
                """
                MATCH (c:Conversation {tenant_id: $t})-[:CONTAINS]->(m:Message)
                RETURN m.id AS id, [c.id, m.conversation_id, m.persona_id, m.role, m.content,
                  m.said_at, m.received_at, m.user_id, m.speaker, m.reply_to, m.copied_from] AS said
                """
            )
        )
        return {row["id"]: row["said"] for row in rows}

    @rule(days=st.sampled_from([0.1, 1, 2, 40]))
    def time_passes(self, days: float) -> None:
        self.now += timedelta(days=days)

    @precondition(lambda self: self.first)
    @rule(place=SOME)
    def flag(self, place: int) -> None:
        chosen = self.which(place)
        done = self.run(
            flag_message(self.graph, Templates(), self.life.caller, chosen, RULES, now=self.now)
        )
        assert done.changed == ([] if chosen in self.act else [chosen])
        self.flagged(done.changed, new_id())

    @precondition(lambda self: self.first)
    @rule(talk=SOME, one=SOME, other=SOME)
    def flag_some(self, talk: int, one: int, other: int) -> None:
        where = self.where(talk)
        said = self.said[where]
        one, other = sorted((one % len(said), other % len(said)))
        done = self.run(
            flag_range(
                self.graph,
                Templates(),
                self.life.caller,
                where,
                first_id=said[other],  # whichever end is named first
                last_id=said[one],
                confirmed=True,
                rules=RULES,
                now=self.now,
            )
        )
        assert done.changed == [
            message_id for message_id in said[one : other + 1] if message_id not in self.act
        ]
        if done.range_id:
            self.ranges.append(done.range_id)
            self.flagged(done.changed, done.range_id)

    def flagged(self, message_ids: list[str], act: str) -> None:
        for message_id in message_ids:
            self.act[message_id] = act
            self.flags[message_id] += 1
            self.history[message_id].append("flagged")

    def unflagged(self, message_ids: list[str]) -> None:
        for message_id in message_ids:
            del self.act[message_id]
            self.history[message_id].append("unflagged")

    @precondition(lambda self: self.first)
    @rule(place=SOME)
    def undo(self, place: int) -> None:
        chosen = self.which(place)
        self.now += timedelta(seconds=1)
        done = self.run(
            undo_message(self.graph, self.life.caller, chosen, LATER, RULES, now=self.now)
        )
        assert done.changed == ([chosen] if chosen in self.act else [])
        self.unflagged(done.changed)

    @precondition(lambda self: self.ranges)
    @rule(which=SOME, part=st.booleans())
    def undo_some(self, which: int, part: bool) -> None:
        range_id = self.ranges[which % len(self.ranges)]
        (row,) = self.run(
            self.life.ask(
                "MATCH (r:Range {tenant_id: $t, id: $id}) RETURN r.message_ids AS ids", id=range_id
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
        # UNDO-03: the flags that this range has set, and no other.
        assert done.changed == [
            message_id for message_id in chosen if self.act.get(message_id) == range_id
        ]
        self.unflagged(done.changed)

    @precondition(lambda self: self.first and self.splits < MOST)
    @rule(talk=SOME, one=SOME, other=st.none() | SOME)
    def split(self, talk: int, one: int, other: int | None) -> None:
        where = self.where(talk)
        said = self.said[where]
        self.splits += 1
        into = f"split-{self.splits}"
        made = self.run(
            split_conversation(
                self.graph,
                self.life.caller,
                where,
                first_id=said[one % len(said)],
                last_id=None if other is None else said[other % len(said)],
                chosen_id=into,
                title=None,
                now=self.now,
            )
        )
        assert {*made.message_ids} <= {*said}
        for message_id in made.message_ids:
            self.history[message_id].append("split")
        self.talks[into] = self.talks[where]
        self.keep(into, {copy: source for source, copy in made.message_ids.items()})
        copies = self.transcript
        for source, copy in made.message_ids.items():
            assert copies[copy][2:6] == copies[source][2:6]  # to whom, by whom, what, when

    @precondition(lambda self: len(self.personas) < MOST)
    @rule(persona=SOME)
    def duplicate(self, persona: int) -> None:
        whose, copy = self.whose(persona), f"copy-{len(self.personas)}"
        before = self.memories(whose)
        done = self.run(
            duplicate_persona(
                self.graph,
                self.life.tenant_id,
                whose,
                copy_id=copy,
                now=self.now,
            )
        )
        assert done.whole
        assert self.memories(whose) == before
        copied = self.memories(copy)
        assert copied.keys() == {id_from(copy, memory_id) for memory_id in before}
        for memory_id, memory in before.items():
            here = copied[id_from(copy, memory_id)]
            same = ("text", "state", "importance", "weight_modifier", "flagged", "minimized")
            assert [here["all"].get(name) for name in same] == [
                memory["all"].get(name) for name in same
            ]
            assert here["sources"] == memory["sources"]
            assert sorted(here["links"]) == sorted(
                [kind, id_from(copy, to), strength, weight]
                for kind, to, strength, weight in memory["links"]
            )
            assert not any(here["all"].get(name) for name in USES)
            self.own[here["all"]["id"]] = (
                memory["all"]["weight_modifier"],
                memory["all"]["flagged"],
            )
        self.personas.append(copy)
        talk = Conversation(f"with-{copy}", "studio", [copy], self.now, copy)
        self.run(add_conversation(self.graph, self.life.caller, talk))
        self.talks[talk.id] = copy
        self.said[talk.id] = []

    def memories(self, whose: str) -> dict[str, dict[str, Any]]:
        rows = self.run(
            self.life.ask(
                """
                MATCH (:Persona {tenant_id: $t, id: $id})-[:REMEMBERS]->(m:Memory)
                RETURN m.id AS id, properties(m) AS all,
                  COLLECT { MATCH (m)-[:DRAWN_FROM]->(s) RETURN s.id ORDER BY s.id } AS sources,
                  COLLECT {
                    MATCH (m)-[l]->(o:Memory)
                    RETURN [type(l), o.id, l.strength, l.weight_modifier]
                  } AS links""",
                id=whose,
            )
        )
        return {row.pop("id"): row for row in rows}

    @rule(persona=SOME)
    def night(self, persona: int) -> None:
        others = self.of_others(self.whose(persona))
        self.run(self.life.night(self.now, persona_id=self.whose(persona)))
        assert self.of_others(self.whose(persona)) == others

    @rule(persona=SOME)
    def take_back_the_newest_night(self, persona: int) -> None:
        whose = self.whose(persona)
        others = self.of_others(whose)
        runs = self.run(list_runs(self.graph, self.life.tenant_id, whose, cursor=None, limit=50))
        standing = [run.id for run in runs.items if run.state != "undone"]
        if standing:
            where = (self.graph, self.life.tenant_id, standing[0])
            self.run(undo_run(*where, now=self.now, undone_by="test"))
        assert self.of_others(whose) == others

    def of_others(self, whose: str) -> list[dict[str, Any]]:
        return [self.memories(persona) for persona in self.personas if persona != whose]

    @rule(persona=SOME)
    def restore(self, persona: int) -> None:
        for state in (CandidateState.PASSED_OVER, CandidateState.SUPPRESSED):
            for candidate in self.run(self.life.candidates(state, persona_id=self.whose(persona))):
                again = restore_candidate(
                    self.graph,
                    self.life.caller,
                    candidate.candidate_id,
                    now=self.now,
                )
                try:
                    self.run(again)
                    assert state is CandidateState.PASSED_OVER
                except NothingToRestore:
                    assert state is CandidateState.SUPPRESSED

    @rule()
    def cover(self) -> None:
        for where in self.said:
            self.run(make_checkpoints(self.graph, self.life.tenant_id, where, now=self.now))
        rows = self.run(
            self.life.ask(
                """
                MATCH (m:Message {tenant_id: $t})
                RETURN COUNT { (m)<-[:COVERS]-(c:Checkpoint {conversation_id: m.conversation_id}) }
                  AS here, COUNT { (m)<-[:COVERS]-() } AS anywhere"""
            )
        )
        assert all(row["here"] == row["anywhere"] == 1 for row in rows)

    @rule()
    def undo_everything(self) -> None:
        self.now += timedelta(seconds=1)
        for chosen in sorted(self.act):
            self.run(undo_message(self.graph, self.life.caller, chosen, LATER, RULES, now=self.now))
        self.unflagged(sorted(self.act))
        rows = self.run(
            self.life.ask(
                """
                MATCH (n:Candidate|Memory {tenant_id: $t})
                WHERE NOT n.id IN $own AND (n.flagged OR n.minimized OR n.weight_modifier < 1
                  OR n.state = 'suppressed' OR n.deprioritized_at IS NOT NULL)
                RETURN n.id AS id""",
                own=[*self.own],
            )
        )
        assert rows == []

    @invariant()
    def what_was_said_is_untouched(self) -> None:
        assert self.read() == self.transcript

    @invariant()
    def a_messages_record_is_the_fold_of_its_events(self) -> None:
        rows = self.run(
            self.life.ask(
                """
                MATCH (m:Message {tenant_id: $t})
                RETURN m.id AS id, coalesce(m.flagged, false) AS flagged,
                  COLLECT { MATCH (m)<-[:ABOUT]-(e:Event) RETURN e.action ORDER BY e.id }
                    AS actions,
                  COUNT { (m)<-[:FLAGS]-(f:Flag) WHERE f.reversed_at IS NULL } AS live,
                  COUNT { (m)<-[:FLAGS]-(:Flag) } AS flags"""
            )
        )
        assert {row["id"] for row in rows} == {*self.first}
        for row in rows:
            assert row["actions"] == self.history[row["id"]], row
            actions = [action for action in row["actions"] if action != "split"]
            assert row["flagged"] == (row["id"] in self.act) == bool(row["live"]), row
            assert row["flags"] == self.flags[row["id"]], row
            assert actions == ["flagged", "unflagged"] * (len(actions) // 2) + ["flagged"] * (
                len(actions) % 2
            )
            assert row["flagged"] == bool(len(actions) % 2), row

    @invariant()
    def what_a_flag_does_follows_from_the_flags_that_stand(self) -> None:
        """On the messages an item was drawn from, and on their copies, for its own persona."""
        rows = self.run(
            self.life.ask(
                """
                MATCH (n:Candidate|Memory {tenant_id: $t})
                RETURN n.id AS id, n:Memory AS memory, n.state AS state, n.flagged AS flagged,
                  n.persona_id AS persona_id, n.weight_modifier AS weight,
                  n.minimized AS minimized, n.passed_over_at IS NOT NULL AS passed,
                  n.deprioritized_at IS NOT NULL AS deprioritized,
                  [(n)-[:DRAWN_FROM]->(m:Message) | [m.id, m.persona_id]] AS sources,
                  [(n)-[l:RELATED|EXTENDS|PRECEDES|CONTRADICTS]->(:Memory) |
                    l.weight_modifier] AS links"""
            )
        )
        for row in rows:
            mine = {source for source, persona in row["sources"] if persona == row["persona_id"]}
            firsts = {self.first[message_id] for message_id in mine}
            assert mine == {
                message_id for message_id, first in self.first.items() if first in firsts
            }, row
            acts = {self.act[message_id] for message_id in mine if message_id in self.act}
            weight, flagged = self.own.get(row["id"], (1.0, False))
            assert row["flagged"] == (bool(acts) or flagged), row
            if row["memory"]:
                weight *= 0.2 ** len(acts)
                assert row["weight"] == pytest.approx(weight), row
                assert row["minimized"] == (weight < 1), row
                assert all(link == row["weight"] for link in row["links"]), row
                assert not row["deprioritized"], row
            else:
                assert row["deprioritized"] == bool(acts), row
                if row["state"] not in ("merged", "removed"):
                    waiting = "passed_over" if row["passed"] else "pending"
                    assert row["state"] == ("suppressed" if acts else waiting), row

    @invariant()
    def checkpoints_stay_and_tell_nothing_that_is_flagged(self) -> None:
        rows = self.run(
            self.life.ask(
                """
                MATCH (c:Checkpoint {tenant_id: $t})
                RETURN c.id AS id, c.muted AS muted, c.summary AS summary, c.parts AS parts,
                  c.part_message_ids AS of, [(c)-[:COVERS]->(m) | m.id] AS messages"""
            )
        )
        assert self.checkpoints <= {row["id"] for row in rows}
        self.checkpoints = {row["id"] for row in rows}
        for row in rows:
            heard = {*row["messages"]} - {*self.act}
            assert row["muted"] == (not heard), row
            may = {part for part, of in zip(row["parts"], row["of"], strict=True) if of in heard}
            assert {*row["summary"].split("\n")} - {""} <= may, row

    def teardown(self) -> None:
        self.life.embedder.close()
        super().teardown()


@pytest.mark.timeout(7200)
@pytest.mark.spec("UNDO-03", "NAV-04", "NAV-07")
async def test_any_order_of_flags_and_undos(settings: Settings, graph: Graph) -> None:
    await run_machine(Flags, settings, examples=8)
