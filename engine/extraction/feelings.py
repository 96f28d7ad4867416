"""How a message feels: valence, arousal and tone.

Valence comes from a lexicon behind a port of one method; the default is VADER's, 7,500 words and
emoji rated by people, with rules for negation and emphasis. Arousal is what emphasis adds to the
strength of the words. Tone is one of eight words, by what the speaker says they feel, else by where
valence and arousal fall.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Protocol

from engine.text import straighten_quotes

MARKED_VALENCE = 0.75  # weaker than this, a feeling that is not named is not worth remembering
NAMED_VALENCE = 0.2  # enough when the speaker names the feeling
MARKED_AROUSAL = 0.45
LOOKED_AT = 1000  # characters; the lexicon takes quadratic time, and a feeling shows early


class Feels(StrEnum):
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
    """A feeling that is marked enough to be worth remembering."""

    valence: float  # -1 to 1
    arousal: float  # 0 to 1
    tone: Feels
    about: str = ""


class Lexicon(Protocol):
    """Rates a text from -1, very bad, to 1, very good."""

    def valence(self, text: str) -> float: ...


class Vader:
    """VADER's lexicon, English."""

    def __init__(self) -> None:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        self._analyzer = SentimentIntensityAnalyzer()

    def valence(self, text: str) -> float:
        return float(self._analyzer.polarity_scores(text)["compound"])


@cache
def default_lexicon() -> Lexicon:
    """Loaded once, at its first use."""
    return Vader()


# What speakers say they feel: tone, the sign valence must not contradict, arousal, words.
NAMED: tuple[tuple[Feels, int, float, re.Pattern[str]], ...] = tuple(
    (tone, sign, arousal, re.compile(rf"\b(?:{words})\b", re.I))
    for tone, sign, arousal, words in (
        (
            Feels.ANGRY,
            -1,
            0.8,
            "angry|furious|livid|pissed(?: off)?|mad at|outraged|fed up|enraged|frustrated|"
            "frustrating|annoyed|irritated|resent|sick of|fuming",
        ),
        (
            Feels.ANXIOUS,
            -1,
            0.7,
            "anxious|anxiety|nervous|worried|worrying|scared|afraid|terrified|frightened|"
            "panicking|panicked|panic|dread(?:ing)?|freaking out|on edge|uneasy|scary|"
            "nerve-wracking",
        ),
        (
            Feels.TENSE,
            -1,
            0.6,
            "stressed(?: out)?|stressful|overwhelmed|overwhelming|tense|under pressure|burn(?:ed|"
            "t) out|exhausted|swamped",
        ),
        (
            Feels.SAD,
            -1,
            0.3,
            "sad|heartbroken|devastated|depressed|lonely|miserable|grieving|grief|gutted|upset|"
            "miss (?:him|her|them)|passed away|died|crying|cried|hopeless|disappointed|"
            "down lately|feeling down|lost my (?:mother|mom|mum|father|dad|wife|husband|son|"
            "daughter|brother|sister|friend|job|dog|cat|home)",
        ),
        (
            Feels.JOYFUL,
            1,
            0.75,
            "thrilled|ecstatic|overjoyed|over the moon|so happy|really happy|i'm happy|delighted|"
            "excited|stoked|on cloud nine|so proud|pumped|elated|best day|can't wait|cannot wait|"
            "amazed|made my day",
        ),
        (
            Feels.WARM,
            1,
            0.4,
            "grateful|thankful|blessed|touched|fond of|love my|love our|proud of|heartwarming|"
            "moved to tears|adore",
        ),
        (
            Feels.CALM,
            1,
            0.15,
            "calm|relaxed|relaxing|peaceful|at peace|serene|content|relieved|soothing|at ease|"
            "tranquil|unwind",
        ),
        (Feels.PLAYFUL, 1, 0.55, "(?:ha){2,}h?|lol|lmao|rofl|just kidding|teasing|silly me"),
    )
)

