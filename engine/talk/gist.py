"""What a segment of a conversation is about: a label, and sentences to sum it up with.

Values in, values out, and only words that were said: nothing here can tell what was not.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.talk.segments import Turn
from engine.text import (
    MAX_READ_CHARACTERS,
    WordForms,
    clean_text,
    forms_by_stem,
    most_common_form,
    sentences,
    stem_of,
    word_before,
    word_set,
    words,
)

TERMS = 3  # in a label
LONG = 240  # characters of a sentence that are told
SENTENCES = 40  # of one message that are looked at
ENOUGH = 3  # words that name something make a sentence worth telling
ARTICLES = word_set("a an the my your his her our their this that these those")
# What people say to each other while they talk about something.
CHATTY = word_set(
    "thanks thank thankful glad awesome amazing wow cool sound sounds sure hope hopes hoping happy "
    "sorry yeah yep nope definitely totally absolutely excited exciting please welcome wonderful "
    "fantastic beautiful best better great kind sort part way ways place people person guy guys "
    "someone something everything anything everyone stuff fun cute sweet perfect incredible "
    "inspiring important special favorite favourite feeling feelings enjoy enjoys enjoying start "
    "starts starting stay share sharing help helps helping give gives giving find finds finding "
    "hear see seeing seen saw show shows mean means guess bet remember wait care long hard easy "
    "real right wrong true nothing can't lol yay omg congrats congratulations proud luck lucky "
    "cheers bye check checking ask asks asking talk talks talking chat wonder wondering believe "
    "able ready busy recently lately currently yet ago around away back forward ever even though "
    "since whole full end ends bring brings idea ideas tip tips advice support supportive others "
    "another else piece pretty quite super different interesting happen happens happening"
)


@dataclass(frozen=True, slots=True)
class Part:
    """One sentence that may sum a segment up."""

    text: str  # with who said it
    message_id: str
    place: int  # of its message in the segment


def label(turns: Sequence[Turn]) -> str:
    """What was talked about, in the words of messages that nobody wants forgotten.

    When they name nothing, the day it was.
    """
    heard = [turn for turn in turns if not turn.flagged]
    terms = key_terms([turn.content for turn in heard], spoken_by=speakers(turns))
    if not terms:
        return f"{turns[0].said_at.day} {turns[0].said_at:%B %Y}"
    told = ", ".join(terms)
    return told[0].upper() + told[1:]


def speakers(turns: Sequence[Turn]) -> list[str]:
    return sorted({turn.speaker for turn in turns})


def key_terms(texts: Sequence[str], *, spoken_by: Sequence[str] = ()) -> list[str]:
    """What most of these texts speak of, told as it is mostly written, the most common first.

    A word comes with the one before it where that is mostly the same: knee operation. The names of
    those who talk are what they call each other by, and no topic.
    """
    readings = [WordForms.of(text) for text in texts]
    called = names_of(spoken_by)
    forms: dict[str, Counter[str]] = {}
    spread: Counter[str] = Counter()
    for reading in readings:
        for stem, written in reading.forms.items():
            if not any(is_small_talk(word.lower(), called) for word in written):
                spread[stem] += 1
                forms.setdefault(stem, Counter()).update(written)
    first = {stem: place for place, stem in enumerate(forms)}
    things = named_as_things(readings)

    def by_weight(stem: str) -> tuple[float, int]:
        weight = 2.0 if is_name(forms[stem]) else 1.5 if stem in things else 1.0
        return -spread[stem] * weight, first[stem]

    chosen = sorted(forms, key=by_weight)[: 2 * TERMS]
    before = {stem: word_before(readings, stem, max(2, (spread[stem] + 1) // 2)) for stem in chosen}
    for stem, word in before.items():
        root = stem_of((word or "").lower())
        if root not in forms or spread[root] > 2 * spread[stem]:
            before[stem] = None  # says nothing, or more than a part of this term
    within = {stem_of(word.lower()) for word in before.values() if word}
    terms = [
        f"{before[stem] or ''} {most_common_form(forms[stem])}".strip()
        for stem in chosen
        if stem not in within
    ]
    return terms[:TERMS]


def topical(text: str, called: set[str]) -> frozenset[str]:
    """The stems of the words of a text that a topic can be named by."""
    return frozenset(
        stem
        for stem, written in forms_by_stem(text).items()
        if not any(is_small_talk(word.lower(), called) for word in written)
    )


def names_of(spoken_by: Sequence[str]) -> set[str]:
    """What those who talk are called by, in lower case."""
    return {name.lower() for speaker in spoken_by for name in words(speaker)}


def is_small_talk(word: str, called: set[str]) -> bool:
    """Said in any talk: pleasantries, dates, and what those who talk call each other."""
    return word in CHATTY or word[0].isdigit() or any(name.startswith(word) for name in called)


def named_as_things(readings: Sequence[WordForms]) -> set[str]:
    """The words that come right after an article or the like, as things do."""
    return {
        stem
        for reading in readings
        for stem, before in reading.before.items()
        if any(word.lower() in ARTICLES for word in before)
    }


def is_name(forms: Counter[str]) -> bool:
    """Whether a word always has a capital, and more than once."""
    return forms.total() > 1 and not any(form.islower() for form in forms)


def parts(turns: Sequence[Turn]) -> list[Part]:
    """The best sentence of each message that has a meaning, the most telling first.

    One of each, so that however many messages are flagged, the rest can be summed up.
    """
    called = names_of(speakers(turns))
    told = [
        (place, turn, sentence, topical(sentence, called))
        for place, turn in enumerate(turns)
        if turn.meaning is not None
        for sentence in sentences(clean_text(turn.content[:MAX_READ_CHARACTERS]))[:SENTENCES]
    ]
    if not told:
        return []
    centre = np.sum([turn.meaning for turn in turns if turn.meaning is not None], axis=0)
    centre = centre / max(float(np.linalg.norm(centre)), 1e-9)
    common = commonness([(place, stems) for place, _, _, stems in told])
    ranked = []
    for nth, (place, turn, sentence, stems) in enumerate(told):
        score = (
            float(turn.meaning @ centre)
            + 2.0 * common[nth]
            + 0.6 * min(len(stems), ENOUGH) / ENOUGH
            + 0.1 * (1 - place / len(turns))  # what is said first says what it is about
            - (0.5 if sentence.endswith("?") else 0.0)
        )
        ranked.append((-score, nth, Part(f"{turn.speaker}: {short(sentence)}", turn.id, place)))
    best: dict[str, Part] = {}
    for _, _, part in sorted(ranked, key=lambda it: it[:2]):
        best.setdefault(part.message_id, part)
    return list(best.values())


def commonness(told: Sequence[tuple[int, frozenset[str]]]) -> list[float]:
    """How alike each sentence is to those of other messages, on the mean: 0 to 1.

    Alike are two that name the same: what they share over the root of the product of what each has.
    """
    everywhere: defaultdict[str, float] = defaultdict(float)
    here: defaultdict[tuple[int, str], float] = defaultdict(float)
    for place, stems in told:
        for stem in stems:
            everywhere[stem] += 1 / math.sqrt(len(stems))
            here[place, stem] += 1 / math.sqrt(len(stems))
    sizes = Counter(place for place, _ in told)
    return [
        sum(everywhere[stem] - here[place, stem] for stem in sorted(stems))
        / math.sqrt(max(1, len(stems)))
        / max(1, len(told) - sizes[place])
        for place, stems in told
    ]


def short(sentence: str) -> str:
    """A sentence that goes on and on, cut after a word."""
    if len(sentence) <= LONG:
        return sentence
    return sentence[:LONG].rsplit(None, 1)[0] + " …"
