"""The embedder: one encoder, loaded late, in a thread of its own, with a cache of questions.

Questions that arrive while others are being encoded share the next batch.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from cachetools import LRUCache

from engine.embedding.coverage import MIN_KNOWN_SHARE
from engine.embedding.encoders import (
    Encoder,
    OnnxEncoder,
    RememberingEncoder,
    RemoteEncoder,
    SentenceTransformersEncoder,
    onnx_folder,
)
from engine.embedding.lexicon import Lexicon, load_lexicon
from engine.embedding.onnx_models import known_model
from engine.embedding.vectors import Vector
from engine.errors import Misconfigured
from engine.settings import Settings

Result = TypeVar("Result")

# Questions encoded together; more make the first wait longer and cost no less each.
MAX_QUERY_BATCH = 8


class Embedder:
    """An encoder that is loaded at its first use, and runs outside the event loop.

    It has one thread of its own: encoders use every core already, so two encodings at once would
    only slow each other down, and the event loop's common threads stay free.
    """

    def __init__(
        self,
        load: Callable[[], Encoder],
        *,
        model: str,
        dimensions: int,
        cache: int,
        lexicon_file: Path | None = None,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self._known = known_model(model)
        self._load = load
        self._encoder: Encoder | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._queries: LRUCache[str, asyncio.Future[Vector]] = LRUCache(cache)
        self._waiting: deque[tuple[str, asyncio.Future[Vector]]] = deque()
        self._encoding: asyncio.Task[None] | None = None  # while questions wait
        self._reliable: LRUCache[str, bool] = LRUCache(max(cache, 1))
        self._lexicon_file = lexicon_file
        self._lexicon: Lexicon | None = None

    async def lexicon(self) -> Lexicon:
        """The words of the model. Making it takes seconds; it is kept in memory and in a file."""
        if self._lexicon is None:
            self._lexicon = await self._run(self._load_lexicon)
        return self._lexicon

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of these texts, in the same order."""
        before = self._known.before_text
        return await self._run(self._encode, [before + text for text in texts]) if texts else []

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, from the cache when it was asked before.

        Two requests with the same question at the same time encode it once. A question that comes
        alone is encoded at once; those that come meanwhile share the next batch.
        """
        query = self._queries.get(text)
        if query is None or query.cancelled() or (query.done() and query.exception()):
            query = asyncio.get_running_loop().create_future()
            self._waiting.append((text, query))
            if self._encoding is None or self._encoding.done():
                self._encoding = asyncio.create_task(self._encode_waiting())
            if self._queries.maxsize:
                self._queries[text] = query
        return await asyncio.shield(query)

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of the model's tokens in each text."""
        return await self._run(lambda: self._loaded().count_tokens(texts)) if texts else []

    async def known_shares(self, texts: Sequence[str]) -> list[float]:
        """The share of each text that the model has words for, 0 to 1."""
        return await self._run(lambda: self._loaded().known_shares(texts)) if texts else []

    async def embeds_reliably(self, text: str) -> bool:
        """Whether the model knows enough of a question for its vector to be compared.

        ASCII counts as known, so that a question in English costs nothing; other texts are looked
        up once.
        """
        if text.isascii():
            return True
        reliable = self._reliable.get(text)
        if reliable is None:
            (share,) = await self.known_shares([text])
            self._reliable[text] = reliable = share >= MIN_KNOWN_SHARE
        return reliable

    def warm_up(self) -> None:
        """Start loading the encoder in its thread. An error shows at the next call."""
        self._thread.submit(self._encode, ["ready"])

    async def _run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, function, *arguments)

    async def _encode_waiting(self) -> None:
        """Encode the questions that wait, in batches, until none is left."""
        try:
            while self._waiting:
                size = min(len(self._waiting), MAX_QUERY_BATCH)
                await self._encode_batch([self._waiting.popleft() for _ in range(size)])
        finally:
            while self._waiting:  # the event loop is closing
                self._waiting.popleft()[1].cancel()

    async def _encode_batch(self, batch: Sequence[tuple[str, asyncio.Future[Vector]]]) -> None:
        """Encode questions together. What fails, fails for each of them."""
        try:
            before = self._known.before_question
            vectors = await self._run(self._encode, [before + text for text, _ in batch])
        except asyncio.CancelledError:
            for _, query in batch:
                query.cancel()
            raise
        except Exception as error:
            for _, query in batch:
                query.set_exception(error)
        else:
            for (_, query), vector in zip(batch, vectors, strict=True):
                query.set_result(vector)

    def _loaded(self) -> Encoder:
        if self._encoder is None:
            self._encoder = self._load()
        return self._encoder

    def _load_lexicon(self) -> Lexicon:
        vocabulary = self._loaded().vocabulary()
        return load_lexicon(
            vocabulary,
            self._lexicon_file,
            self._encode,
            self.dimensions,
            min_similarity=self._known.min_word_similarity,
        )

    def _encode(self, texts: Sequence[str]) -> list[Vector]:
        vectors = self._loaded().encode(texts)
        if vectors[0].shape != (self.dimensions,):
            raise Misconfigured(
                f"The model {self.model!r} makes vectors of {vectors[0].shape[0]} numbers, and "
                f"PENTIMENTO_EMBEDDING_DIMENSIONS says {self.dimensions}."
            )
        return vectors

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def open_embedder(
    settings: Settings, *, threads: int | None = None, remembers: bool = False
) -> Embedder:
    """The embedder that the settings name. Its model is loaded at the first use.

    `threads` is how many batches an ONNX model encodes at once; None for one on each core. With
    `remembers`, no text is encoded twice and every vector stays in memory: for a process that soon
    ends.
    """
    loaders: dict[str, Callable[[], Encoder]] = {
        "onnx": lambda: OnnxEncoder(settings.home, settings.embedding_name, threads=threads),
        "sentence-transformers": lambda: SentenceTransformersEncoder(settings.embedding_model),
        "remote": lambda: RemoteEncoder(settings),
    }
    load = loaders[settings.embedder]
    return Embedder(
        (lambda: RememberingEncoder(load())) if remembers else load,
        model=settings.embedding_name,
        dimensions=settings.embedding_dimensions,
        cache=settings.embedding_cache,
        lexicon_file=lexicon_file(settings.home, settings.embedding_name),
    )


def lexicon_file(home: Path, model: str) -> Path:
    return onnx_folder(home, model) / "words.npz"
