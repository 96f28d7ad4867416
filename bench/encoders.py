"""Compares embedding models by themselves: how well cosines alone find the evidence, and how fast.

No graph and no ranking: every message of a conversation is compared with the question, whole (cut
at the model's length) and by its best passage of 120 words. recall@10 is the share of a question's
evidence messages among the ten nearest, averaged over all questions. Speed is measured with the
texts of the data: one question at a time, and many texts at once.

    python -m bench.encoders DATA [CONVERSATIONS]
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from engine.embedding import Embedder, Vector, known_model, open_embedder
from engine.settings import DEFAULT_MODEL, Settings

MODELS = (DEFAULT_MODEL, "BAAI/bge-small-en-v1.5")
PASSAGE_WORDS = 120
TOP = 10
TIMED_QUESTIONS, TIMED_TEXTS = 50, 96
BATCH_SIZE = 256  # texts handed over at once


def passages(text: str) -> list[str]:
    """The text in pieces of at most `PASSAGE_WORDS` words."""
    words = text.split()
    starts = range(0, max(len(words), 1), PASSAGE_WORDS)
    return [" ".join(words[start : start + PASSAGE_WORDS]) for start in starts]


def without_names(question: str, conversation: dict[str, Any]) -> str:
    """The question as recall embeds it: a name is near to all that was said to or about someone."""
    names = "|".join(map(re.escape, conversation["speakers"]))
    return re.sub(rf"\b(?:{names})(?:'s)?\b", "", question)


async def embed_all(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vector]:
    """The vector of each text; equal texts are encoded once."""
    unique = list(dict.fromkeys(texts))
    vectors: list[Vector] = []
    for start in range(0, len(unique), BATCH_SIZE):
        vectors += await embedder.embed(unique[start : start + BATCH_SIZE])
    return dict(zip(unique, vectors, strict=True))


async def recalls(embedder: Embedder, conversation: dict[str, Any]) -> list[tuple[float, ...]]:
    """For each question, recall@10 over whole messages and over passages."""
    turns = conversation["turns"]
    pieces = [passages(turn["text"]) for turn in turns]
    texts = [turn["text"] for turn in turns]
    all_pieces = [piece for group in pieces for piece in group]
    vectors = await embed_all(embedder, [*texts, *all_pieces])
    whole, parts = (np.stack([vectors[text] for text in of]) for of in (texts, all_pieces))
    starts = np.cumsum([0, *map(len, pieces)])[:-1]
    found = []
    for question in conversation["questions"]:
        vector = await embedder.embed_query(without_names(question["question"], conversation))
        evidence = set(question["evidence"])
        found.append(
            tuple(
                len(evidence & {turns[index]["id"] for index in np.argsort(-scores)[:TOP]})
                / len(evidence)
                for scores in (whole @ vector, np.maximum.reduceat(parts @ vector, starts))
            )
        )
    return found


async def speeds(embedder: Embedder, conversations: Sequence[dict[str, Any]]) -> tuple[float, ...]:
    """Milliseconds for one question; texts a second of messages and of full passages."""
    questions = [question["question"] for talk in conversations for question in talk["questions"]]
    texts = [turn["text"] for talk in conversations for turn in talk["turns"]]
    full = [piece for text in texts for piece in passages(text)]
    longest = sorted(full, key=lambda piece: -len(piece.split()))[:TIMED_TEXTS]
    short = [piece for piece in full if len(piece.split()) <= PASSAGE_WORDS // 4][:TIMED_TEXTS]
    await embedder.embed(["ready"])
    begun = time.perf_counter()
    for question in questions[:TIMED_QUESTIONS]:
        await embedder.embed_query(f"{question} ")  # not in the cache yet
    single = (time.perf_counter() - begun) / len(questions[:TIMED_QUESTIONS]) * 1000
    rates = []
    for group in (short, longest):
        begun = time.perf_counter()
        await embedder.embed(group)
        rates.append(len(group) / (time.perf_counter() - begun))
    return (single, *rates)


async def measure(model: str, conversations: Sequence[dict[str, Any]]) -> list[str]:
    """The row of a model: recall over whole messages and over passages, and its speed."""
    settings = Settings(embedding_model=model, embedding_dimensions=known_model(model).dimensions)
    embedder = open_embedder(settings)
    timed = await speeds(embedder, conversations)
    figures = np.array([pair for talk in conversations for pair in await recalls(embedder, talk)])
    embedder.close()
    shares = [f"{100 * share:.1f} %" for share in figures.mean(axis=0)]
    return [model, str(len(figures)), *shares, *(f"{figure:.1f}" for figure in timed)]


def main(data: Path, conversations: int | None = None) -> None:
    """Print a table with a row for each model, and each row as soon as it is measured."""
    talks = [json.loads(line) for line in data.read_text().splitlines()][:conversations]
    table = Table(
        "model", "questions", "whole", "passages", "ms a question", "short/s", "120 words/s"
    )
    console = Console(width=120)
    for model in MODELS:
        row = asyncio.run(measure(model, talks))
        console.print(*row)
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
