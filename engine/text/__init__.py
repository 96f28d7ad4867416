"""Plain text: sentences, words, stems, themes. Values in, values out.

No other room of the engine is known here.
"""

from engine.text.prose import (
    clean_text,
    fingerprint,
    is_english,
    sentences,
    straighten_quotes,
    word_set,
    words,
)
from engine.text.themes import (
    MAX_READ_CHARACTERS,
    WordForms,
    forms_by_stem,
    is_about,
    join_with_and,
    most_common_form,
    name_theme,
    stem_of,
    stemmer,
    stop_words,
    word_before,
)

__all__ = [
    "MAX_READ_CHARACTERS",
    "WordForms",
    "clean_text",
    "fingerprint",
    "forms_by_stem",
    "is_about",
    "is_english",
    "join_with_and",
    "most_common_form",
    "name_theme",
    "sentences",
    "stem_of",
    "stemmer",
    "stop_words",
    "straighten_quotes",
    "word_before",
    "word_set",
    "words",
]
