"""Which texts share a theme, and the words that name it. Pure functions.

A text is read once, up to `MAX_READ_CHARACTERS`, into `WordForms`; the rest works on these, in time
linear in the number of words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.text.languages import (
    ENGLISH,
    STEM_CACHE_SIZE,
    language_of,
    stem_of,
    text_languages,
)
from engine.text.prose import straighten_quotes, words
from engine.text.stop_words import NAMES_NO_THEME, STOP_WORDS

MAX_TERMS = 3  # that name a theme
MAX_READ_CHARACTERS = 4_000  # what a text says only after two pages is not its theme


@dataclass(frozen=True, slots=True)
class WordForms:
    """The content words of a text, grouped by stem."""

    forms: Mapping[str, Counter[str]]  # by stem: how often each written form occurs
    before: Mapping[str, frozenset[str]]  # by stem: the words that stand right before one of them

    @classmethod
    def of(cls, text: str) -> "WordForms":
        """Reads the first `MAX_READ_CHARACTERS` characters of a text."""
        forms: dict[str, Counter[str]] = {}
        before: dict[str, set[str]] = {}
        previous = ""
        read = text[:MAX_READ_CHARACTERS]
        language = language_of(read) or ENGLISH
        for word in words(straighten_quotes(read)):
            folded = word.lower()
            stem = stem_of(folded, language)
            if names_something(folded, language):
                forms.setdefault(stem, Counter())[word] += 1
            if previous:
                before.setdefault(stem, set()).add(previous)
            previous = word
        return cls(forms, {stem: frozenset(before.get(stem, ())) for stem in forms})


def name_theme(readings: Sequence[WordForms], *, min_texts: int) -> tuple[list[int], list[str]]:
    """The indices of the texts that share a theme, and the words that name it; both may be empty.

    Texts with similar embeddings are often only alike in kind, such as short or angry. So a theme
    needs a word that at least `min_texts` of them use, and only these texts belong to it.
    """
    document_counts = Counter(stem for reading in readings for stem in reading.forms)
    shared = [(-count, stem) for stem, count in document_counts.items() if count >= min_texts]
    if not shared:
        return [], []
    _, leading_stem = min(shared)
    indices = [index for index, reading in enumerate(readings) if leading_stem in reading.forms]
    return indices, shared_terms([readings[index] for index in indices], min_texts=min_texts)


def is_about(reading: WordForms, term: str) -> bool:
    """Whether a text uses a word of a term, in any form."""
    return not forms_by_stem(term).keys().isdisjoint(reading.forms)


def shared_terms(readings: Sequence[WordForms], *, min_texts: int = 2) -> list[str]:
    """The words that most of these texts share, the most common first; may be empty.

    A word counts in any form and is given in its most common one, together with the word before it
    where that is mostly the same: night shift, knee operation.
    """
    forms: dict[str, Counter[str]] = {}
    document_counts: Counter[str] = Counter()
    for reading in readings:
        document_counts.update(reading.forms.keys())
        for stem, form_counts in reading.forms.items():
            forms.setdefault(stem, Counter()).update(form_counts)
    majority = max(2, (len(readings) + 1) // 2)
    chosen = sorted(
        (stem for stem, count in document_counts.items() if count >= max(min_texts, majority)),
        key=lambda stem: (-document_counts[stem], -forms[stem].total(), stem),
    )
    # More than MAX_TERMS, because a term of two words uses up two of them.
    chosen = chosen[: 4 * MAX_TERMS]
    before = {stem: word_before(readings, stem, majority) or "" for stem in chosen}
    for stem, word in before.items():
        if document_counts[stem_of(word.lower())] > document_counts[stem]:
            before[stem] = ""  # more common than this term, so it becomes a term of its own
    used_as_prefix = {stem_of(word.lower()) for word in before.values()}
    terms = [
        f"{before[stem]} {most_common_form(forms[stem])}".strip()
        for stem in chosen
        if stem not in used_as_prefix
    ]
    return terms[:MAX_TERMS]


def forms_by_stem(text: str) -> dict[str, list[str]]:
    """The content words of a text as they are written, by stem."""
    return {stem: list(counts.elements()) for stem, counts in WordForms.of(text).forms.items()}


def word_before(readings: Sequence[WordForms], stem: str, min_texts: int) -> str | None:
    """The most common word right before this stem, if at least `min_texts` texts have it there."""
    counts = Counter(word for reading in readings for word in reading.before.get(stem, ()))
    usual = [word for word, count in counts.items() if count >= min_texts and qualifies(word)]
    return min(usual, key=lambda word: (-counts[word], word), default=None)


def qualifies(word: str) -> bool:
    """Whether a word says which one, rather than how many or whose."""
    if len(word) == 1:
        return word.isupper() and word not in ("A", "I")  # the F chord
    return word.lower() not in STOP_WORDS and "'" not in word and not word.isdigit()


@lru_cache(maxsize=STEM_CACHE_SIZE)
def names_something(word: str, language: str = ENGLISH) -> bool:
    """Whether a word in lower case is a content word that can name a theme."""
    if word in STOP_WORDS or word in NAMES_NO_THEME or is_past_tense(word):
        return False
    if word in text_languages()[language].stop_words:
        return False
    return len(word) > 2 and "'" not in word and not word.isdigit()


def is_past_tense(word: str) -> bool:
    """Whether a word is a regular verb in the past tense: moved, but not bed or seed."""
    return word.endswith("ed") and not stem_of(word).endswith("ed")


def most_common_form(forms: Counter[str]) -> str:
    """The most common form; capitalized only if it always is, as names are."""
    lowercase_forms = {form for form in forms if form.islower()}
    counts: Counter[str] = Counter()
    for form, count in forms.items():
        counts[form.lower() if form.lower() in lowercase_forms else form] += count
    return min(counts, key=lambda form: (-counts[form], form))


def join_with_and(terms: Sequence[str]) -> str:
    """The terms as a list in a sentence: "one, two and three"."""
    return " and ".join(filter(None, [", ".join(terms[:-1]), terms[-1]]))
