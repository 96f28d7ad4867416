"""Text processing: sentences, words, stems, stop words, themes. Pure functions.

Imports no other room of the engine.
"""

from engine.text.languages import ENGLISH, language_of, stem_of
from engine.text.prose import (
    clean_text,
    fingerprint,
    sentences,
    straighten_quotes,
    words,
)
from engine.text.stop_words import (
    DETERMINERS,
    FIRST_PERSON,
    FUNCTION_WORDS,
    QUESTION_WORDS,
    SECOND_PERSON,
    SMALL_TALK,
    STOP_WORDS,
    UNINFORMATIVE_WORDS,
    word_set,
)
from engine.text.themes import (
    MAX_READ_CHARACTERS,
    WordForms,
    forms_by_stem,
    is_about,
    join_with_and,
    most_common_form,
    name_theme,
    word_before,
)

__all__ = [
    "DETERMINERS",
    "ENGLISH",
    "FIRST_PERSON",
    "FUNCTION_WORDS",
    "MAX_READ_CHARACTERS",
    "QUESTION_WORDS",
    "SECOND_PERSON",
    "SMALL_TALK",
    "STOP_WORDS",
    "UNINFORMATIVE_WORDS",
    "WordForms",
    "clean_text",
    "fingerprint",
    "forms_by_stem",
    "is_about",
    "join_with_and",
    "language_of",
    "most_common_form",
    "name_theme",
    "sentences",
    "stem_of",
    "straighten_quotes",
    "word_before",
    "word_set",
    "words",
]
