"""From a message to memory items: what comes out, what stays out, and that nothing breaks it."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import bounds
from engine.extraction.rule_based import Extracted, Extraction, ExtractionInput, extract
from engine.models import MemoryType
from engine.text import fingerprint

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
MAX_CHARACTERS = bounds.MESSAGE


def message(content: str, speaker: str = "Sam") -> ExtractionInput:
    return ExtractionInput("m1", speaker, "user", content, NOW, "kitchen talk")


def of_type(extraction: Extraction, memory_type: MemoryType) -> list[Extracted]:
    return [item for item in extraction.items if item.memory_type is memory_type]


def test_a_message_becomes_one_episode_in_its_own_words() -> None:
    (episode,) = of_type(extract(message("I moved to Lisbon in March.")), MemoryType.EPISODIC)

    assert episode.text == "Sam: I moved to Lisbon in March."
    assert episode.content == {
        "who": "Sam",
        "said": "I moved to Lisbon in March.",
        "when": "2026-03-01T12:30:00+00:00",
        "where": "kitchen talk",
    }


def test_a_message_can_give_all_three_types() -> None:
    extraction = extract(message("I moved to Lisbon. I'm so anxious about the new job!"))

    assert [item.memory_type for item in extraction.items] == [
        MemoryType.EPISODIC,
        MemoryType.SEMANTIC,
        MemoryType.SOMATIC,
    ]
    assert [item.text for item in extraction.items[1:]] == [
        "Sam lives in Lisbon.",
        "Sam sounded anxious when talking about the new job.",
    ]


def test_a_semantic_item_says_who_what_and_whether() -> None:
    (fact,) = of_type(extract(message("I don't like coriander.")), MemoryType.SEMANTIC)

    assert fact.text == "Sam does not like coriander."
    assert fact.content == {
        "kind": "preference",
        "subject": "Sam",
        "attribute": "likes",
        "value": "coriander",
        "polarity": False,
        "applies_to": None,
    }


def test_only_a_user_gives_instructions() -> None:
    content = "Always use two coats of paint. I prefer brushes."
    by_user = extract(ExtractionInput("m1", "Sam", "user", content, NOW, ""))
    by_persona = extract(ExtractionInput("m1", "Ada", "persona", content, NOW, ""))

    kinds = [item.content["kind"] for item in of_type(by_user, MemoryType.SEMANTIC)]
    assert kinds == ["instruction", "preference"]
    assert [item.text for item in of_type(by_persona, MemoryType.SEMANTIC)] == [
        "Ada prefers brushes."
    ]


def test_what_is_stated_before_a_question_is_kept() -> None:
    (fact,) = of_type(
        extract(message("I live in Porto, can you name a good baker?")), MemoryType.SEMANTIC
    )

    assert fact.text == "Sam lives in Porto."
    assert not of_type(extract(message("I live in Porto, don't I?")), MemoryType.SEMANTIC)


def test_a_persona_is_heard_like_a_user() -> None:
    message = ExtractionInput("m1", "Ada", "persona", "I live in Porto.", NOW, "")

    assert extract(message).items[1].text == "Ada lives in Porto."


def test_a_greeting_in_front_of_content_is_cut_off() -> None:
    extraction = extract(message("Hi Ada! I moved to Lisbon. How are you?"))

    assert extraction.items[0].text == "Sam: I moved to Lisbon."
    assert extraction.left_out == ("greeting", "small_talk")


def test_what_was_said_before_is_a_repeat_whatever_its_case_and_marks() -> None:
    before = {fingerprint("I moved to Lisbon.")}

    assert extract(message("i moved to LISBON!!"), already_said=before) == Extraction(
        (), ("repeat",)
    )
    assert extract(message("I moved to Porto."), already_said=before).items


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I moved to Lisbon.", "  i MOVED\tto\nlisbon  "),
        ("café", "cafe\u0301"),
        ("It's fine", "It\u2019s fine"),
        ("Straße", "STRASSE"),
        ("ﬁne", "fine"),
    ],
)
def test_a_fingerprint_forgets_case_marks_spaces_and_unicode_form(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    "content",
    [
        "Igår var jag i staden och träffade barnen.",
        "Ieri sono andata al mare con mia sorella.",
        "Przeprowadziłam się do Krakowa i bardzo się cieszę.",
        "昨天我和朋友去了海边。",
        "Я переехала в Казань и очень рада.",
        "انتقلت إلى الدوحة الشهر الماضي",
    ],
)
def test_a_language_without_rules_is_remembered_as_it_was_said(content: str) -> None:
    extraction = extract(message(content))

    assert [item.memory_type for item in extraction.items] == [MemoryType.EPISODIC]
    assert content in extraction.items[0].text


def test_control_characters_and_lone_surrogates_are_dropped() -> None:
    (episode, fact) = extract(message("I live\x00 in \ud83dLisbon.\x07")).items

    assert episode.content["said"] == "I live in Lisbon."
    assert fact.text == "Sam lives in Lisbon."


@pytest.mark.parametrize("speaker", [r"\1", "{who}", "O'Neil", "Zoë", "", "%s"])
def test_a_speaker_may_have_any_name(speaker: str) -> None:
    items = extract(message("I love my garden. My sister Ana likes me.", speaker)).items

    assert f"{speaker} likes their garden." in [item.text for item in items]
    assert f"Ana is {speaker}'s sister." in [item.text for item in items]


@pytest.mark.spec("SEARCH-10")
def test_a_long_message_becomes_an_episode_for_each_passage() -> None:
    content = "Hi Ada! " + " ".join(f"Then I walked past house number {n}." for n in range(500))

    episodes = of_type(extract(message(content)), MemoryType.EPISODIC)

    places = [episode.content["passage"] for episode in episodes]
    assert [place["number"] for place in places] == [*range(1, len(episodes) + 1)]
    assert {place["of"] for place in places} == {len(episodes)}
    assert places[0]["start"] == 0
    assert places[-1]["end"] == len(content)
    for episode, place in zip(episodes, places, strict=True):
        assert episode.content["said"] == content[place["start"] : place["end"]].strip()
        assert episode.text == f"Sam: {episode.content['said']}"


def test_a_message_of_a_passage_and_a_half_is_one_episode_and_names_no_passage() -> None:
    content = " ".join(f"Then I walked past house number {n}." for n in range(20))

    (episode,) = extract(message(content)).items

    assert episode.content["said"] == content
    assert "passage" not in episode.content


def test_code_in_a_long_message_keeps_its_indentation() -> None:
    code = "```python\ndef water(beds):\n    for bed in beds:\n        bed.water()\n```"
    content = f"{'We water the beds every morning now. ' * 40}\n\n{code}\n"

    episodes = of_type(extract(message(content)), MemoryType.EPISODIC)

    assert any(code in episode.content["said"] for episode in episodes)


def test_the_statements_of_a_long_message_are_found_wherever_they_stand() -> None:
    filler = "The committee discussed the budget of the library at length. " * 30

    items = extract(message(f"{filler}I moved to Lisbon in March. {filler}")).items

    assert "Sam lives in Lisbon." in [item.text for item in items]


def test_a_passage_without_words_is_left_out() -> None:
    content = "We water the beds every morning now. " * 30 + "\n" + "-- " * 300

    episodes = of_type(extract(message(content)), MemoryType.EPISODIC)

    assert all("water" in episode.content["said"] for episode in episodes)
    assert episodes[0].content["passage"]["of"] > len(episodes)


VOCABULARY = """
I I'm my we our sister Ana live moved in to Lisbon love hate not don't a the dog job work as nurse
if you it is was and but , . ! ? - ' " so really going want 34 May 😊 hi thanks call me
"""
WORDS = st.sampled_from([*VOCABULARY.split(), "\n"])


@given(st.text() | st.lists(WORDS, max_size=40).map(" ".join))
def test_no_text_breaks_it(content: str) -> None:
    extraction = extract(message(content))

    assert extraction.items or extraction.left_out
    for item in extraction.items:
        assert item.text.encode()
        assert "\x00" not in item.text


@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_everything_it_says_names_the_speaker(content: str) -> None:
    for item in extract(message(content, "Wilhelmina")).items:
        assert "Wilhelmina" in item.text
        if item.memory_type is MemoryType.SEMANTIC:
            assert item.content["subject"].startswith("Wilhelmina")
            assert item.content["value"]


@given(
    st.lists(
        st.sampled_from(
            ["Hi!", "Ok.", "Thanks!", "lol", "Bye!", "👍", "haha", "Yes.", "How are you?"]
        ),
        min_size=1,
        max_size=6,
    )
)
def test_junk_upon_junk_yields_nothing(parts: list[str]) -> None:
    extraction = extract(message("\n".join(parts)))

    assert extraction.items == ()
    assert extraction.left_out


@given(st.text(max_size=200))
def test_saying_it_again_yields_nothing(content: str) -> None:
    assert extract(message(content), already_said={fingerprint(content)}).items == ()


ADVERSARIAL = [
    "a",
    "I ",
    "I am so ",
    "so really just ",
    "my sister ",
    "My sister Ana ",
    "I love ",
    "good but ",
    "I like a, b and c, ",
    "and I ",
    ", ",
    ". ",
    ".",
    "?!",
    "...x",
    "'",
    '"',
    "' a",
    '" a ',
    "- ",
    "(",
    "\n",
    "A'",
    "Ana says ",
    "hahaha",
    "you know ",
    "😊 A",
    "\u2014",
    "I'm ",
    "一",
    "St. ",
]


@pytest.mark.parametrize("piece", ADVERSARIAL)
def test_time_grows_with_the_length_of_a_message_and_no_faster(piece: str) -> None:
    def seconds(length: int) -> float:
        repeated = message(piece * (length // len(piece)))
        tries = []
        for _ in range(3):
            start = time.thread_time()
            extract(repeated)
            tries.append(time.thread_time() - start)
        return min(tries)

    short, long = seconds(MAX_CHARACTERS // 4), seconds(MAX_CHARACTERS)

    assert long < max(0.1, 10 * short)  # four times the text; sixteen times would be quadratic


@settings(max_examples=20, deadline=None)  # a deadline would count a busy machine
@given(st.text(min_size=1, max_size=12))
def test_no_repeated_text_takes_long(piece: str) -> None:
    start = time.thread_time()
    extract(message(piece * (MAX_CHARACTERS // len(piece))))

    assert time.thread_time() - start < 2
