"""What shapes say after any order of nights, rollbacks, flags, undos, archives, unarchives."""

import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, undo_message
from engine.forgetting.models import ReversalSource
from engine.memory.memories import archive_memory, unarchive_memory
from engine.settings import Settings
from engine.store.graph import Graph
from tests.graph.night.test_night_machine import Nights
from tests.lives import RULES
from tests.machines import run_machine

PLACES = st.lists(st.integers(0, 1000), min_size=1, max_size=6)
SHAPES = """
    MATCH (s:ForgottenShape {tenant_id: $t})-[:FELT_AS]->(e:ShapeExperience)
    RETURN s {.*} AS shape, e {.*} AS experience,
      [(m)-[:SHAPED_INTO]->(s) | m {.id, .state, .flagged, .text, shape: m:ForgottenShape}]
        AS sources,
      [(s)-[l:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(o) |
        o {.state, .flagged}] AS linked"""
LOST = """
    MATCH (m:Memory {tenant_id: $t, state: 'archived', flagged: false})
    WHERE NOT m:ForgottenShape
    RETURN m.id AS id, [(m)-[:SHAPED_INTO]->(s) | s.state] AS shapes"""


class Shapes(Nights):
    """Nights in which people forget, take back, archive and bring back as well."""

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
        for memory_id in self.chosen(places[:2], "archived"):
            self.run(unarchive_memory(self.graph, self.life.caller, memory_id, now=self.now))

    @precondition(lambda self: self.said)
    @rule(place=st.integers(0, 1000))
    def flag(self, place: int) -> None:
        message_id = self.said[place % len(self.said)].message_id
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
        if run.state != "done":
            return
        for row in self.run(self.life.ask(LOST)):
            assert len(row["shapes"]) == 1, row
            assert row["shapes"][0] in ("active", "archived"), row

    @invariant()
    def no_candidate_is_lost_or_consolidated_twice(self) -> None:
        """Proven without flags, which suppress candidates, by the machine this one extends."""

    @invariant()
    def a_shape_speaks_of_what_is_lost_and_of_nothing_else(self) -> None:
        for row in self.run(self.life.ask(SHAPES)):
            if row["shape"]["state"] == "withdrawn":
                assert_says_nothing(row)
                continue
            assert row["shape"]["state"] in ("active", "archived")
            assert row["sources"], row
            for source in row["sources"]:
                assert (source["state"], source["flagged"]) == ("archived", False), row
            assert not said_in_a_row(row), row

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


def said_in_a_row(row: dict[str, Any]) -> set[tuple[str, ...]]:
    """Three words in a row that a shape's themes share with one of its sources."""
    themes = triples(row["experience"]["connected_themes"])
    texts = [source["text"] for source in row["sources"] if not source["shape"]]
    return themes & {triple for text in texts for triple in triples(text)}


def triples(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[place : place + 3]) for place in range(len(words) - 2)}


@pytest.mark.timeout(7200)
@pytest.mark.spec("SHAPE-02")
async def test_any_order_keeps_one_shape_for_all_that_is_lost(
    settings: Settings, graph: Graph
) -> None:
    await run_machine(Shapes, settings, examples=10)
