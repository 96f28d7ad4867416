from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from engine.embedding.embedder import Lexicon, normalized
from engine.embedding.memory_vectors import MemoryVectors
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
        words=tuple(LEXICON.places[it] for it in given.pop("words", ())),
        heard=tuple(LEXICON.places[it] for it in given.pop("heard", ())),
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
    return {name: [it[name] for it in rows] for name in row("any")}


def weighed(asked: str, *rows: dict[str, Any]) -> dict[str, RankedHit]:
    question = parse_question(asked, people=("Sam", "Kim"), now=NOW)
    found = score_hits(
        columns(*rows), question, normalized([1, 0, 0, 0]), LEXICON, PROFILES["woven"], NOW
    )
    return {it["id"]: RankedHit(found, place, found.totals[place]) for place, it in enumerate(rows)}


def test_a_near_word_counts_less_than_the_word_and_another_counts_nothing() -> None:
    found = weighed(
        "A dog?",
        row("same", words=["dog"]),
        row("near", words=["puppy"]),
        row("far", words=["boat"]),
    )

    same, near, far = (found[it].signals["words"] for it in ("same", "near", "far"))
    assert same == pytest.approx(1.0, abs=1e-3)
    assert 0.8 < near < same
    assert far == 0


def test_the_question_it_answers_speaks_for_a_short_answer() -> None:
    found = weighed("A dog?", row("yes", heard=["dog"]), row("no", heard=["boat"]))

    assert found["yes"].signals["heard"] > 0.9
    assert found["no"].signals["heard"] == 0
    assert found["yes"].score > found["no"].score


def test_who_it_is_about_counts_when_one_is_meant() -> None:
    rows = row("sam", about="Sam"), row("kim", about="Kim")

    one, both = weighed("What did Sam buy?", *rows), weighed("Do Sam and Kim agree?", *rows)

    assert (one["sam"].signals["who"], one["kim"].signals["who"]) == (1.0, 0.0)
    assert both["sam"].signals["who"] == both["kim"].signals["who"] == 0.0


def test_the_time_it_asks_for_counts() -> None:
    then = datetime(2026, 3, 9, tzinfo=UTC)
    found = weighed("What was in March?", row("march", said=then), row("may"))

    assert (found["march"].signals["when"], found["may"].signals["when"]) == (1.0, 0.0)


def test_newer_pinned_used_important_and_longer_all_speak_for_it() -> None:
    found = weighed(
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
        assert found[other].score > found["plain"].score, other
    assert found["question"].score < found["plain"].score


def test_full_text_is_held_against_the_best_match() -> None:
    found = weighed("boat", row("best", matched=8.0), row("half", matched=4.0))

    assert (found["best"].signals["full_text"], found["half"].signals["full_text"]) == (1.0, 0.5)


def scored(*rows: tuple[dict[str, Any], float]) -> ScoredHits:
    return ScoredHits(columns(*(it for it, _ in rows)), {}, np.array([score for _, score in rows]))


def minute(id_: str, number: int = 0, **given: Any) -> dict[str, Any]:
    said = NOW + timedelta(minutes=number)
    return row(id_, said=said, **{"source_id": f"m{number}", **given})


def test_the_best_of_each_turn_comes_first_and_the_others_after() -> None:
    fact = minute("f", 2, memory_type="semantic")
    found = scored((minute("a", 1), 1.0), (minute("b", 1), 2.0), (minute("c", 2), 1.5), (fact, 1.2))

    assert [it.id for it in found.ranked()] == ["b", "c", "f", "a"]
    assert [it.id for it in found.ranked(facts_apart=True)] == ["b", "c", "f"]


def test_a_turn_is_a_message_and_not_a_time() -> None:
    same_second = (minute(it, 1, source_id=f"of {it}") for it in ("d", "e"))
    unsaid = (minute(it, 1, source_id=None) for it in ("g", "h"))
    found = scored(*((it, 1.0) for it in (*same_second, *unsaid)))

    firsts, others = found.by_turn(found.totals)

    assert (len(firsts), others) == (4, [])


def test_what_the_model_has_no_words_for_is_near_by_its_spelling() -> None:
    question = parse_question("ชาเขียว", people=(), now=NOW)
    rows = columns(
        row("tea", "ฉันชอบดื่มชาเขียวทุกเช้า", similarity=0.9),
        row("rain", "พรุ่งนี้ฝนจะตก", similarity=1.0),
    )

    found = score_hits(
        rows, question, normalized([1, 0, 0, 0]), LEXICON, PROFILES["woven"], NOW, by_spelling=True
    )

    tea, rain = found.ranked()
    assert (tea.id, tea.confidence) == ("tea", 1.0)
    assert rain.confidence < 0.2


@pytest.mark.spec("SEARCH-02")
def test_only_what_is_ahead_of_the_rest_is_lent_and_the_most_counts() -> None:
    found = scored(*((minute(f"{place:02}", place), 2.0 - place / 10) for place in range(12)))
    excess = found.ahead()

    assert [*excess] == [f"{place:02}" for place in range(10)]
    assert excess["00"] == pytest.approx(1.0)

    links = [
        ("00", "11", "PRECEDES", 0.5, None),
        ("00", "10", "PRECEDES", 0.5, 0.5),
        ("09", "11", "RELATED", 1.0, None),
        ("00", "09", "ENABLES", 0.5, None),
        ("11", "08", "PRECEDES", 1.0, None),  # it is not ahead
        ("00", "left out", "PRECEDES", 1.0, None),
    ]
    names = ("source_id", "id", "type", "strength", "further")
    found.lend(dict(zip(names, zip(*links, strict=True), strict=True)), PROFILES["woven"])

    assert {it.id: it.lent for it in found.ranked() if it.lent} == {
        "11": pytest.approx(0.8),
        "10": pytest.approx(0.64),
        "09": pytest.approx(0.3),
    }


def test_a_modifier_turns_down_what_is_lent_too() -> None:
    found = scored((minute("a", weight_modifier=0.2), 1.0))
    found.lent[0] = 0.5

    assert found.ranked()[0].score == pytest.approx(0.3)


def test_nothing_found_is_nothing_weighed() -> None:
    assert weighed("boat") == {}
    assert scored().ahead() == {}
    assert scored().ranked() == []


def test_times_are_told_to_the_microsecond() -> None:
    at = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)

    assert moment(round((at - EPOCH) / timedelta(microseconds=1))) == at
