"""Signals: the reasons for each item to be a hit, as numbers beside one another."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from engine.recall.asked import Asked
from engine.recall.fulltext import letter_groups
from engine.recall.questions import Period, Question
from engine.recall.tables import FloatArray, ItemTable
from engine.recall.times import microseconds

Signals = dict[str, FloatArray]  # by signal: one number for each item

MAX_SPELLED_CHARACTERS = 2000  # of a text that are compared by spelling
DAY = 86_400e6  # microseconds


def item_signals(table: ItemTable, asked: Asked, now: datetime, *, by_spelling: bool) -> Signals:
    """Every signal of each item of a table."""
    best, in_context, whole_text = table.similarities(asked.quantized)
    if by_spelling:
        texts = table.columns["text"]
        best = in_context = whole_text = spelling_similarity(asked.question.text, texts)
    return {
        "near": np.maximum(best, in_context),
        "meaning": best,
        "in_context": in_context,
        "vector": whole_text,
        "words": asked.word_match(table.words, len(table)),
        "answered_question": asked.word_match(table.answered_words, len(table)),
        "full_text": asked.term_match(table),
        **metadata_signals(table, asked.question, now),
    }


def metadata_signals(table: ItemTable, question: Question, now: datetime) -> Signals:
    """The signals that depend neither on vectors nor on words."""
    numbers = table.numbers
    said_at = numbers["said_at"]
    age_in_days = (microseconds(now) - said_at) / DAY
    person = next(iter(question.people)) if len(question.people) == 1 else None
    persona = None if question.asks_persona else question.persona
    return {
        "who": table.is_named(table.about, person).astype(float),
        "asked_fact": table.is_named(table.facts, question.fact).astype(float),
        "when": time_signal(question.periods, said_at),
        "newest": np.exp(-np.maximum(age_in_days, 0.0) / 90) * question.wants_newest,
        "persona_said": table.is_named(table.about, persona).astype(float),
        # An instruction bears on what is asked however short it is.
        "length": np.maximum(table.lengths, table.standing),
        "importance": numbers["importance"] / 5 - 1,
        "recency": np.exp(-np.maximum(age_in_days, 0.0) / 30),
        "pinned": numbers["pinned"],
        "access": table.accesses,
    }


def time_signal(periods: Sequence[Period], said_at: FloatArray) -> FloatArray:
    """How well the time of each item fits the best of the periods; 0 without periods."""
    fit = np.zeros(len(said_at))
    for period in periods:
        start, end = microseconds(period.start), microseconds(period.end)
        days_late = (said_at - end) / DAY
        # People speak of things when they happen, or some days later.
        steps = np.select([days_late < 0, days_late < 7, days_late < 31], [1.0, 0.7, 0.3])
        fit = np.maximum(fit, np.where(said_at < start, 0.0, steps))
    return fit


def spelling_similarity(question: str, texts: Sequence[str]) -> FloatArray:
    """The share of the question's letter groups that the beginning of each text contains."""
    groups = letter_groups(question)
    if not groups:
        return np.zeros(len(texts))
    beginnings = [text[:MAX_SPELLED_CHARACTERS].lower() for text in texts]
    return np.array([sum(group in text for group in groups) / len(groups) for text in beginnings])


def joined(arrays: Iterable[FloatArray]) -> FloatArray:
    """The arrays one after another; one alone is not copied."""
    parts = list(arrays)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0)
