"""How much of a text a model has words for, and whether its vector can be trusted.

A model that was taught no Hindi spells it letter by letter, and the vectors of all Hindi texts are
alike. Such texts are compared by spelling instead.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from engine.models import Row

MIN_KNOWN_SHARE = 0.5  # of a text's characters; below it vectors do not tell texts apart
MIN_IDEOGRAPHS = 3000  # in a vocabulary that was made for Chinese; an English one has hundreds

LATIN_OR_NO_LETTER, IDEOGRAPH, OTHER_LETTER = 0, 1, 2


def known_share(
    text: str, spans: Iterable[tuple[int, int]], unknown: Iterable[bool], *, ideographs: bool
) -> float:
    """The share of a text's characters in tokens that carry meaning, 0 to 1.

    `spans` are the tokens' positions in the text and `unknown` says which of them the vocabulary
    lacks. A token of one letter beyond Latin counts as spelled, not known; with `ideographs`, one
    ideograph is a word.
    """
    total = known = 0
    for (start, end), is_unknown in zip(spans, unknown, strict=True):
        token = text[start:end].strip()
        total += len(token)
        is_spelled = len(token) == 1 and letter_kind(token) > ideographs
        known += 0 if is_unknown or is_spelled else len(token)
    return known / total if total else 1.0


@lru_cache(4096)
def letter_kind(character: str) -> int:
    """The kind of a character: OTHER_LETTER, IDEOGRAPH or LATIN_OR_NO_LETTER."""
    if unicodedata.category(character)[0] not in "LM":
        return LATIN_OR_NO_LETTER
    name = unicodedata.name(character, "")
    if name.startswith("LATIN"):
        return LATIN_OR_NO_LETTER
    return IDEOGRAPH if name.startswith("CJK") else OTHER_LETTER


def knows_ideographs(vocabulary: Iterable[str]) -> bool:
    """Whether a vocabulary holds enough ideographs to read Chinese."""
    count = sum(len(token) == 1 and letter_kind(token) == IDEOGRAPH for token in vocabulary)
    return count >= MIN_IDEOGRAPHS


def has_reliable_vector(item: Row) -> bool:
    """Whether the encoder knows enough of a stored item's text for its vector to be compared."""
    share = item.get("known_share")
    return share is None or share >= MIN_KNOWN_SHARE
