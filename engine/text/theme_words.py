"""Words that say what forgotten texts were about, and nothing of what they said. Pure functions.

A word may name a theme only if it gives away no text: it is an everyday word, or several of the
forgotten texts use it and the persona's living memories do anyway. Names, numbers and rare words
never qualify, however often the forgotten texts use them; and there are fewer themes than texts, so
that no text can be told from its words.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from engine.text.everyday_words import EVERYDAY_WORDS
from engine.text.languages import ENGLISH, language_of, stem_of
from engine.text.prose import sentences, straighten_quotes, words
from engine.text.stop_words import SMALL_TALK
from engine.text.themes import MAX_READ_CHARACTERS, most_common_form, names_something

MIN_LIVING = 3  # living texts that use a word, before it counts as common in a life
MIN_FORGOTTEN = 2  # forgotten texts that use a word, unless it is an everyday one
TEXTS_PER_THEME = 2  # forgotten texts for each theme, at least; one text has one
MAX_THEMES = 5
LONGEST_THEME = 24  # characters; longer ones are rather identifiers or addresses
LETTERS = re.compile(r"[^\W\d_]+")
PHRASE = 3  # words in a row that no shape may share with a forgotten text

# By stem, the everyday word; of several the shortest, so that it is "class" rather than "classes".
EVERYDAY_FORMS = {
    stem_of(word): word for word in sorted(EVERYDAY_WORDS, key=lambda word: (-len(word), word))
}


@dataclass(slots=True)
class WordUse:
    """How some texts use words, by stem."""

    texts: Counter[str] = field(default_factory=Counter)  # how many of the texts use it
    forms: dict[str, Counter[str]] = field(default_factory=dict)  # how it is written
    named: set[str] = field(default_factory=set)  # written with a capital inside a sentence

    @classmethod
    def of(cls, texts: Iterable[str]) -> "WordUse":
        use = cls()
        for text in texts:
            use._add(straighten_quotes(text[:MAX_READ_CHARACTERS]))
        return use

    def _add(self, text: str) -> None:
        language = language_of(text) or ENGLISH
        seen = set[str]()
        for sentence in sentences(text):
            for place, word in enumerate(words(sentence)):
                folded = word.lower()
                if not LETTERS.fullmatch(folded) or not names_something(folded, language):
                    continue
                if folded in SMALL_TALK:
                    continue
                stem = stem_of(folded, language)
                seen.add(stem)
                self.forms.setdefault(stem, Counter())[folded] += 1
                # The first word of a sentence has a capital whatever it is.
                if word != folded and (place or word[1:] != folded[1:]):
                    self.named.add(stem)
        self.texts.update(seen)


def safe_themes(
    forgotten: Sequence[str], living: Iterable[str], names: Collection[str] = ()
) -> list[str]:
    """The words that may name what the forgotten texts were about, the most telling first.

    `living` are texts that are remembered, each of another message; `names` never qualify. Empty
    when no word is safe.
    """
    lost, alive = WordUse.of(forgotten), WordUse.of(living)
    unsafe = lost.named | alive.named | stems_of(names)
    chosen = sorted(
        (stem for stem in lost.texts if stem not in unsafe and is_common(stem, lost, alive)),
        # Of two that are lost as often, the one that less of what lives is about.
        key=lambda stem: (-lost.texts[stem], alive.texts[stem], stem),
    )
    themes = [known_form(stem, alive) for stem in chosen]
    most = min(MAX_THEMES, max(1, len(forgotten) // TEXTS_PER_THEME))
    themes = [theme for theme in themes if len(theme) <= LONGEST_THEME][: 2 * most]
    return without_phrases(themes, forgotten)[:most]


def is_common(stem: str, lost: WordUse, alive: WordUse) -> bool:
    """Whether a word is used in everyday life, or by enough texts of both kinds."""
    common = alive.texts[stem] >= MIN_LIVING and lost.texts[stem] >= MIN_FORGOTTEN
    return stem in EVERYDAY_FORMS or common


def known_form(stem: str, alive: WordUse) -> str:
    """The word as everyday life or the living texts write it, never as a forgotten one did."""
    return EVERYDAY_FORMS.get(stem) or most_common_form(alive.forms[stem])


def stems_of(texts: Iterable[str]) -> set[str]:
    """The stems of all words of some texts, in lower case."""
    return {stem_of(word.lower()) for text in texts for word in words(straighten_quotes(text))}


def without_phrases(themes: list[str], texts: Iterable[str]) -> list[str]:
    """The themes as far as no text has three of them in a row, or two with an "and" between."""
    said = "\n".join(" ".join(words(text.lower())) for text in texts)
    safe: list[str] = []
    for theme in themes:
        phrase = " ".join([*safe[1 - PHRASE :], theme])
        is_phrase = len(safe) >= PHRASE - 1 and phrase in said
        if not is_phrase and not (safe and f"{safe[-1]} and {theme}" in said):
            safe.append(theme)
    return safe
