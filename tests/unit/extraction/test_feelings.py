"""Which feelings are marked enough to remember, and how they are named."""

import pytest

from engine.extraction.feelings import EmotionalTone, Vader, strongest_feeling


@pytest.mark.parametrize(
    ("content", "tone"),
    [
        ("I'm so anxious about the exam tomorrow.", EmotionalTone.ANXIOUS),
        ("I\u2019m terrified of the surgery.", EmotionalTone.ANXIOUS),
        ("I'm furious with my landlord!", EmotionalTone.ANGRY),
        ("I'm really stressed and overwhelmed by work.", EmotionalTone.TENSE),
        ("I was heartbroken when my dog died.", EmotionalTone.SAD),
        ("I feel so lonely since she left.", EmotionalTone.SAD),
        ("I can't stop crying.", EmotionalTone.SAD),
        ("I'm thrilled about my new flat!", EmotionalTone.JOYFUL),
        ("I can't wait, this is the best day ever!", EmotionalTone.JOYFUL),
        ("I'm grateful for my friends.", EmotionalTone.WARM),
        ("I feel calm and relaxed by the sea.", EmotionalTone.CALM),
    ],
)
def test_a_named_feeling_has_its_tone(content: str, tone: EmotionalTone) -> None:
    felt = strongest_feeling([content])

    assert felt
    assert felt.tone is tone
    bright = tone in {
        EmotionalTone.JOYFUL,
        EmotionalTone.WARM,
        EmotionalTone.CALM,
        EmotionalTone.PLAYFUL,
    }
    assert felt.valence > 0 if bright else felt.valence < 0
    assert -1 <= felt.valence <= 1
    assert 0 <= felt.arousal <= 1


@pytest.mark.parametrize(
    "content",
    [
        "I bought two chairs.",
        "The meeting is on Friday.",
        "I'm not sad.",
        "Are you angry with me?",
        "That is a wonderful, amazing, great idea!",  # of the idea, not of the speaker
        "",
    ],
)
def test_what_is_faint_denied_asked_or_not_their_own_is_no_feeling(content: str) -> None:
    assert strongest_feeling([content]) is None


def test_grief_in_one_sentence_outweighs_politeness_in_the_next() -> None:
    felt = strongest_feeling(
        ["I'm devastated, my father passed away.", "Thanks for your kind words."]
    )

    assert felt
    assert felt.tone is EmotionalTone.SAD


def test_emphasis_stirs() -> None:
    plain, loud = (
        strongest_feeling(["I'm excited about it."]),
        strongest_feeling(["I'm SOOO excited about it!!!"]),
    )

    assert plain
    assert loud
    assert loud.arousal > plain.arousal


def test_a_feeling_may_have_a_topic() -> None:
    felt = strongest_feeling(["I'm so nervous about the driving test tomorrow!"])

    assert felt
    assert felt.about == "the driving test"


def test_another_lexicon_plugs_in() -> None:
    class Gloomy:
        def valence(self, text: str) -> float:
            return -0.9

    felt = strongest_feeling(["I went to the shop!!!"], lexicon=Gloomy())

    assert felt
    assert felt.valence == -0.9


def test_the_default_lexicon_knows_negation_and_emoji() -> None:
    lexicon = Vader()

    assert lexicon.valence("good") > 0 > lexicon.valence("not good")
    assert lexicon.valence("😊") > 0
