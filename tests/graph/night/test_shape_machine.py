"""What shapes say after any order of nights, rollbacks, flags, undos, archives, unarchives,
relearnings and rumours. What must hold is written down from the specification alone.
"""

import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.access.models import Persona, Tone
from engine.access.personas import add_persona
from engine.errors import NothingToRelearn, NotShareable
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, undo_message
from engine.forgetting.models import ReversalSource
from engine.memory.memories import archive_memory, unarchive_memory
from engine.memory.relearning import relearn_shape, share_shape
from engine.settings import Settings
from engine.store.graph import Graph
from engine.text.everyday_words import EVERYDAY_WORDS
from tests.graph.night.test_night_machine import Nights
from tests.lives import BORN, RULES
from tests.machines import run_machine

PLACES = st.lists(st.integers(0, 1000), min_size=1, max_size=6)
THINGS = [
    "I baked a plum cake with cardamom for the garden party",
    "The garden was full of foxgloves when Ottilie came by",
    "We planted quinces in the garden near the Zanzibar wall",
    "My guitar broke a string at the 1987 reunion concert",
    "The guitar lesson with Barnaby cost 4711 crowns",
    "The kiln at the pottery studio is warm again",
    "My kiln has cracked during the second firing",
    "Somebody opened the kiln too soon this morning",
    "Glaze for the kiln ran out on Monday",
    "The kiln takes a whole night to cool",
    "I paid for a new shelf in the kiln",
    "That old kiln has a mind of its own",
    "The soup needed much more pepper than I thought",
    "I am so happy about the garden, I love it!!",
    "I live in Lisbon.",
    "I live in Porto now.",
]
# Names, numbers and words that only one message has: no shape may have any of them.
TELLING = set(
    re.findall(
        r"\w+",
        "ottilie zanzibar barnaby lisbon porto sam ada 1987 4711 plum cardamom foxgloves quinces "
        "string reunion crowns cracked firing pepper soon wall glaze cool shelf studio opened",
    )
)
LIVING = ("active", "archived")
SHAPES = """
    MATCH (s:ForgottenShape {tenant_id: $t})-[:FELT_AS]->(e:ShapeExperience)
    RETURN s {.*} AS shape, e {.*} AS experience,
      [(m)-[:SHAPED_INTO]->(s) | m {.id, .state, .flagged}] AS sources,
      [(m)-[:SHAPED_INTO*1..3]->(s) WHERE NOT m:ForgottenShape | m {.id, .state, .flagged}]
        AS behind,
      [(s)-[l:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(o) |
        o {.state, .flagged}] AS linked
    ORDER BY s.id"""
MEMORIES = """
    MATCH (m:Memory {tenant_id: $t}) WHERE NOT m:ForgottenShape
    RETURN m {.id, .state, .flagged, .text, .embedding, .access_count, .salience} AS memory,
      [(m)-[:SHAPED_INTO]->(s) | s.state] AS shapes"""


