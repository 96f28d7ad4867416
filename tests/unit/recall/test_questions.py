import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.recall.questions import Period, cut_names, parse_question, periods_in

NOW = datetime(2026, 11, 16, 15, 30, tzinfo=UTC)  # a Monday
PEOPLE = ("Sam", "Maria Lopez", "Will", "Ada")


def day(month: int, day_: int, year: int = 2026) -> datetime:
    return datetime(year, month, day_, tzinfo=UTC)


@pytest.mark.parametrize(
    ("asked", "about", "people"),
    [
        ("Where does Sam live now?", "Where does live now?", {"Sam"}),
        ("What is Sam's dog called?", "What is dog called?", {"Sam"}),
        ("What did Maria cook?", "What did cook?", {"Maria Lopez"}),
        ("What did Maria Lopez cook?", "What did cook?", {"Maria Lopez"}),
        ("what did maria cook", "what did cook", {"Maria Lopez"}),
        ("What will the weather be?", "What will the weather be?", set()),
        ("What does Will bake?", "What does bake?", {"Will"}),
        ("Do Sam and Will know Porto?", "Do and know Porto?", {"Sam", "Will"}),
    ],
)
def test_names_are_kept_apart_from_what_is_asked(asked: str, about: str, people: set[str]) -> None:
    question = parse_question(asked, people=PEOPLE, now=NOW)

    assert question.text == about
    assert question.people == people


def test_a_name_alone_is_a_question_too() -> None:
    question = parse_question("Sam?", people=PEOPLE, now=NOW)

    assert question.text == "Sam?"
    assert question.people == {"Sam"}


def test_i_is_who_asks_and_you_is_who_is_asked() -> None:
    mine = parse_question(
        "What did I say about my sister?",
        people=PEOPLE,
        now=NOW,
        asked_by="Sam",
        persona_name="Ada",
    )
    yours = parse_question(
        "What is your favourite tea?", people=PEOPLE, now=NOW, asked_by="Sam", persona_name="Ada"
    )
    named = parse_question(
        "What did I tell Will?", people=PEOPLE, now=NOW, asked_by="Sam", persona_name="Ada"
    )

    assert mine.people == {"Sam"}
    assert yours.people == {"Ada"}
    assert named.people == {"Will"}


def test_the_words_are_those_that_say_what_it_is_about() -> None:
    question = parse_question("What kind of tea does Sam's sister drink?", people=PEOPLE, now=NOW)

    assert question.words == ("tea", "sister", "drink")
    assert parse_question("What is it?", people=PEOPLE, now=NOW).words == ("what", "is", "it")


@pytest.mark.parametrize(
    ("asked", "period"),
    [
        ("on 2026-05-02", (day(5, 2), day(5, 3))),
        ("on May 2, 2025", (day(5, 2, 2025), day(5, 3, 2025))),
        ("on the 2nd of May 2025", (day(5, 2, 2025), day(5, 3, 2025))),
        ("in May", (day(5, 1), day(6, 1))),
        ("in December", (day(12, 1, 2025), day(1, 1))),
        ("in March 2024", (day(3, 1, 2024), day(4, 1, 2024))),
        ("in 2024", (day(1, 1, 2024), day(1, 1, 2025))),
        ("yesterday", (day(11, 15), day(11, 16))),
        ("today", (day(11, 16), day(11, 17))),
        ("on Friday", (day(11, 13), day(11, 14))),
        ("last Monday", (day(11, 9), day(11, 10))),
        ("last week", (day(11, 9), day(11, 17))),
        ("last night", (day(11, 15), day(11, 17))),
        ("10 days ago", (day(11, 3, 2026).replace(hour=12), day(11, 8, 2026).replace(hour=12))),
    ],
)
def test_times_are_seen_from_now(asked: str, period: tuple[datetime, datetime]) -> None:
    assert list(periods_in(f"What happened {asked}?", NOW)) == [Period(*period)]


@pytest.mark.parametrize(
    "asked", ["What may it be?", "Did they march?", "on May 42", "an infinity ago", "5 apples"]
)
def test_what_is_no_time_is_none(asked: str) -> None:
    assert list(periods_in(asked, NOW)) == []


