"""What several episodes have in common, in a few words. Values in, values out.

A text is read once, up to `MAX_READ_CHARACTERS`; everything else works on what was read, in time
that grows with the number of words, not with its square.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import snowballstemmer
from stop_words import get_stop_words

from engine.text.prose import straighten_quotes, word_set, words

MOST = 3  # words that name a theme
MAX_READ_CHARACTERS = (
    4_000  # characters of a text: a theme that shows only after two pages is not its theme
)
WORDS_KEPT = 65_536  # words whose stems are kept, since most of a text is a few thousand words
# Words that say when, how much or how, and so name nothing; beside the usual stop words.
EMPTY = word_set(
    "today yesterday tomorrow tonight morning afternoon evening night day days week weeks month "
    "year monday tuesday wednesday thursday friday saturday sunday time times thing things bit "
    "lot lots really just still also again always never maybe actually finally soon late early "
    "good great nice lovely bad new old little big much many first last next one two three four "
    "five six seven eight nine ten half hour hours minute minutes go goes going went gone come "
    "came get gets got make makes made take takes took say says said tell told think thinks "
    "thought know knows knew want wants wanted feel feels felt need needs needed like likes "
    "liked love loves loved hate let put try tried look looks looked keep keeps kept yes no ok "
    "okay oh ah well so haha hey hi call calls name names"
)


_of_thread = threading.local()


def stemmer() -> snowballstemmer.stemmer:
    """One for each thread: it keeps the word it works on."""
    if not hasattr(_of_thread, "stemmer"):
        _of_thread.stemmer = snowballstemmer.stemmer("english")
    return _of_thread.stemmer


@lru_cache(maxsize=WORDS_KEPT)
def stem_of(word: str) -> str:
    """The stem of a word in lower case."""
    return str(stemmer().stemWord(word))


@cache
def stop_words() -> frozenset[str]:
    return frozenset(get_stop_words("en"))


@dataclass(frozen=True, slots=True)
class WordForms:
    """The words of a text that name something, by their stems."""

    forms: Mapping[str, Counter[str]]  # as they are written, with how often
    before: Mapping[str, frozenset[str]]  # the words that come right before one of them

    @classmethod
    def of(cls, text: str) -> "WordForms":
        """Reads the first `MAX_READ_CHARACTERS` characters of a text."""
        forms: dict[str, Counter[str]] = {}
        before: dict[str, set[str]] = {}
        previous = ""
        for word in words(straighten_quotes(text[:MAX_READ_CHARACTERS])):
            folded = word.lower()
            stem = stem_of(folded)
            if names_something(folded):
                forms.setdefault(stem, Counter())[word] += 1
            if previous:
                before.setdefault(stem, set()).add(previous)
            previous = word
        return cls(forms, {stem: frozenset(before.get(stem, ())) for stem in forms})


def name_theme(readings: Sequence[WordForms], *, least: int) -> tuple[list[int], list[str]]:
    """Which of these texts share one thing, by their places, and the words for it.

    Texts that are near each other in meaning are often only alike in kind: short, or cross. Of one
    theme are those that say a word of it, when there are enough of them.
    """
    spread = Counter(stem for reading in readings for stem in reading.forms)
    shared = [(-in_texts, stem) for stem, in_texts in spread.items() if in_texts >= least]
    if not shared:
        return [], []
    _, leading = min(shared)
    places = [place for place, reading in enumerate(readings) if leading in reading.forms]
    return places, shared_terms([readings[place] for place in places], least=least)


def is_about(reading: WordForms, term: str) -> bool:
    """Whether a text says a word of what a term names, in whatever form."""
    return not forms_by_stem(term).keys().isdisjoint(reading.forms)


def shared_terms(readings: Sequence[WordForms], *, least: int = 2) -> list[str]:
    """What most of these texts share, the most common first; none when nothing is shared.

    A word counts in whatever form it is used, and is told in its most common form, with the word
    before it where that is mostly the same: night shift, knee operation.
    """
    forms: dict[str, Counter[str]] = {}
    spread: Counter[str] = Counter()
    for reading in readings:
        spread.update(reading.forms.keys())
        for stem, written in reading.forms.items():
            forms.setdefault(stem, Counter()).update(written)
    most = max(2, (len(readings) + 1) // 2)
    chosen = sorted(
        (stem for stem, in_texts in spread.items() if in_texts >= max(least, most)),
        key=lambda stem: (-spread[stem], -forms[stem].total(), stem),
    )
    # A term that comes with the word before it takes two of those that were chosen.
    chosen = chosen[: 4 * MOST]
    before = {stem: word_before(readings, stem, most) or "" for stem in chosen}
    for stem, word in before.items():
        if spread[stem_of(word.lower())] > spread[stem]:
            before[stem] = ""  # more than a part of this term: it is told by itself
    within = {stem_of(word.lower()) for word in before.values()}
    terms = [
        f"{before[it]} {most_common_form(forms[it])}".strip() for it in chosen if it not in within
    ]
    return terms[:MOST]


def forms_by_stem(text: str) -> dict[str, list[str]]:
    """The words of a text that name something, as they are written, by their stems."""
    return {stem: list(written.elements()) for stem, written in WordForms.of(text).forms.items()}


def word_before(readings: Sequence[WordForms], stem: str, enough: int) -> str | None:
    """The word that comes right before this one in enough of these texts."""
    seen = Counter(word for reading in readings for word in reading.before.get(stem, ()))
    usual = [word for word, count in seen.items() if count >= enough and qualifies(word)]
    return min(usual, key=lambda word: (-seen[word], word), default=None)


def qualifies(word: str) -> bool:
    """Whether a word says which, rather than how many or whose."""
    if len(word) == 1:
        return word.isupper() and word not in ("A", "I")  # the F chord
    return word.lower() not in stop_words() and "'" not in word and not word.isdigit()


@lru_cache(maxsize=WORDS_KEPT)
def names_something(word: str) -> bool:
    """Whether a word in lower case names something."""
    told = word not in EMPTY and word not in stop_words() and not is_past(word)
    return told and len(word) > 2 and "'" not in word and not word.isdigit()


def is_past(word: str) -> bool:
    """Whether this is a verb in the past: died, moved, but not bed or seed."""
    return word.endswith("ed") and not stem_of(word).endswith("ed")


def most_common_form(forms: Counter[str]) -> str:
    """The most common form; with a capital only if it always has one, as names have."""
    lower = {form for form in forms if form.islower()}
    counts: Counter[str] = Counter()
    for form, count in forms.items():
        counts[form.lower() if form.lower() in lower else form] += count
    return min(counts, key=lambda form: (-counts[form], form))


def join_with_and(terms: Sequence[str]) -> str:
    """As in a sentence: one, two and three."""
    return " and ".join(filter(None, [", ".join(terms[:-1]), terms[-1]]))
