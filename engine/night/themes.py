"""What several episodes have in common, in a few words. Values in, values out."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

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
    "okay oh ah well so haha hey hi"
)


@cache
def stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


@cache
def empty_words() -> frozenset[str]:
    return frozenset(get_stop_words("en")) | EMPTY


def shared_terms(texts: Sequence[str]) -> list[str]:
    """The words that most of these texts share, the most common first; none when nothing is shared.

    A word counts in whatever form it is used, and is told in its most common form.
    """
    forms: dict[str, Counter[str]] = {}
    spread: Counter[str] = Counter()
    for text in texts:
        found = [word for word in words(straighten(text).lower()) if names_something(word)]
        stems = [(stemmer().stemWord(word), word) for word in found]
        for stem, word in stems:
            forms.setdefault(stem, Counter())[word] += 1
        spread.update({stem for stem, _ in stems})
    enough = max(2, (len(texts) + 1) // 2)
    chosen = sorted(
        (stem for stem, in_texts in spread.items() if in_texts >= enough),
        key=lambda stem: (-spread[stem], -forms[stem].total(), stem),
    )
    return [most_common(forms[stem]) for stem in chosen[:MOST]]


def names_something(word: str) -> bool:
    return len(word) > 2 and "'" not in word and not word.isdigit() and word not in empty_words()


def most_common(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def listed(terms: Sequence[str]) -> str:
    """As in a sentence: one, two and three."""
    return " and ".join(filter(None, [", ".join(terms[:-1]), terms[-1]]))
