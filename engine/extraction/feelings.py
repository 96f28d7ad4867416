"""The feeling of a message: valence, arousal and tone.

Valence comes from a lexicon behind a port of one method; the default is VADER's, 7,500 words and
emoji rated by people, with rules for negation and emphasis. Arousal is the strength of the words
plus emphasis. Tone is one of eight words: the feeling the speaker names, else the one that valence
and arousal suggest.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Protocol

from engine.text import straighten_quotes

# A feeling weaker than this is not worth remembering; less is enough when the speaker names it.
MIN_VALENCE, MIN_VALENCE_NAMED = 0.75, 0.2
MIN_AROUSAL = 0.45
MAX_CHARACTERS = 1000  # rated; the lexicon takes quadratic time, and a feeling shows early
HIGH_AROUSAL = 0.55  # from which a good feeling is joyful rather than warm, a bad one tense


class EmotionalTone(StrEnum):
    """The tones a message can have."""

    JOYFUL = "joyful"
    WARM = "warm"
    CALM = "calm"
    PLAYFUL = "playful"
    TENSE = "tense"
    ANXIOUS = "anxious"
    SAD = "sad"
    ANGRY = "angry"


@dataclass(frozen=True, slots=True)
class Feeling:
    """A feeling that is strong enough to be worth remembering."""

    valence: float  # -1 to 1
    arousal: float  # 0 to 1
    tone: EmotionalTone
    about: str = ""  # as "the exam"; empty when unclear


class ValenceLexicon(Protocol):
    """Rates a text from -1, very bad, to 1, very good."""

    def valence(self, text: str) -> float: ...


class Vader:
    """The English lexicon of the package vaderSentiment."""

    def __init__(self) -> None:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        self._analyzer = SentimentIntensityAnalyzer()

    def valence(self, text: str) -> float:
        return float(self._analyzer.polarity_scores(text)["compound"])


@cache
def default_lexicon() -> ValenceLexicon:
    """VADER, loaded at its first use and then kept."""
    return Vader()


# Feelings that speakers name: tone, the sign that valence must have, arousal, words.
NAMED_FEELINGS: tuple[tuple[EmotionalTone, int, float, re.Pattern[str]], ...] = tuple(
    (tone, sign, arousal, re.compile(rf"\b(?:{words})\b", re.I))
    for tone, sign, arousal, words in (
        (
            EmotionalTone.ANGRY,
            -1,
            0.8,
            "angry|furious|livid|pissed(?: off)?|mad at|outraged|fed up|enraged|frustrated|"
            "frustrating|annoyed|irritated|resent|sick of|fuming",
        ),
        (
            EmotionalTone.ANXIOUS,
            -1,
            0.7,
            "anxious|anxiety|nervous|worried|worrying|scared|afraid|terrified|frightened|"
            "panicking|panicked|panic|dread(?:ing)?|freaking out|on edge|uneasy|scary|"
            "nerve-wracking",
        ),
        (
            EmotionalTone.TENSE,
            -1,
            0.6,
            "stressed(?: out)?|stressful|overwhelmed|overwhelming|tense|under pressure|burn(?:ed|"
            "t) out|exhausted|swamped",
        ),
        (
            EmotionalTone.SAD,
            -1,
            0.3,
            "sad|heartbroken|devastated|depressed|lonely|miserable|grieving|grief|gutted|upset|"
            "miss (?:him|her|them)|passed away|died|crying|cried|hopeless|disappointed|"
            "down lately|feeling down|lost my (?:mother|mom|mum|father|dad|wife|husband|son|"
            "daughter|brother|sister|friend|job|dog|cat|home)",
        ),
        (
            EmotionalTone.JOYFUL,
            1,
            0.75,
            "thrilled|ecstatic|overjoyed|over the moon|so happy|really happy|i'm happy|delighted|"
            "excited|stoked|on cloud nine|so proud|pumped|elated|best day|can't wait|cannot wait|"
            "amazed|made my day",
        ),
        (
            EmotionalTone.WARM,
            1,
            0.4,
            "grateful|thankful|blessed|touched|fond of|love my|love our|proud of|heartwarming|"
            "moved to tears|adore",
        ),
        (
            EmotionalTone.CALM,
            1,
            0.15,
            "calm|relaxed|relaxing|peaceful|at peace|serene|content|relieved|soothing|at ease|"
            "tranquil|unwind",
        ),
        (
            EmotionalTone.PLAYFUL,
            1,
            0.55,
            "(?:ha){2,}h?|lol|lmao|rofl|just kidding|teasing|silly me",
        ),
    )
)

FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|me|my|we|we're|our|us|im)\b", re.I)
NEGATION_BEFORE = re.compile(
    r"\b(?:not|never|no longer|isn't|wasn't|don't|didn't|aren't|without|if|would)\s(?:\w+\s){0,2}$",
    re.I,
)
# "I can't stop crying" is no denial of crying, as the lexicon would read it.
CANNOT_STOP = re.compile(r"\b(?:can't|cannot|can not|couldn't|could not) (?:stop|help)\b", re.I)
BOOSTERS = re.compile(
    r"\b(?:so|very|really|extremely|absolutely|totally|incredibly|super|completely|utterly|such)\b",
    re.I,
)
ALL_CAPS = re.compile(r"\b[A-Z]{4,}\b")
ABOUT = re.compile(
    r"\b(?:about|over|of|for|with|by) (?P<what>(?:my|the|our) [a-z][a-z-]{2,20}(?: (?!and\b|"
    r"tomorrow|today|tonight|yesterday|next|last|this|when|because|"
    r"that)[a-z][a-z-]{2,20})?)(?=\s*(?:$|[,.;!?)]| (?:and|but|so|because|tomorrow|today|"
    r"yesterday|tonight|next|last|on|in|at|when|i|it|is|was|to)\b))",
    re.I,
)
VAGUE_TOPIC = re.compile(
    r"\b(?:way|time|moment|best|rest|most|one|first|past|thing|things|kind|other|same|whole|day|"
    r"help|support|favs?|favou?rites?|life)\b"
)


def strongest_feeling(
    sentences: Iterable[str], *, lexicon: ValenceLexicon | None = None
) -> Feeling | None:
    """The strongest feeling of the speaker in these sentences, or None when all are weak.

    Sentences are rated one by one: grief in one and politeness in the next do not cancel out.
    """
    lexicon = lexicon or default_lexicon()
    feelings = [
        feeling
        for sentence in first_person_statements(sentences)
        if (feeling := feeling_in(sentence, lexicon))
    ]
    return max(feelings, key=lambda feeling: abs(feeling.valence) + feeling.arousal, default=None)


def first_person_statements(sentences: Iterable[str]) -> Iterator[str]:
    """The sentences in which the speaker talks about themselves, without questions.

    Ends after `MAX_CHARACTERS` characters of text.
    """
    remaining = MAX_CHARACTERS
    for sentence in map(straighten_quotes, sentences):
        if remaining <= 0:
            return
        remaining -= len(sentence)
        if FIRST_PERSON.search(sentence) and not sentence.rstrip().endswith("?"):
            yield sentence[:MAX_CHARACTERS]


def feeling_in(sentence: str, lexicon: ValenceLexicon) -> Feeling | None:
    """The feeling of one sentence, or None when it is weak."""
    text = CANNOT_STOP.sub("keep", sentence)
    valence = round(lexicon.valence(text), 3)
    named = named_tone(text, valence)
    arousal = arousal_of(text, valence, named[1] if named else None)
    if named and abs(valence) >= MIN_VALENCE_NAMED:
        return Feeling(valence, arousal, named[0], topic(text))
    if abs(valence) >= MIN_VALENCE and arousal >= MIN_AROUSAL:
        return Feeling(valence, arousal, tone_of(valence, arousal), topic(text))
    return None


def named_tone(text: str, valence: float) -> tuple[EmotionalTone, float] | None:
    """The tone the speaker names and its arousal; None when negated or against the valence."""
    for tone, sign, arousal, pattern in NAMED_FEELINGS:
        if valence * sign <= 0:
            continue
        for match in pattern.finditer(text):
            before = text[max(0, match.start() - 40) : match.start()]
            clause = re.split(r"[.!?;]", before)[-1]
            if NEGATION_BEFORE.search(before) or not FIRST_PERSON.search(clause + match[0]):
                continue
            return tone, arousal
    return None


def arousal_of(text: str, valence: float, named_arousal: float | None) -> float:
    """The arousal of a text: strength of its words plus emphasis, 0 to 1."""
    base = 0.4 * abs(valence) if named_arousal is None else named_arousal
    emphasis = min(3, text.count("!")) * 0.08 + min(2, len(BOOSTERS.findall(text))) * 0.06
    shouting = 0.12 if ALL_CAPS.search(text) else 0.0
    return round(min(1.0, base + emphasis + shouting), 3)


def tone_of(valence: float, arousal: float) -> EmotionalTone:
    """The tone of a feeling that the speaker does not name."""
    if valence > 0:
        return EmotionalTone.JOYFUL if arousal >= HIGH_AROUSAL else EmotionalTone.WARM
    return EmotionalTone.TENSE if arousal >= HIGH_AROUSAL else EmotionalTone.SAD


def topic(text: str) -> str:
    """What the feeling is about, as "the exam"; empty when unclear."""
    for match in ABOUT.finditer(text):
        what = match["what"].lower()
        if not VAGUE_TOPIC.search(what):
            return what
    return ""
