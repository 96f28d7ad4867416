"""What several episodes have in common, in a few words. Values in, values out."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import snowballstemmer
from stop_words import get_stop_words

from engine.extraction.prose import straighten, word_set, words

MOST = 3  # words that name a theme
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


@cache
def stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


@cache
def stop_words() -> frozenset[str]:
    return frozenset(get_stop_words("en"))


def one_theme(texts: Sequence[str], *, least: int) -> tuple[list[int], list[str]]:
    """Which of these texts share one thing, by their places, and the words for it.

    Texts that are near each other in meaning are often only alike in kind: short, or cross. Of one
    theme are those that say a word of it, when there are enough of them.
    """
    said = [set(by_stem(text)) for text in texts]
    spread = Counter(stem for stems in said for stem in stems)
    shared = [(-in_texts, stem) for stem, in_texts in spread.items() if in_texts >= least]
    if not shared:
        return [], []
    _, leading = min(shared)
    places = [place for place, stems in enumerate(said) if leading in stems]
    return places, shared_terms([texts[place] for place in places], least=least)


def is_about(text: str, term: str) -> bool:
    """Whether a text says a word of what a term names, in whatever form."""
    return not by_stem(term).keys().isdisjoint(by_stem(text))


def shared_terms(texts: Sequence[str], *, least: int = 2) -> list[str]:
    """What most of these texts share, the most common first; none when nothing is shared.

    A word counts in whatever form it is used, and is told in its most common form, with the word
    before it where that is mostly the same: night shift, knee operation.
    """
    forms: dict[str, Counter[str]] = {}
    spread: Counter[str] = Counter()
    for text in texts:
        found = by_stem(text)
        spread.update(found.keys())
        for stem, written in found.items():
            forms.setdefault(stem, Counter()).update(written)
    most = max(2, (len(texts) + 1) // 2)
    chosen = sorted(
        (stem for stem, in_texts in spread.items() if in_texts >= max(least, most)),
        key=lambda stem: (-spread[stem], -forms[stem].total(), stem),
    )
    before = {stem: word_before(texts, stem, most) or "" for stem in chosen}
    for stem, word in before.items():
        if spread[stemmer().stemWord(word.lower())] > spread[stem]:
            before[stem] = ""  # more than a part of this term: it is told by itself
    within = {stemmer().stemWord(word.lower()) for word in before.values()}
    terms = [f"{before[it]} {as_written(forms[it])}".strip() for it in chosen if it not in within]
    return terms[:MOST]


def by_stem(text: str) -> dict[str, list[str]]:
    """The words of a text that name something, as they are written."""
    found: dict[str, list[str]] = {}
    for word in words(straighten(text)):
        if names_something(word.lower()):
            found.setdefault(stemmer().stemWord(word.lower()), []).append(word)
    return found


def word_before(texts: Sequence[str], stem: str, enough: int) -> str | None:
    """The word that comes right before this one in enough of these texts."""
    seen: Counter[str] = Counter()
    for text in texts:
        pairs = pairwise(words(straighten(text)))
        seen.update({one for one, word in pairs if stemmer().stemWord(word.lower()) == stem})
    usual = [word for word, count in seen.items() if count >= enough and qualifies(word)]
    return min(usual, key=lambda word: (-seen[word], word), default=None)


def qualifies(word: str) -> bool:
    """Whether a word says which, rather than how many or whose."""
    if len(word) == 1:
        return word.isupper() and word not in ("A", "I")  # the F chord
    return word.lower() not in stop_words() and "'" not in word and not word.isdigit()


def names_something(word: str) -> bool:
    told = word not in EMPTY and word not in stop_words() and not is_past(word)
    return told and len(word) > 2 and "'" not in word and not word.isdigit()


def is_past(word: str) -> bool:
    """Whether this is a verb in the past: died, moved, but not bed or seed."""
    return word.endswith("ed") and not stemmer().stemWord(word).endswith("ed")


def as_written(forms: Counter[str]) -> str:
    """The most common form; with a capital only if it always has one, as names have."""
    lower = {form for form in forms if form.islower()}
    counts: Counter[str] = Counter()
    for form, count in forms.items():
        counts[form.lower() if form.lower() in lower else form] += count
    return min(counts, key=lambda form: (-counts[form], form))


def listed(terms: Sequence[str]) -> str:
    """As in a sentence: one, two and three."""
    return " and ".join(filter(None, [", ".join(terms[:-1]), terms[-1]]))
