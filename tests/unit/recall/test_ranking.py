from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from engine.embedding import Lexicon, MemoryVectors, normalized
from engine.recall.asked import Asked
from engine.recall.profiles import PROFILES
from engine.recall.questions import parse_question
from engine.recall.ranking import Link, RankedHit, ScoredItems, score_items, with_shapes
from engine.recall.signals import time_signal
from engine.recall.tables import ItemTable
from engine.recall.times import EPOCH, moment
from engine.text import term_hashes

NOW = datetime(2026, 5, 20, tzinfo=UTC)
SIZE = 4
# Words 0 and 1 mean nearly the same, 2 something else.
LEXICON = Lexicon.of(
    ["dog", "puppy", "boat"],
    np.array([normalized([1, 0, 0, 0]), normalized([1, 0.3, 0, 0]), normalized([0, 0, 1, 0])]),
)


def row(id_: str, text: str = "text", **given: Any) -> dict[str, Any]:
    packed_vectors = MemoryVectors(
        normalized(given.pop("vector", [1, 0, 0, 0])),
        words=tuple(LEXICON.positions[word] for word in given.pop("words", ())),
        answered_words=tuple(LEXICON.positions[word] for word in given.pop("answered", ())),
        terms=term_hashes(text),
    )
    said = given.pop("said", NOW - timedelta(days=1))
    return {
        "id": id_,
        "memory_type": "episodic",
        "state": "active",
        "flagged": False,
        "text": text,
        "packed_vectors": packed_vectors.pack(),
        "about": None,
        "said_at": round((said - EPOCH) / timedelta(microseconds=1)),
        "source_id": None,
        "importance": 5,
        "pinned": False,
        "access_count": 0,
        "weight_modifier": 1.0,
        **dict.fromkeys(
            (
                "category",
                "fact",
                "tags",
                "project",
                "valid_from",
                "valid_to",
                "conversation_id",
                "token_estimate",
                "passage",
                "shape_memories",
            )
        ),
        **given,
    }


def columns(*rows: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [values[name] for values in rows] for name in row("any")}


def table(*rows: dict[str, Any]) -> ItemTable:
    return ItemTable.of(columns(*rows), SIZE)


def scored(
    asked: str, *rows: dict[str, Any], by_spelling: bool = False, persona: str | None = None
) -> ScoredItems:
    question = parse_question(asked, people=("Sam", "Kim"), now=NOW, persona_name=persona)
    return score_items(
        [table(*rows)],
        np.ones(len(rows), bool),
        Asked.of(question, normalized([1, 0, 0, 0]), LEXICON),
        PROFILES["woven"],
        NOW,
        by_spelling=by_spelling,
    )


def ranked_by_id(asked: str, *rows: dict[str, Any], **options: Any) -> dict[str, RankedHit]:
    items = scored(asked, *rows, **options)
    return {
        values["id"]: RankedHit(items, index, items.totals[index])
        for index, values in enumerate(rows)
    }


def test_a_near_word_counts_less_than_the_word_and_another_counts_nothing() -> None:
    hits = ranked_by_id(
        "A dog?",
        row("same", words=["dog"]),
        row("near", words=["puppy"]),
        row("far", words=["boat"]),
    )

    same, near, far = (hits[id_].signals["words"] for id_ in ("same", "near", "far"))
    assert same == pytest.approx(1.0, abs=1e-3)
    assert 0.8 < near < same
    assert far == 0


def test_the_question_it_answers_speaks_for_a_short_answer() -> None:
    hits = ranked_by_id("A dog?", row("yes", answered=["dog"]), row("no", answered=["boat"]))

    assert hits["yes"].signals["answered_question"] > 0.9
    assert hits["no"].signals["answered_question"] == 0
    assert hits["yes"].score > hits["no"].score


def test_who_it_is_about_counts_when_one_is_meant() -> None:
    rows = row("sam", about="Sam"), row("kim", about="Kim")

    one, both = (
        ranked_by_id("What did Sam buy?", *rows),
        ranked_by_id("Do Sam and Kim agree?", *rows),
    )

    assert (one["sam"].signals["who"], one["kim"].signals["who"]) == (1.0, 0.0)
    assert both["sam"].signals["who"] == both["kim"].signals["who"] == 0.0


def test_the_time_it_asks_for_counts() -> None:
    then = datetime(2026, 3, 9, tzinfo=UTC)
    hits = ranked_by_id("What was in March?", row("march", said=then), row("may"))

    assert (hits["march"].signals["when"], hits["may"].signals["when"]) == (1.0, 0.0)


def test_newer_pinned_used_and_important_all_speak_for_it() -> None:
    then = NOW - timedelta(days=90)
    hits = ranked_by_id(
        "boat",
        row("plain", said=then),
        row("new", said=NOW),
        row("pinned", pinned=True, said=then),
        row("used", access_count=50, said=then),
        row("important", importance=10, said=then),
    )

    for other in ("new", "pinned", "used", "important"):
        assert hits[other].score > hits["plain"].score, other