OF_SPEAKER = re.compile(r"\b(?:i|i'm|i've|me|my|we|we're|our|us|im)\b", re.I)
NOT_FELT = re.compile(
    r"\b(?:not|never|no longer|isn't|wasn't|don't|didn't|aren't|without|if|would)\s(?:\w+\s){0,2}$",
    re.I,
)
# What one cannot stop doing is done all the more; a lexicon would take it for a denial.
UNSTOPPABLE = re.compile(r"\b(?:can't|cannot|can not|couldn't|could not) (?:stop|help)\b", re.I)
BOOSTERS = re.compile(
    r"\b(?:so|very|really|extremely|absolutely|totally|incredibly|super|completely|utterly|such)\b",
    re.I,
)
SHOUTED = re.compile(r"\b[A-Z]{4,}\b")
ABOUT = re.compile(
    r"\b(?:about|over|of|for|with|by) (?P<what>(?:my|the|our) [a-z][a-z-]{2,20}(?: (?!and\b|"
    r"tomorrow|today|tonight|yesterday|next|last|this|when|because|"
    r"that)[a-z][a-z-]{2,20})?)(?=\s*(?:$|[,.;!?)]| (?:and|but|so|because|tomorrow|today|"
    r"yesterday|tonight|next|last|on|in|at|when|i|it|is|was|to)\b))",
    re.I,
)
VAGUE = re.compile(
    r"\b(?:way|time|moment|best|rest|most|one|first|past|thing|things|kind|other|same|whole|day|"
    r"help|support|favs?|favou?rites?|life)\b"
)


def feeling(sentences: Iterable[str], *, lexicon: Lexicon | None = None) -> Feeling | None:
    """The most marked feeling of the speaker in these sentences, or None when all are faint.

    Sentence by sentence: grief in one and politeness in the next are not a neutral message.
    """
    rated = lexicon or default_lexicon()
    felt = [found for sentence in spoken(sentences) if (found := felt_in(sentence, rated))]
    return max(felt, key=lambda found: abs(found.valence) + found.arousal, default=None)


def spoken(sentences: Iterable[str]) -> Iterator[str]:
    """Sentences of the speaker's own feeling, not only said to another, up to the limit."""
    left = LOOKED_AT
    for sentence in map(straighten_quotes, sentences):
        if left <= 0:
            return
        left -= len(sentence)
        if OF_SPEAKER.search(sentence) and not sentence.rstrip().endswith("?"):
            yield sentence[:LOOKED_AT]


def felt_in(sentence: str, lexicon: Lexicon) -> Feeling | None:
    text = UNSTOPPABLE.sub("keep", sentence)
    valence = round(lexicon.valence(text), 3)
    named = named_tone(text, valence)
    arousal = stirred(text, valence, named[1] if named else None)
    if named and abs(valence) >= NAMED_VALENCE:
        return Feeling(valence, arousal, named[0], topic(text))
    if abs(valence) >= MARKED_VALENCE and arousal >= MARKED_AROUSAL:
        return Feeling(valence, arousal, tone_of(valence, arousal), topic(text))
    return None


def named_tone(text: str, valence: float) -> tuple[Feels, float] | None:
    """The tone the speaker names, unless it is denied or the whole message says otherwise."""
    for tone, sign, arousal, pattern in NAMED:
        if valence * sign <= 0:
            continue
        for found in pattern.finditer(text):
            before = text[max(0, found.start() - 40) : found.start()]
            clause = re.split(r"[.!?;]", before)[-1]
            if NOT_FELT.search(before) or not OF_SPEAKER.search(clause + found[0]):
                continue
            return tone, arousal
    return None


def stirred(text: str, valence: float, named: float | None) -> float:
    """Arousal: how strong the words are, and how much they are underlined."""
    base = 0.4 * abs(valence) if named is None else named
    emphasis = min(3, text.count("!")) * 0.08 + min(2, len(BOOSTERS.findall(text))) * 0.06
    shouting = 0.12 if SHOUTED.search(text) else 0.0
    return round(min(1.0, base + emphasis + shouting), 3)


def tone_of(valence: float, arousal: float) -> Feels:
    if valence > 0:
        return Feels.JOYFUL if arousal >= 0.55 else Feels.WARM
    return Feels.TENSE if arousal >= 0.55 else Feels.SAD


def topic(text: str) -> str:
    """What the feeling is about, as "the exam"; empty when it is not plain."""
    for found in ABOUT.finditer(text):
        what = found["what"].lower()
        if not VAGUE.search(what):
            return what
    return ""
