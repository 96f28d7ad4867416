"""Which language a text is in, and the stop words and stems of each. The lists are data.

English is judged by the words in `stop_words.py`; every other language is a file in this folder.
"""

import threading
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import msgspec
import snowballstemmer
from msgspec import Struct
from stop_words import get_stop_words

from engine.text.prose import straighten_quotes, words
from engine.text.stop_words import ENGLISH_WORDS, STOP_WORDS, word_set

ENGLISH = "english"
MIN_MARKER_SHARE = 0.15  # of a text's words that must be markers of its language
FEW_WORDS = 4  # a text with fewer and no marker is English when it is ASCII
STEM_CACHE_SIZE = 65_536  # words; most texts use a few thousand

_thread_state = threading.local()


class LanguageEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A language as its data file has it."""

    language: str
    stop_words: str
    stemmer: str
    markers: str


@dataclass(frozen=True, slots=True)
class TextLanguage:
    """What the text room knows of a language."""

    name: str
    markers: frozenset[str]  # words that show that a text is in it
    stop_words: frozenset[str]
    stemmer: str  # its name among Snowball's


@cache
def text_languages() -> dict[str, TextLanguage]:
    """Every language that is told apart, by name; English first."""
    languages = {ENGLISH: TextLanguage(ENGLISH, ENGLISH_WORDS, STOP_WORDS, "english")}
    for file in sorted(Path(__file__).parent.glob("*.toml")):
        entry = msgspec.toml.decode(file.read_bytes(), type=LanguageEntry)
        languages[entry.language] = TextLanguage(
            entry.language,
            word_set(entry.markers),
            frozenset(get_stop_words(entry.stop_words)),
            entry.stemmer,
        )
    return languages


def language_of(text: str) -> str:
    """The name of the language a text is probably in; empty when it is none that is known.

    The language most of whose markers the text has; on a tie, the first of `text_languages`.
    """
    lowered = [word.lower() for word in words(straighten_quotes(text))]
    if not lowered:
        return ""
    counts = {
        language.name: sum(word in language.markers for word in lowered)
        for language in text_languages().values()
    }
    best = max(counts, key=lambda name: counts[name])
    if len(lowered) < FEW_WORDS:
        return best if counts[best] else ENGLISH if text.isascii() else ""
    return best if counts[best] >= MIN_MARKER_SHARE * len(lowered) else ""


@lru_cache(maxsize=STEM_CACHE_SIZE)
def stem_of(word: str, language: str = ENGLISH) -> str:
    """The stem of a word in lower case."""
    return str(stemmer(text_languages()[language].stemmer).stemWord(word))


def stemmer(name: str) -> snowballstemmer.stemmer:
    """This thread's stemmer. A stemmer keeps state while it works, so threads share none."""
    stemmers = _thread_state.__dict__.setdefault("stemmers", {})
    if name not in stemmers:
        stemmers[name] = snowballstemmer.stemmer(name)
    return stemmers[name]
