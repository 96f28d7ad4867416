"""A persona in memory: whatever changes in whatever order, it ranks as one that was just loaded."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine.embedding import Lexicon, MemoryVectors, normalized
from engine.recall.asked import Asked
from engine.recall.hot_persona import CONFIRM_SECONDS, LOADED_STATES, TAIL_ROWS, HotPersona
from engine.recall.profiles import PROFILES
from engine.recall.questions import parse_question
from engine.recall.search import Filters, Search
from engine.recall.tables import CONTENT_COLUMNS, STATE_COLUMNS, ItemTable, QuantizedQuestion
from engine.recall.times import EPOCH
from engine.text import term_hashes

NOW = datetime(2026, 5, 20, tzinfo=UTC)
SIZE = 4
WORDS = ("dog", "puppy", "boat", "tea")
LEXICON = Lexicon.of(WORDS, np.array([normalized(row) for row in np.eye(4) + 0.2]))
NAMES = ("id", *STATE_COLUMNS, *CONTENT_COLUMNS)
NO_LINKS: dict[str, list[Any]] = {"source_id": [], "id": [], "type": [], "strength": []}


def item(id_: str, words: Iterable[str] = ("dog",), **given: Any) -> dict[str, Any]:
    """A stored item as statements return it."""
    text = " ".join(words) or "nothing"
    numbers = [1.0 + text.count(word) for word in WORDS]
    vectors = MemoryVectors(
        normalized(numbers),
        words=tuple(LEXICON.positions[word] for word in dict.fromkeys(words)),
        terms=term_hashes(text),
    )
    return {
        **dict.fromkeys(NAMES),
        "id": id_,
        "memory_type": "episodic",
        "state": "active",
        "flagged": False,
        "importance": 5,
        "pinned": False,
        "access_count": 0,
        "weight_modifier": 1.0,
        "text": text,
        "packed_vectors": vectors.pack(),
        "said_at": round((NOW - timedelta(days=1) - EPOCH) / timedelta(microseconds=1)),
        **given,
    }


def columns(items: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    rows = list(items)
    return {name: [row[name] for row in rows] for name in NAMES}


def loaded(items: Iterable[dict[str, Any]]) -> HotPersona:
    persona = HotPersona(SIZE, 0, 0)
    kept = [row for row in items if row["state"] in LOADED_STATES]
    if kept:
        persona.add_loaded(ItemTable.of(columns(kept), SIZE))
    return persona


def search(asked: str = "a dog?", **options: Any) -> Search:
    question = parse_question(asked, people=("Sam",), now=NOW)
    vector = normalized([1.0 + asked.count(word) for word in WORDS])
    options = {"filters": Filters(), "start": 0, "limit": 50, "threshold": 0.0, **options}
    return Search(
        tenant_id="t",
        persona_id="p",
        asked=Asked.of(question, vector, LEXICON),
        profile=PROFILES["woven"],
        at=NOW,
        facts_apart=False,
        by_spelling=False,
        **options,
    )


def ranked(persona: HotPersona, **options: Any) -> list[tuple[str, float]]:
    hits, _ = persona.rank(search(**options))
    return [(hit.id, round(hit.score, 9)) for hit in hits]


def links(*rows: tuple[str, str, str, float]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(NO_LINKS)}


class ChangingPersona(RuleBasedStateMachine):
    """Items are added, edited, changed and deleted; memory follows by what changed alone."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: dict[str, dict[str, Any]] = {}
        self.stored_links: dict[tuple[str, str, str], float] = {}
        self.persona = loaded([])

    def tell(self, *ids: str, content: bool) -> None:
        changed = columns(self.stored[id_] for id_ in ids if id_ in self.stored)
        if not content:
            changed |= {name: [None] * len(changed["id"]) for name in ("text", "packed_vectors")}
        of_changed = [
            (one, other, type_, strength)
            for (source, target, type_), strength in self.stored_links.items()
            for one, other in ((source, target), (target, source))
            if one in ids
        ]
        unknown = self.persona.apply(ids, changed, links(*of_changed))
        self.persona.add_missing(columns(self.stored[id_] for id_ in unknown))

    @rule(
        id_=st.sampled_from("abcdefgh"),
        words=st.lists(st.sampled_from(WORDS), max_size=4),
        state=st.sampled_from((*LOADED_STATES, "archived", "removed")),
        flagged=st.booleans(),
    )
    def write(self, id_: str, words: list[str], state: str, flagged: bool) -> None:
        self.stored[id_] = item(id_, words, state=state, flagged=flagged)
        self.tell(id_, content=True)

    @rule(id_=st.sampled_from("abcdefgh"), text=st.sampled_from((None, "")))
    def read_in_part_and_then_whole(self, id_: str, text: str | None) -> None:
        """A transaction is just taking its vectors away, or setting them."""
        if id_ in self.stored:
            in_part = {**self.stored[id_], "text": text, "packed_vectors": None}
            unknown = self.persona.apply([id_], columns([in_part]), NO_LINKS)
            self.persona.add_missing(columns(in_part for _ in unknown))
            self.tell(id_, content=True)

    @rule(
        id_=st.sampled_from("abcdefgh"),
        state=st.sampled_from((*LOADED_STATES, "archived", "merged")),
        flagged=st.booleans(),
        weight=st.sampled_from((0.2, 1.0)),
        about=st.sampled_from((None, "Sam")),
    )
    def change(self, id_: str, state: str, flagged: bool, weight: float, about: str | None) -> None:
        if id_ in self.stored:
            self.stored[id_] |= {
                "state": state,
                "flagged": flagged,
                "weight_modifier": weight,
                "about": about,
            }
            self.tell(id_, content=False)

    @rule(id_=st.sampled_from("abcdefgh"))
    def delete(self, id_: str) -> None:
        self.stored.pop(id_, None)
        gone = [key for key in self.stored_links if id_ in key[:2]]
        for key in gone:
            del self.stored_links[key]
        self.tell(id_, *{other for key in gone for other in key[:2]}, content=False)

    @rule(
        ends=st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=2, unique=True),
        type_=st.sampled_from(("PRECEDES", "RELATED")),
        strength=st.sampled_from((0.0, 0.3, 0.9)),
    )
    def link(self, ends: list[str], type_: str, strength: float) -> None:
        source, target = ends
        if source in self.stored and target in self.stored:
            self.stored_links[source, target, type_] = strength
            self.tell(source, target, content=False)

    @invariant()
    def ranks_as_one_that_was_just_loaded(self) -> None:
        fresh = loaded(self.stored.values())
        fresh.add_links(links(*((*ends, strength) for ends, strength in self.stored_links.items())))

        assert ranked(self.persona) == ranked(fresh)
        assert ranked(self.persona, threshold=1.1) == ranked(fresh, threshold=1.1)
        assert len(self.persona) >= len((fresh.tables and fresh.tables[0].ids) or [])


