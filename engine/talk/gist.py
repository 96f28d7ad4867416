"""The label of a conversation segment, and the sentences that summarize it.

Pure functions that select words and sentences of the messages; they never write new ones.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.embedding import Vector
from engine.talk.segments import Turn
from engine.text import (
    DETERMINERS,
    MAX_READ_CHARACTERS,
    SMALL_TALK,
    WordForms,
    clean_text,
    forms_by_stem,
    most_common_form,
    sentences,
    stem_of,
    word_before,
    words,
)

MAX_TERMS = 3  # in a label
MAX_SENTENCE_CHARACTERS = 240
MAX_SENTENCES = 40  # of one message that are compared
ENOUGH_CONTENT_WORDS = 3  # a sentence with more of them scores no higher
NAME_WEIGHT, NOUN_WEIGHT = 2.0, 1.5  # of a term that is always capitalized; after a determiner


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """One sentence that can stand in a segment's summary."""

    text: str  # with the speaker's name before it
    message_id: str
    place: int  # index of its message in the segment


@dataclass(frozen=True, slots=True)
class RatedSentence:
    """A sentence of a segment with what its score is computed from."""

    place: int  # index of its message in the segment
    turn: Turn
    embedding: Vector  # of the whole message
    text: str
    stems: frozenset[str]  # of its topic words


def topic_label(turns: Sequence[Turn]) -> str:
    """The key terms of the unflagged messages; the date when there are none."""
    unflagged = [turn.content for turn in turns if not turn.flagged]
    terms = key_terms(unflagged, speakers=speaker_names(turns))
    if not terms:
        return f"{turns[0].said_at.day} {turns[0].said_at:%B %Y}"
    label = ", ".join(terms)
    return label[0].upper() + label[1:]


def speaker_names(turns: Sequence[Turn]) -> list[str]:
    return sorted({turn.speaker for turn in turns})