def test_what_the_persona_said_counts_less_unless_it_is_asked_for() -> None:
    rows = row("ada", about="Ada"), row("sam", about="Sam")

    def scores(asked: str) -> tuple[float, float]:
        hits = ranked_by_id(asked, *rows, persona="Ada")
        return hits["ada"].score, hits["sam"].score

    of_ada, of_sam = scores("How can I paint a boat?")
    assert of_ada < of_sam
    of_ada, of_sam = scores("Which boat did you recommend?")
    assert of_ada > of_sam


def test_a_standing_item_comes_up_for_help_and_not_for_what_was_said() -> None:
    rows = row("instruction", category="instruction"), row("other")

    for asked, is_first in (("Can you help me with a boat?", True), ("Did I see a boat?", False)):
        hits = ranked_by_id(asked, *rows)
        assert bool(hits["instruction"].score > hits["other"].score) == is_first
        assert (hits["instruction"].standing > 0) == is_first


def test_of_what_is_asked_for_lately_the_newer_comes_first() -> None:
    old, new = NOW - timedelta(days=300), NOW - timedelta(days=100)
    rows = row("new", said=new), row("old", said=old, importance=6)

    plain = ranked_by_id("Which boat did Sam see?", *rows)
    newest = ranked_by_id("Which boat did Sam see most recently?", *rows)
    assert plain["old"].score > plain["new"].score
    assert newest["new"].score > newest["old"].score


def test_a_longer_text_scores_higher_up_to_the_length_of_a_passage() -> None:
    hits = ranked_by_id(
        "A boat?",
        row("word", token_estimate=2),
        row("sentence", token_estimate=20),
        row("passage", token_estimate=120),
        row("page", token_estimate=900),
        row("instruction", token_estimate=2, category="instruction"),
    )

    length = {id_: hit.signals["length"] for id_, hit in hits.items()}
    assert 0 < length["word"] < length["sentence"] < length["passage"] == length["page"] == 1
    assert length["instruction"] == 1


def test_an_item_scores_the_same_whatever_else_was_found() -> None:
    rows = [row(f"{place}", text, words=["dog"]) for place, text in enumerate(["a dog", "a boat"])]

    alone = ranked_by_id("A dog on a boat?", rows[0])["0"]
    among_others = ranked_by_id("A dog on a boat?", *rows)["0"]

    assert alone.signals == among_others.signals
    assert alone.score == among_others.score


def test_what_is_added_to_a_search_scores_as_if_found_at_once() -> None:
    rows = [
        row("one", "a dog", words=["dog"], category="instruction"),
        row("two", "a boat", vector=[0.5, 1, 0, 0], weight_modifier=0.5),
    ]
    asked = "Can you help me with a dog?"

    together, added = scored(asked, *rows), scored(asked, rows[0]).with_more(scored(asked, rows[1]))

    expected = [(hit.id, hit.score, hit.signals) for hit in together.ranked(9)]
    assert [(hit.id, hit.score, hit.signals) for hit in added.ranked(9)] == expected
    assert together.with_more(scored(asked)) is together


def test_a_term_counts_more_in_a_short_text_and_a_rare_one_counts_more() -> None:
    hits = ranked_by_id(
        "Which dog, Grimwald?",
        row("short", "the dog"),
        row("long", "the dog and " + "much else " * 30),
        row("rare", "the Grimwald"),
        row("other", "the boat"),
    )

    match = {id_: hit.signals["full_text"] for id_, hit in hits.items()}
    assert 1 > match["rare"] > match["short"] > match["long"] > match["other"] == 0


def test_people_speak_of_things_when_they_happen_or_some_days_later() -> None:
    (period,) = parse_question("What was in March 2026?", people=(), now=NOW).periods
    days = [(2, 28), (3, 1), (3, 31), (4, 3), (4, 20), (5, 15)]
    said_at = [
        (datetime(2026, *day, 12, tzinfo=UTC) - EPOCH) / timedelta(microseconds=1) for day in days
    ]

    assert time_signal([period], np.array(said_at)).tolist() == [0.0, 1.0, 1.0, 0.7, 0.3, 0.0]
    assert time_signal([], np.array(said_at)).tolist() == [0.0] * 6


def with_scores(*rows: tuple[dict[str, Any], float]) -> ScoredItems:
    scores = np.array([score for _, score in rows])
    items = table(*(values for values, _ in rows))
    return ScoredItems([items], {}, scores, np.ones(len(rows), bool))


def minute(id_: str, number: int = 0, **given: Any) -> dict[str, Any]:
    said = NOW + timedelta(minutes=number)
    return row(id_, said=said, **{"source_id": f"m{number}", **given})