def named_by_patterns(text: str, people: list[str]) -> set[str]:
    """Whoever is named, one pattern a person: slow and plain."""
    flags = re.IGNORECASE if text == text.lower() else 0
    named = set()
    for name in people:
        first, *rest = map(re.escape, name.split())
        whole = "".join(rf"\s+{part}" for part in rest)
        if re.search(rf"\b{first}(?:{whole})?(?:['`]s)?(?!\w)", text, flags):
            named.add(name)
    return named


PARTS = st.sampled_from(
    ["Sam", "sam", "Will", "Jean-Luc", "Jean", "O'Neil", "Sammy", "李明", "Zoë"]
)
NAMES = st.lists(PARTS, min_size=1, max_size=3).map(" ".join)
GLUE = st.sampled_from([" ", "  ", "'s ", "`s", ", ", "", "-", "'sx "])
ASKED = st.lists(st.tuples(PARTS, GLUE), max_size=6).map(
    lambda pairs: "".join(word + glue for word, glue in pairs)
)


@given(ASKED, st.lists(NAMES, max_size=5), st.booleans())
def test_people_are_found_as_by_a_pattern_for_each_of_them(
    asked: str, people: list[str], lowercase: bool
) -> None:
    text = asked.lower() if lowercase else asked

    assert cut_names(text, people)[0] == named_by_patterns(text, people)


@pytest.mark.parametrize(
    ("asked", "words", "people", "start", "end"),
    [
        ("Wo wohnt Ana?", ("wohnt",), {"Ana"}, None, None),
        ("Was habe ich im März gemacht?", ("märz", "gemacht"), {"Sam"}, (3, 1), (4, 1)),
        ("Was war letzte Woche los?", None, set(), (5, 11), (5, 21)),
        ("Wohin bin ich vor drei Wochen gefahren?", None, {"Sam"}, (4, 24), (5, 3)),
        ("Was haben wir am Montag besprochen?", None, set(), (5, 18), (5, 19)),
        ("Was habe ich am 3. April gesagt?", None, {"Sam"}, (4, 3), (4, 4)),
        ("¿Dónde vive Ana?", ("vive",), {"Ana"}, None, None),
        ("¿Qué hice en marzo?", ("hice", "marzo"), set(), (3, 1), (4, 1)),
        ("¿Qué pasó la semana pasada?", None, set(), (5, 11), (5, 21)),
        ("¿Qué hice el 3 de abril de 2026?", None, set(), (4, 3), (4, 4)),
        ("¿A dónde fui hace dos meses?", None, set(), (3, 11), (3, 31)),
        ("¿Qué te dije el lunes?", None, {"Sam", "Pentimento"}, (5, 18), (5, 19)),
    ],
)
def test_questions_in_german_and_spanish_are_read_by_their_files(
    asked: str,
    words: tuple[str, ...] | None,
    people: set[str],
    start: tuple[int, int] | None,
    end: tuple[int, int] | None,
) -> None:
    now = datetime(2026, 5, 20, 12, tzinfo=UTC)

    question = parse_question(
        asked, people=["Ana", "Sam"], now=now, asked_by="Sam", persona_name="Pentimento"
    )

    assert words is None or question.words == words
    assert question.people == people
    days = [
        ((period.start.month, period.start.day), (period.end.month, period.end.day))
        for period in question.periods
    ]
    assert days == ([(start, end)] if start else [])


@pytest.mark.parametrize(
    ("asked", "newest"),
    [
        ("What are the last three books Sam read?", True),
        ("Which film did Sam see most recently?", True),
        ("What is Sam's latest project?", True),
        ("What happened in the last three weeks?", False),
        ("What did Sam do last week?", False),
        ("What did Sam do first?", False),
        ("Welche Bücher hat Sam zuletzt gelesen?", True),
        ("Was waren die letzten drei Filme, die wir gesehen haben?", True),
        ("Was war in den letzten drei Wochen?", False),
        ("¿Cuáles son los últimos tres libros que leíste?", True),
    ],
)
def test_the_newest_answers_may_be_asked_for(asked: str, newest: bool) -> None:
    assert parse_question(asked, people=PEOPLE, now=NOW).wants_newest is newest


@pytest.mark.parametrize("place", ["beginning", "end"])
def test_a_question_before_or_after_pages_is_read(place: str) -> None:
    asked, pages = "What did Sam cook in April?", "Lorem ipsum dolor sit amet. " * 2000

    text = f"{asked} {pages}" if place == "beginning" else f"{pages} {asked}"
    question = parse_question(text, people=PEOPLE, now=NOW)

    assert question.people == {"Sam"}
    assert "cook" in question.words
