"""Text processing: sentences, passages, words, terms, stop words, themes. Pure functions.

Imports no other room of the engine.
"""

from engine.text.everyday_words import everyday_words_of
from engine.text.languages import ENGLISH, language_of, stem_of
from engine.text.passages import MAX_PASSAGES, PASSAGE_WORDS, split_passages
from engine.text.prose import (
    clean_text,
    fingerprint,
    sentences,
    straighten_quotes,
    without_unprintable,
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
from engine.text.terms import TermHashes, question_terms, term_hash, term_hashes
from engine.text.theme_words import safe_themes
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
    "MAX_PASSAGES",
    "MAX_READ_CHARACTERS",
    "PASSAGE_WORDS",
    "QUESTION_WORDS",
    "SECOND_PERSON",
    "SMALL_TALK",
    "STOP_WORDS",
    "UNINFORMATIVE_WORDS",
    "TermHashes",
    "WordForms",
    "clean_text",
    "everyday_words_of",
    "fingerprint",
    "forms_by_stem",
    "is_about",
    "join_with_and",
    "language_of",
    "most_common_form",
    "name_theme",
    "question_terms",
    "safe_themes",
    "sentences",
    "split_passages",
    "stem_of",
    "straighten_quotes",
    "term_hash",
    "term_hashes",
    "without_unprintable",
    "word_before",
    "word_set",
    "words",
]
