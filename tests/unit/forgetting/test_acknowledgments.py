import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stop_words import get_stop_words

from engine.access.models import Tone
from engine.errors import LlmUnavailable
from engine.forgetting.acknowledgments import (
    IRREGULAR,
    TEMPLATES,
    LlmAcknowledger,
    Templates,
    choose_templates,
    content_stems,
    is_short_statement,
    repeated_stems,
)
from engine.text.prose import words

TALK = Path(__file__).parents[3] / "ops" / "talk" / "two_weeks.jsonl"
SAID = [json.loads(line)["content"] for line in TALK.read_text().splitlines()]
KINDS = ("single", "several", "range")


@pytest.mark.spec("ACK-01")
@pytest.mark.parametrize("tone", Tone)
def test_no_content_word_of_what_is_forgotten_is_in_what_is_said(tone: Tone) -> None:
    """Over hundreds of real-sized messages, by words as they are written, not by our own stems."""
    usual = set(get_stop_words("en"))
    for place, content in enumerate(SAID):
        phrases = choose_templates(tone, [content], str(place))
        carried = {word.lower() for word in words(content)} - usual
        for kind in KINDS:
            said = {word.lower() for word in words(getattr(phrases, kind))}
            assert said.isdisjoint(carried), (content, getattr(phrases, kind))
    assert len(SAID) > 400


@given(st.lists(st.sampled_from(" ".join(str(TEMPLATES).split()).split("'")), max_size=9))
def test_not_even_when_the_message_is_made_of_our_own_words(texts: list[str]) -> None:
    for tone in Tone:
        phrases = choose_templates(tone, texts, "seed")
        for kind in KINDS:
            assert not repeated_stems(texts, content_stems(getattr(phrases, kind)))


@pytest.mark.spec("ACK-01", "ACK-04")
@pytest.mark.parametrize("tone", Tone)
def test_every_template_is_short_and_they_vary(tone: Tone) -> None:
    for kind in KINDS:
        assert all(len(words(text)) <= 12 for text in TEMPLATES[tone][kind])
    phrases = {choose_templates(tone, [], str(seed)).single for seed in range(50)}
    assert phrases == set(TEMPLATES[tone]["single"])
    assert len({choose_templates(tone, [], "1").single for tone in Tone}) == len(Tone)


def test_what_is_repeated_is_found_by_its_stem_alone() -> None:
    """Looking only at words that begin as a stem does loses none of those that have it."""
    said = {word.lower() for text in SAID for word in words(text)} | IRREGULAR
    said |= {f"{word}{end}" for word in said for end in ("ies", "ing", "ed", "ly", "ation", "ness")}

    assert repeated_stems([" ".join(said)], content_stems(" ".join(said))) == content_stems(
        " ".join(said)
    )


def test_of_several_things_it_is_said_that_they_are_several() -> None:
    for tone in Tone:
        for kind in ("several", "range"):
            for text in TEMPLATES[tone][kind]:
                plural = {"those", "several", "they", "all", "none", "whole", "poof", "any"}
                assert plural & {word.lower() for word in words(text)}, text


class Model:
    """A language model that answers what it is phrases to, after a while."""

    def __init__(self, answer: object, seconds: float = 0.0) -> None:
        self.answer, self.seconds, self.asked = answer, seconds, list[str]()

    async def ask(self, instruction: str, about: str) -> object:
        self.asked.append(instruction + about)
        await asyncio.sleep(self.seconds)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


VOICE = {"single": "Gone, love.", "several": "All gone, love.", "range": "The lot is gone."}


@pytest.mark.spec("ACK-04")
async def test_a_model_speaks_for_the_persona_and_is_never_shown_what_is_forgotten() -> None:
    model = Model(VOICE)

    phrases = await LlmAcknowledger(model, seconds=1).phrases(Tone.WARM, "Ada", ["my secret"], "1")  # type: ignore[arg-type]

    assert phrases.single == "Gone, love."
    assert "secret" not in model.asked[0]


@pytest.mark.spec("ACK-04")
@pytest.mark.parametrize(
    "model",
    [
        Model(VOICE, seconds=5),
        Model(LlmUnavailable("away")),
        Model({"single": 7}),
        Model({**VOICE, "single": "One. Two. Three sentences."}),
        Model({**VOICE, "single": "I forgot your secret."}),
        Model({**VOICE, "single": "What was it?"}),
    ],
    ids=["late", "away", "nonsense", "long", "telling", "asking"],
)
async def test_a_model_that_is_late_wrong_or_telling_is_followed_by_the_template(
    model: Model,
) -> None:
    acknowledger = LlmAcknowledger(model, seconds=0.05)  # type: ignore[arg-type]
    phrases = await acknowledger.phrases(Tone.WARM, "Ada", ["my secret"], "1")

    assert phrases.single == choose_templates(Tone.WARM, ["my secret"], "1").single


async def test_templates_are_the_same_for_the_same_seed() -> None:
    once, twice = [await Templates().phrases(Tone.WARM, "Ada", [], "1") for _ in range(2)]

    assert once == twice
    assert is_short_statement(once.single)