TestChangingPersona = ChangingPersona.TestCase
TestChangingPersona.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_many_new_items_fill_tables_until_a_new_load_is_due() -> None:
    persona = loaded([item("first")])

    for number in range(7 * TAIL_ROWS):
        id_ = f"new {number:04}"
        assert persona.apply([id_], columns([item(id_)]), NO_LINKS) == []

    assert len(persona) == 7 * TAIL_ROWS + 1
    assert persona.is_fragmented


def test_an_item_that_was_read_in_part_is_in_no_table() -> None:
    in_part = item("in part", packed_vectors=None, text="")
    persona = loaded([item("whole"), in_part])

    together = [{**in_part, "id": "another"}, item("boat", ["boat"])]
    persona.apply(["another", "boat"], columns(together), NO_LINKS)
    persona.apply(["tea"], columns([item("tea", ["tea"])]), NO_LINKS)

    whole = [item("whole"), item("boat", ["boat"]), item("tea", ["tea"])]
    assert ranked(persona, asked="a boat?") == ranked(loaded(whole), asked="a boat?")


def test_a_change_that_cannot_be_applied_leaves_the_tables_as_they_were() -> None:
    persona = loaded([item("a")])
    persona.apply(["b"], columns([item("b")]), NO_LINKS)

    with pytest.raises(KeyError):
        persona.apply(["c"], columns([item("c", memory_type="unheard of")]), NO_LINKS)
    persona.apply(["d"], columns([item("d")]), NO_LINKS)

    assert {id_ for id_, _ in ranked(persona)} == {"a", "b", "d"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"plain", "tagged", "past"}),
        (Filters(tags=("x",)), {"tagged"}),
        (Filters(project="p"), {"tagged"}),
        (Filters(categories=("fact",)), {"past"}),
        (Filters(include_pending=False), {"plain", "tagged"}),
        (Filters(to_at=NOW - timedelta(days=5)), {"past"}),
        (Filters(from_at=NOW - timedelta(days=5)), {"plain", "tagged"}),
    ],
)
def test_filters_hold_in_memory(filters: Filters, expected: set[str]) -> None:
    long_ago = round((NOW - timedelta(days=9) - EPOCH) / timedelta(microseconds=1))
    persona = loaded(
        [
            item("plain"),
            item("tagged", tags=["x", "y"], project="p"),
            item("past", state="pending", category="fact", said_at=long_ago),
            item("closed", valid_to=long_ago),
            item("future", said_at=round((NOW - EPOCH) / timedelta(microseconds=1)) + 10**9),
            item("flagged", flagged=True),
        ]
    )

    assert {id_ for id_, _ in ranked(persona, filters=filters)} == expected