def test_the_best_of_each_turn_comes_first_and_the_others_after() -> None:
    fact = minute("f", 2, memory_type="semantic")
    hits = with_scores(
        (minute("a", 1), 1.0), (minute("b", 1), 2.0), (minute("c", 2), 1.5), (fact, 1.2)
    )

    assert [hit.id for hit in hits.ranked(99)] == ["b", "c", "f", "a"]
    assert [hit.id for hit in hits.ranked(9, facts_apart=True)] == ["b", "c", "f"]


def test_a_turn_is_a_message_and_not_a_time() -> None:
    same_second = (minute(id_, 1, source_id=f"of {id_}") for id_ in ("d", "e"))
    without_source = (minute(id_, 1, source_id=None) for id_ in ("g", "h"))
    hits = with_scores(*((values, 1.0) for values in (*same_second, *without_source)))

    best, others = hits.best_of_turns(hits.totals, 9)

    assert (len(best), others) == (4, [])


def test_what_the_model_has_no_words_for_is_near_by_its_spelling() -> None:
    hits = scored(
        "ชาเขียว",
        row("tea", "ฉันชอบดื่มชาเขียวทุกเช้า"),
        row("rain", "พรุ่งนี้ฝนจะตก"),
        by_spelling=True,
    )

    tea, rain = hits.ranked(99)
    assert (tea.id, tea.confidence) == ("tea", 1.0)
    assert rain.confidence < 0.2


@pytest.mark.spec("SEARCH-02")
def test_only_what_is_ahead_of_the_rest_spreads_and_the_largest_amount_counts() -> None:
    hits = with_scores(*((minute(f"{place:02}", place), 2.0 - place / 10) for place in range(12)))
    leads = hits.leads()

    assert [*leads] == [f"{place:02}" for place in range(10)]
    assert leads["00"] == pytest.approx(1.0)

    links = [
        ("00", "11", "PRECEDES", 0.5, None),
        ("00", "10", "PRECEDES", 0.5, 0.5),
        ("09", "11", "RELATED", 1.0, None),
        ("00", "09", "ENABLES", 0.5, None),
        ("11", "08", "PRECEDES", 1.0, None),  # it is not ahead
        ("00", "left out", "PRECEDES", 1.0, None),
    ]
    hits.spread_along(leads, [Link(*link) for link in links], PROFILES["woven"])

    assert {hit.id: hit.spread for hit in hits.ranked(99) if hit.spread} == {
        "11": pytest.approx(0.8),
        "10": pytest.approx(0.64),
        "09": pytest.approx(0.3),
    }


def test_a_modifier_turns_down_what_spreads_too() -> None:
    hits = with_scores((minute("a", weight_modifier=0.2), 1.0))
    hits.spread[0] = 0.5

    assert hits.ranked(99)[0].score == pytest.approx(0.3)


def test_nothing_found_is_nothing_ranked_by_id() -> None:
    assert ranked_by_id("boat") == {}
    assert with_scores().leads() == {}
    assert with_scores().ranked(9) == []


def test_times_are_told_to_the_microsecond() -> None:
    at = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)

    assert moment(round((at - EPOCH) / timedelta(microseconds=1))) == at


@pytest.mark.parametrize(
    ("scores", "shapes", "expected"),
    [
        # The first is far ahead of the tenth: one place.
        ([3.0] + [1.0] * 11, [0.9, 0.9, 0.9, 0.9], "a b c d e f g h i 1"),
        # Nothing stands out: three, and no more than there are.
        ([1.0] * 12, [0.9, 0.9, 0.9, 0.9], "a b c d e f g 1 2 3"),
        ([1.0] * 12, [0.9], "a b c d e f g h i 1"),
        # One always, however weak; the others only near the hit whose place they take.
        ([1.0] * 12, [0.0, 0.0, 0.0], "a b c d e f g h i 1"),
        ([1.0] * 12, [0.9, 0.3, 0.2], "a b c d e f g h 1 2"),
        ([1.0] * 12, [], "a b c d e f g h i j"),
        # There is room: nothing that lives goes.
        ([3.0, 1.0], [0.1, 0.1], "a b 1 2"),
    ],
)
@pytest.mark.spec("SHAPE-01")
def test_shapes_have_the_last_of_the_first_ten_places(
    scores: list[float], shapes: list[float], expected: str
) -> None:
    names = [*"abcdefghijkl"[: len(scores)], *"1234"[: len(shapes)]]
    living = list(range(len(scores)))
    totals = np.array(scores + shapes)

    ordered = with_shapes(living, list(range(len(scores), len(names))), totals)

    assert " ".join(names[index] for index in ordered[:10]) == expected
    assert sorted(ordered) == list(range(len(names)))