def key_terms(texts: Sequence[str], *, speakers: Sequence[str] = ()) -> list[str]:
    """The topic words that most of these texts use, in their most common form, best first.

    A word comes with the one before it where that is mostly the same: knee operation. Speakers'
    names are left out: people address each other by them.
    """
    readings = [WordForms.of(text) for text in texts]
    names = name_words(speakers)
    forms: dict[str, Counter[str]] = {}
    document_counts: Counter[str] = Counter()
    for reading in readings:
        for stem, form_counts in reading.forms.items():
            if not any(is_small_talk(word.lower(), names) for word in form_counts):
                document_counts[stem] += 1
                forms.setdefault(stem, Counter()).update(form_counts)
    chosen = best_stems(readings, forms, document_counts)[: 2 * MAX_TERMS]
    before = {
        stem: word_before(readings, stem, max(2, (document_counts[stem] + 1) // 2))
        for stem in chosen
    }
    for stem, word in before.items():
        prefix = stem_of((word or "").lower())
        if prefix not in forms or document_counts[prefix] > 2 * document_counts[stem]:
            before[stem] = None  # not a topic word, or so common that it is a term of its own
    used_as_prefix = {stem_of(word.lower()) for word in before.values() if word}
    terms = [
        f"{before[stem] or ''} {most_common_form(forms[stem])}".strip()
        for stem in chosen
        if stem not in used_as_prefix
    ]
    return terms[:MAX_TERMS]


def best_stems(
    readings: Sequence[WordForms],
    forms: Mapping[str, Counter[str]],
    document_counts: Mapping[str, int],
) -> list[str]:
    """The stems of `forms` by how many texts use them; names and nouns weigh more."""
    first_seen = {stem: index for index, stem in enumerate(forms)}
    nouns = stems_after_determiners(readings)

    def sort_key(stem: str) -> tuple[float, int]:
        weight = NAME_WEIGHT if is_name(forms[stem]) else NOUN_WEIGHT if stem in nouns else 1.0
        return -document_counts[stem] * weight, first_seen[stem]

    return sorted(forms, key=sort_key)


def topic_stems(text: str, speakers: set[str]) -> frozenset[str]:
    """The stems of a text's words that can name a topic."""
    return frozenset(
        stem
        for stem, forms in forms_by_stem(text).items()
        if not any(is_small_talk(word.lower(), speakers) for word in forms)
    )


def name_words(speakers: Sequence[str]) -> set[str]:
    """The words of the speakers' names, in lower case."""
    return {name.lower() for speaker in speakers for name in words(speaker)}


def is_small_talk(word: str, speakers: set[str]) -> bool:
    """Whether a word occurs in any talk: a pleasantry, a number, the start of a speaker's name."""
    return (
        word in SMALL_TALK or word[0].isdigit() or any(name.startswith(word) for name in speakers)
    )


def stems_after_determiners(readings: Sequence[WordForms]) -> set[str]:
    """The stems that stand right after an article or the like, as nouns do."""
    return {
        stem
        for reading in readings
        for stem, before in reading.before.items()
        if any(word.lower() in DETERMINERS for word in before)
    }


def is_name(forms: Counter[str]) -> bool:
    """Whether a word occurs more than once and is always capitalized."""
    return forms.total() > 1 and not any(form.islower() for form in forms)


def summary_sentences(turns: Sequence[Turn]) -> list[SummarySentence]:
    """The best sentence of each message that has an embedding, the best first.

    One of each message, so that a summary remains whichever messages are flagged later.
    """
    rated = rated_sentences(turns)
    if not rated:
        return []
    centroid = np.sum([turn.embedding for turn in turns if turn.embedding is not None], axis=0)
    centroid = centroid / max(float(np.linalg.norm(centroid)), 1e-9)
    overlaps = mean_overlaps([(sentence.place, sentence.stems) for sentence in rated])
    scores = [
        sentence_score(sentence, centroid, overlap, len(turns))
        for sentence, overlap in zip(rated, overlaps, strict=True)
    ]
    best: dict[str, SummarySentence] = {}
    for index in sorted(range(len(rated)), key=lambda index: (-scores[index], index)):
        turn, text = rated[index].turn, shorten(rated[index].text)
        best.setdefault(
            turn.id, SummarySentence(f"{turn.speaker}: {text}", turn.id, rated[index].place)
        )
    return list(best.values())


def rated_sentences(turns: Sequence[Turn]) -> list[RatedSentence]:
    """The first sentences of each message that has an embedding, with their topic words."""
    speakers = name_words(speaker_names(turns))
    return [
        RatedSentence(place, turn, turn.embedding, sentence, topic_stems(sentence, speakers))
        for place, turn in enumerate(turns)
        if turn.embedding is not None
        for sentence in sentences(clean_text(turn.content[:MAX_READ_CHARACTERS]))[:MAX_SENTENCES]
    ]


def sentence_score(
    sentence: RatedSentence, centroid: Vector, overlap: float, turn_count: int
) -> float:
    """How well a sentence represents its segment. Early statements rich in content score high."""
    content_words = min(len(sentence.stems), ENOUGH_CONTENT_WORDS)
    return (
        float(sentence.embedding @ centroid)
        + 2.0 * overlap
        + 0.6 * content_words / ENOUGH_CONTENT_WORDS
        + 0.1 * (1 - sentence.place / turn_count)
        - (0.5 if sentence.text.endswith("?") else 0.0)
    )


def mean_overlaps(stems_by_place: Sequence[tuple[int, frozenset[str]]]) -> list[float]:
    """The mean overlap of each sentence with the sentences of other messages, 0 to 1.

    The overlap of two is the number of stems they share over the geometric mean of their numbers of
    stems. Sums by stem make this linear in the number of sentences.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    own_totals: defaultdict[tuple[int, str], float] = defaultdict(float)
    for place, stems in stems_by_place:
        for stem in stems:
            totals[stem] += 1 / math.sqrt(len(stems))
            own_totals[place, stem] += 1 / math.sqrt(len(stems))
    sentence_counts = Counter(place for place, _ in stems_by_place)
    return [
        sum(totals[stem] - own_totals[place, stem] for stem in sorted(stems))
        / math.sqrt(max(1, len(stems)))
        / max(1, len(stems_by_place) - sentence_counts[place])
        for place, stems in stems_by_place
    ]


def shorten(sentence: str) -> str:
    """The sentence, cut after a word when it is too long."""
    if len(sentence) <= MAX_SENTENCE_CHARACTERS:
        return sentence
    return sentence[:MAX_SENTENCE_CHARACTERS].rsplit(None, 1)[0] + " …"