class Shapes(Nights):
    """Nights in which people forget, take back, archive, bring back, relearn and tell as well."""

    def __init__(self) -> None:
        super().__init__()
        self.covered: set[str] = set()  # what has one living shape
        self.may_uncover = False  # whether what was done since then may silence a shape

    @initialize()
    def begin(self) -> None:
        super().begin()
        eve = Persona("eve", "Eve", Tone.WARM, "UTC", BORN, BORN)
        self.run(add_persona(self.graph, self.life.tenant_id, eve))
        self.say(THINGS)
        for days in (2, 1):
            self.now += timedelta(days=days)
            self.run(self.life.night(self.now))
            for memory_id in self.chosen([0, 2, 4, 6, 8, 10], "active"):
                self.run(archive_memory(self.graph, self.life.caller, memory_id, now=self.now))

    @rule(things=st.lists(st.sampled_from(THINGS), min_size=1, max_size=4))
    def say(self, things: list[str]) -> None:
        self.now += timedelta(minutes=10)
        self.run(self.life.say(*things, at=self.now))
        self.said = self.run(self.transcript())
        self.seen |= {candidate.candidate_id for candidate in self.run(self.life.candidates())}

    def ask(self, statement: str) -> list[dict[str, Any]]:
        return self.run(self.life.ask(statement))

    def shapes(self) -> list[dict[str, Any]]:
        return self.ask(SHAPES)

    def memories(self) -> dict[str, dict[str, Any]]:
        return {row["memory"]["id"]: row["memory"] for row in self.ask(MEMORIES)}

    def undo(self, run_id: str) -> list[str]:
        self.may_uncover = True
        return super().undo(run_id)

    @rule(place=st.integers(0, 1000), twice=st.booleans())
    def relearn(self, place: int, twice: bool) -> None:
        rows = self.shapes()
        if rows:
            self.check_relearning(rows[place % len(rows)], twice=twice)

    @rule(place=st.integers(0, 1000))
    def forget_a_source_and_relearn_the_others(self, place: int) -> None:
        rows = [row for row in self.shapes() if row["behind"]]
        if not rows:
            return
        chosen = rows[place % len(rows)]
        source_id = chosen["behind"][place % len(chosen["behind"])]["id"]
        messages = self.run(
            self.life.ask(
                "MATCH (:Memory {tenant_id: $t, id: $id})-[:DRAWN_FROM]->(m) RETURN m.id AS id",
                id=source_id,
            )
        )
        for message in messages:
            self.flag_message(message["id"])
        shape_id = chosen["shape"]["id"]
        (now,) = [row for row in self.shapes() if row["shape"]["id"] == shape_id]
        self.check_relearning(now, twice=False)

    def check_relearning(self, chosen: dict[str, Any], *, twice: bool) -> None:
        """Relearn a shape: all that is behind it and not flagged lives, and nothing else moves."""
        shape_id, before = chosen["shape"]["id"], self.memories()
        known = [source for source in chosen["behind"] if not source["flagged"]]
        lost = {source["id"] for source in known if source["state"] == "archived"}
        self.may_uncover = True
        relearned = relearn_shape(self.graph, self.life.caller, shape_id, now=self.now)
        if not known:
            with pytest.raises(NothingToRelearn):
                self.run(relearned)
            assert self.memories() == before
            return
        assert set(self.run(relearned).memory_ids) == lost
        after = self.memories()
        for id_, memory in after.items():
            if id_ in lost:
                assert memory["state"] == "active"
                assert memory["access_count"] == before[id_]["access_count"] + 1
            else:  # what is flagged above all
                assert memory == before[id_], memory
        if twice:
            again = self.run(relearn_shape(self.graph, self.life.caller, shape_id, now=self.now))
            assert again.counts == {"memories": 0, "shapes": 0}
            assert self.memories() == after

    @rule(place=st.integers(0, 1000))
    def share(self, place: int) -> None:
        rows = self.shapes()
        if not rows:
            return
        shape = rows[place % len(rows)]["shape"]
        other = "eve" if shape["persona_id"] == "ada" else "ada"

        async def told() -> str:
            life = self.life
            rumour = await share_shape(
                self.graph, life.embedder, life.caller, shape["id"], other, now=self.now
            )
            return rumour.shape_id

        if shape["state"] == "withdrawn":
            with pytest.raises(NotShareable):
                self.run(told())
            assert self.shapes() == rows
            return
        first, second = self.run(told()), self.run(told())
        assert first == second
        ids = {row["shape"]["id"] for row in rows}
        new = [row["shape"] for row in self.shapes() if row["shape"]["id"] not in ids]
        assert [it["id"] for it in new] == ([] if first in ids else [first])
        assert {it["drawn_by"] for it in new} <= {"rumour"}

    def chosen(self, places: list[int], state: str) -> list[str]:
        rows = self.run(
            self.life.ask(
                "MATCH (m:Memory {tenant_id: $t, state: $state}) RETURN m.id AS id ORDER BY id",
                state=state,
            )
        )
        return sorted({rows[place % len(rows)]["id"] for place in places}) if rows else []

    @rule(places=PLACES)
    def archive(self, places: list[int]) -> None:
        for memory_id in self.chosen(places, "active"):
            self.run(archive_memory(self.graph, self.life.caller, memory_id, now=self.now))

    @rule(places=PLACES)
    def unarchive(self, places: list[int]) -> None:
        self.may_uncover = True
        for memory_id in self.chosen(places[:2], "archived"):
            self.run(unarchive_memory(self.graph, self.life.caller, memory_id, now=self.now))

    @precondition(lambda self: self.said)
    @rule(place=st.integers(0, 1000))
    def flag(self, place: int) -> None:
        self.flag_message(self.said[place % len(self.said)].message_id)

    def flag_message(self, message_id: str) -> None:
        self.may_uncover = True
        self.run(
            flag_message(self.graph, Templates(), self.life.caller, message_id, RULES, now=self.now)
        )
        self.said = self.run(self.transcript())

    @precondition(lambda self: self.said)
    @rule(place=st.integers(0, 1000))
    def take_back_a_flag(self, place: int) -> None:
        flagged = [message for message in self.said if message.deprioritization.is_flagged]
        if not flagged:
            return
        self.may_uncover = True
        message_id = flagged[place % len(flagged)].message_id
        source = ReversalSource.MEMORY_MANAGER
        self.run(
            undo_message(self.graph, self.life.caller, message_id, source, RULES, now=self.now)
        )
        self.said = self.run(self.transcript())

    @rule(days=st.sampled_from([1, 31]))
    def a_night_leaves_each_lost_memory_one_shape(self, days: int) -> None:
        self.run(self.life.night(self.now))  # whatever was left open is over now
        self.now += timedelta(days=days)
        run = self.run(self.life.night(self.now))
        assert (run.state, run.failures or []) == ("done", []), run
        for row in self.ask(MEMORIES):
            if row["memory"]["state"] == "archived" and not row["memory"]["flagged"]:
                assert len(row["shapes"]) == 1, row
                assert row["shapes"][0] in LIVING, row

    @invariant()
    def no_candidate_is_lost_or_consolidated_twice(self) -> None:
        """Proven without flags, which suppress candidates, by the machine this one extends."""

    @invariant()
    def a_shape_speaks_of_what_is_lost_and_of_nothing_else(self) -> None:
        for row in self.shapes():
            shape = row["shape"]
            if shape["state"] == "withdrawn":
                assert_says_nothing(row)
                continue
            assert shape["state"] in LIVING
            assert bool(row["sources"]) == (shape["drawn_by"] == "night"), row
            for source in [*row["sources"], *row["behind"]]:
                assert (source["state"], source["flagged"]) == ("archived", False), row
            assert shape["shape_memories"] == len(row["behind"]), row
            if shape["drawn_by"] == "rumour":
                assert row["linked"] == []

    @invariant()
    def what_is_lost_keeps_its_shape(self) -> None:
        """Nothing but a source that comes back or is flagged silences a shape, nor any night."""
        lost, covered = set(), set()
        for row in self.ask(MEMORIES):
            if row["memory"]["state"] == "archived" and not row["memory"]["flagged"]:
                lost.add(row["memory"]["id"])
                if any(state in LIVING for state in row["shapes"]):
                    covered.add(row["memory"]["id"])
        if not self.may_uncover:
            assert self.covered & lost <= covered
        self.covered, self.may_uncover = covered, False

    @invariant()
    def nothing_that_was_said_is_in_a_shape(self) -> None:
        memories = self.memories().values()
        said = [memory["text"] for memory in memories]
        phrases = {triple for text in said for triple in triples(text)}
        for row in self.shapes():
            if row["shape"]["state"] == "withdrawn":
                continue
            experience = row["experience"]
            fields = [row["shape"]["text"], row["shape"]["content"], experience["felt_absence"]]
            fields += [experience["connected_themes"], experience["temporal_marker"]]
            for text in fields:
                assert not triples(text) & phrases, text
                assert not set(words(text)) & TELLING, text
            for theme in words(experience["connected_themes"]):
                users = sum(theme in words(thing) for thing in THINGS)
                general = row["shape"]["drawn_by"] == "rumour"
                assert theme in EVERYDAY_WORDS or (users >= 3 and not general), theme
            vector = np.asarray(row["shape"]["embedding"])
            for memory in memories:
                assert float(vector @ np.asarray(memory["embedding"])) < 0.8, memory["text"]

    @invariant()
    def nothing_has_two_shapes_and_no_cascade_goes_on(self) -> None:
        doubled = """
            MATCH (m:Memory {tenant_id: $t})
            WHERE COUNT { (m)-[:SHAPED_INTO]->() } > 1 OR m.shape_depth > 3
            RETURN m.id AS id"""
        assert self.run(self.life.ask(doubled)) == []


def assert_says_nothing(row: dict[str, Any]) -> None:
    shape, experience = row["shape"], row["experience"]
    assert (shape["text"], shape["content"], row["linked"]) == ("", "{}", [])
    assert not {"embedding", "packed_vectors"} & shape.keys()
    said = [experience[name] for name in ("connected_themes", "felt_absence", "temporal_marker")]
    assert said == ["", "", ""]
    assert (experience["sense_of_loss"], experience["emotional_residue"]) == ("", 0.0)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def triples(text: str) -> set[tuple[str, ...]]:
    said = words(text)
    return {tuple(said[place : place + 3]) for place in range(len(said) - 2)}


@pytest.mark.timeout(7200)
@pytest.mark.spec("SHAPE-02", "SHAPE-03", "SHAPE-07", "SHAPE-11", "SHAPE-12")
async def test_any_order_keeps_one_shape_for_all_that_is_lost(
    settings: Settings, graph: Graph
) -> None:
    await run_machine(Shapes, settings, examples=10)
