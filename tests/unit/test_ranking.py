from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from engine.embedding import Lexicon, unit
from engine.facets import Facets
from engine.questions import understand
from engine.ranking import EPOCH, PROFILES, Find, ahead, lend, moment, one_each, weigh

NOW = datetime(2026, 5, 20, tzinfo=UTC)
SIZE = 4
# Words 0 and 1 mean nearly the same, 2 something else.
LEXICON = Lexicon.of(
    ["dog", "puppy", "boat"],
    np.array([unit([1, 0, 0, 0]), unit([1, 0.3, 0, 0]), unit([0, 0, 1, 0])]),
)


def row(id_: str, text: str = "text", **given: Any) -> dict[str, Any]:
    facets = Facets(
        unit(given.pop("vector", [1, 0, 0, 0])),
        words=tuple(LEXICON.places[it] for it in given.pop("words", ())),
        heard=tuple(LEXICON.places[it] for it in given.pop("heard", ())),
    )
    said = given.pop("said", NOW - timedelta(days=1))
    return {
        "id": id_,
        "text": text,
        "facets": facets.pack(),
        "about": None,
        "said_at": round((said - EPOCH) / timedelta(microseconds=1)),
        "conversation_id": "monday",
        "importance": 5,
        "pinned": False,
        "access_count": 0,
        "weight_modifier": 1.0,
        **given,
    }


def weighed(asked: str, *rows: dict[str, Any], best_match: float = 1.0) -> dict[str, Find]:
    question = understand(asked, people=("Sam", "Kim"), now=NOW)
    vector = unit([1, 0, 0, 0])
    profile = PROFILES["woven"]
    finds, _ = weigh(rows, question, vector, LEXICON, profile, NOW, best_match=best_match)
    return {find.id: find for find in finds}


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
    found = weighed("boat", row("best", matched=8.0), row("half", matched=4.0), best_match=8.0)

    assert (found["best"].signals["full_text"], found["half"].signals["full_text"]) == (1.0, 0.5)


def find(id_: str, score: float, said: int = 0, **given: Any) -> Find:
    stored = {"id": id_, "conversation_id": "monday", "said_at": said, "weight_modifier": 1.0}
    return Find({**stored, **given}, {}, score)


def test_of_what_was_said_together_the_best_is_told() -> None:
    finds = [find("a", 1.0, 1), find("b", 2.0, 1), find("c", 1.5, 2)]

    assert [it.id for it in one_each(finds)] == ["b", "c"]
    lone = [find("d", 1.0, 1, conversation_id=None), find("e", 1.0, 1, conversation_id=None)]
    assert [it.id for it in one_each(lone)] == ["d", "e"]


@pytest.mark.spec("SEARCH-02")
def test_only_what_is_ahead_of_the_rest_is_lent_and_the_most_counts() -> None:
    finds = [find(f"{place:02}", 2.0 - place / 10, place) for place in range(12)]
    excess = ahead(finds)

    assert [*excess] == [f"{place:02}" for place in range(10)]
    assert excess["00"] == pytest.approx(1.0)

    links = [
        {"source_id": "00", "id": "11", "type": "PRECEDES", "strengths": [0.5]},
        {"source_id": "00", "id": "10", "type": "PRECEDES", "strengths": [0.5, 0.5]},
        {"source_id": "09", "id": "11", "type": "RELATED", "strengths": [1.0]},
        {"source_id": "00", "id": "09", "type": "ENABLES", "strengths": [0.5]},
    ]
    lend(finds, links, excess, PROFILES["woven"])

    lent = {it.id: it.lent for it in finds if it.lent}
    assert lent == {
        "11": pytest.approx(0.8),
        "10": pytest.approx(0.64),
        "09": pytest.approx(0.3),
    }


def test_a_modifier_turns_down_what_is_lent_too() -> None:
    assert Find(find("a", 1.0, weight_modifier=0.2).row, {}, 1.0, lent=0.5).total == pytest.approx(
        0.3
    )


def test_nothing_found_is_nothing_weighed() -> None:
    assert weighed("boat") == {}
    assert ahead([]) == {}


def test_times_are_told_to_the_microsecond() -> None:
    at = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)

    assert moment(round((at - EPOCH) / timedelta(microseconds=1))) == at
