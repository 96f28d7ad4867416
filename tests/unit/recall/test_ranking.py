from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from engine.embedding import Lexicon, MemoryVectors, normalized
from engine.recall.questions import parse_question
from engine.recall.ranking import EPOCH, PROFILES, RankedHit, ScoredHits, moment, score_hits

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
    )
    said = given.pop("said", NOW - timedelta(days=1))
    return {
        "id": id_,
        "memory_type": "episodic",
        "text": text,
        "packed_vectors": packed_vectors.pack(),
        "about": None,
        "said_at": round((said - EPOCH) / timedelta(microseconds=1)),
        "source_id": None,
        "importance": 5,
        "pinned": False,
        "access_count": 0,
        "weight_modifier": 1.0,
        "similarity": 0.0,
        "matched": 0.0,
        **given,
    }


def columns(*rows: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [values[name] for values in rows] for name in row("any")}


def ranked_by_id(asked: str, *rows: dict[str, Any]) -> dict[str, RankedHit]:
    question = parse_question(asked, people=("Sam", "Kim"), now=NOW)
    hits = score_hits(
        columns(*rows), question, normalized([1, 0, 0, 0]), LEXICON, PROFILES["woven"], NOW
    )
    return {
        values["id"]: RankedHit(hits, index, hits.totals[index])
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


def test_newer_pinned_used_important_and_longer_all_speak_for_it() -> None:
    hits = ranked_by_id(
        "boat",
        row("plain", said=NOW - timedelta(days=90)),
        row("new", said=NOW),
        row("pinned", pinned=True, said=NOW - timedelta(days=90)),
        row("used", access_count=50, said=NOW - timedelta(days=90)),
        row("important", importance=10, said=NOW - timedelta(days=90)),
        row("long", "text " * 50, said=NOW - timedelta(days=90)),
        row("question", "text" + "?", said=NOW - timedelta(days=90)),
    )

    for other in ("new", "pinned", "used", "important", "long"):
        assert hits[other].score > hits["plain"].score, other
    assert hits["question"].score < hits["plain"].score


def test_full_text_is_held_against_the_best_match() -> None:
    hits = ranked_by_id("boat", row("best", matched=8.0), row("half", matched=4.0))

    assert (hits["best"].signals["full_text"], hits["half"].signals["full_text"]) == (1.0, 0.5)


def with_scores(*rows: tuple[dict[str, Any], float]) -> ScoredHits:
    return ScoredHits(
        columns(*(values for values, _ in rows)), {}, np.array([score for _, score in rows])
    )


def minute(id_: str, number: int = 0, **given: Any) -> dict[str, Any]:
    said = NOW + timedelta(minutes=number)
    return row(id_, said=said, **{"source_id": f"m{number}", **given})


def test_the_best_of_each_turn_comes_first_and_the_others_after() -> None:
    fact = minute("f", 2, memory_type="semantic")
    hits = with_scores(
        (minute("a", 1), 1.0), (minute("b", 1), 2.0), (minute("c", 2), 1.5), (fact, 1.2)
    )

    assert [hit.id for hit in hits.ranked()] == ["b", "c", "f", "a"]
    assert [hit.id for hit in hits.ranked(facts_apart=True)] == ["b", "c", "f"]


def test_a_turn_is_a_message_and_not_a_time() -> None:
    same_second = (minute(id_, 1, source_id=f"of {id_}") for id_ in ("d", "e"))
    without_source = (minute(id_, 1, source_id=None) for id_ in ("g", "h"))
    hits = with_scores(*((values, 1.0) for values in (*same_second, *without_source)))

    best, others = hits.best_of_turns(hits.totals)

    assert (len(best), others) == (4, [])


def test_what_the_model_has_no_words_for_is_near_by_its_spelling() -> None:
    question = parse_question("ชาเขียว", people=(), now=NOW)
    rows = columns(
        row("tea", "ฉันชอบดื่มชาเขียวทุกเช้า", similarity=0.9),
        row("rain", "พรุ่งนี้ฝนจะตก", similarity=1.0),
    )

    hits = score_hits(
        rows, question, normalized([1, 0, 0, 0]), LEXICON, PROFILES["woven"], NOW, by_spelling=True
    )

    tea, rain = hits.ranked()
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
    names = ("source_id", "id", "type", "strength", "further")
    hits.spread_along(dict(zip(names, zip(*links, strict=True), strict=True)), PROFILES["woven"])

    assert {hit.id: hit.spread for hit in hits.ranked() if hit.spread} == {
        "11": pytest.approx(0.8),
        "10": pytest.approx(0.64),
        "09": pytest.approx(0.3),
    }


def test_a_modifier_turns_down_what_spreads_too() -> None:
    hits = with_scores((minute("a", weight_modifier=0.2), 1.0))
    hits.spread[0] = 0.5

    assert hits.ranked()[0].score == pytest.approx(0.3)


def test_nothing_found_is_nothing_ranked_by_id() -> None:
    assert ranked_by_id("boat") == {}
    assert with_scores().leads() == {}
    assert with_scores().ranked() == []


def test_times_are_told_to_the_microsecond() -> None:
    at = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)

    assert moment(round((at - EPOCH) / timedelta(microseconds=1))) == at