def test_flagged_items_come_up_only_when_nothing_else_is_near() -> None:
    persona = loaded([item("near", ["dog"], flagged=True), item("far", ["boat", "boat", "boat"])])

    with_a_near_hit, _ = persona.rank(search(threshold=0.5))
    without, fallback = persona.rank(search(threshold=0.98))

    assert [hit.id for hit in with_a_near_hit] == ["far"]
    assert ([hit.id for hit in without], fallback) == (["near", "far"], True)


def test_what_is_set_aside_stays_out_however_short_the_page() -> None:
    better = [
        item(f"better {place}", ["boat", "boat", "dog"], importance=10, pinned=True, about="Sam")
        for place in range(4)
    ]
    near = item("near", ["dog"], importance=1)
    persona = loaded([*better, near, item("flagged", ["dog"], flagged=True)])

    for limit in (1, 2, 10):
        hits, fallback = persona.rank(search("Sam's dog?", threshold=0.98, limit=limit))
        assert hits[0].id == "better 0"
        assert not fallback


def test_similarities_are_those_of_the_best_vector_the_one_in_context_and_the_whole() -> None:
    question = normalized([1.0, 0.5, 0.0, 0.0])
    many = [
        MemoryVectors(normalized([1, 0, 0, 0]), sentences=(normalized([1, 0.5, 0, 0]),)),
        MemoryVectors(normalized([0, 1, 0, 0]), in_context=normalized([1, 0.5, 0, 0])),
        MemoryVectors(normalized([0, 0, 1, 0])),
    ]
    rows = [{**item(str(place)), "packed_vectors": each.pack()} for place, each in enumerate(many)]

    best, in_context, whole = ItemTable.of(columns(rows), SIZE).similarities(
        QuantizedQuestion.of(question)
    )

    near = float(question[0])
    assert best == pytest.approx([1.0, question[1], 0.0], abs=0.01)
    assert in_context == pytest.approx([near, 1.0, 0.0], abs=0.01)
    assert whole == pytest.approx([near, question[1], 0.0], abs=0.01)


def test_what_differs_from_the_store_is_noticed() -> None:
    persona = loaded([item("a"), item("b")])

    def checked(id_: str = "a", **given: Any) -> list[list[Any]]:
        stored = item(id_, **given)
        return [
            [stored[name] for name in ("id", "state", "flagged", "valid_to", "weight_modifier")]
        ]

    assert not persona.differs(["a"], checked())
    for change in ({"flagged": True}, {"state": "archived"}, {"weight_modifier": 0.2}):
        assert persona.differs(["a"], checked(**change))
    assert persona.differs(["unknown"], checked("unknown"))
    assert persona.differs(["a", "deleted"], checked())


@given(st.lists(st.integers(0, 3), max_size=8))
def test_every_change_is_read_a_second_time_after_a_second(steps: list[int]) -> None:
    persona, stored, now = HotPersona(SIZE, 0, 0), 0, 100.0
    first_seen: dict[int, float] = {}
    read_late = {0}
    for new in steps:
        stored += new
        now += 0.4
        since = persona.read_from(now)
        for revision in range(since + 1, stored + 1):
            first_seen.setdefault(revision, now)
            if now - first_seen[revision] >= CONFIRM_SECONDS:
                read_late.add(revision)
        persona.has_read(since, stored, asked_at=now, now=now)

    now += CONFIRM_SECONDS
    assert persona.revision == stored
    assert {*range(stored + 1)} <= read_late | {*range(persona.read_from(now) + 1, stored + 1)}
