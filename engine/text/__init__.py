"""Plain text: sentences, words, stems, themes. Values in, values out.

No other room of the engine is known here.
"""

from engine.text.prose import fingerprint, is_english, sentences, straighten, tidy, word_set, words
from engine.text.themes import (
    READ,
    Reading,
    as_written,
    by_stem,
    is_about,
    listed,
    one_theme,
    stem_of,
    stemmer,
    stop_words,
    word_before,
)

__all__ = [
    "READ",
    "Reading",
    "as_written",
    "by_stem",
    "fingerprint",
    "is_about",
    "is_english",
    "listed",
    "one_theme",
    "sentences",
    "stem_of",
    "stemmer",
    "stop_words",
    "straighten",
    "tidy",
    "word_before",
    "word_set",
    "words",
]
