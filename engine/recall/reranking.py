"""Reranking: a cross-encoder reads the question together with each of the best hits.

Off unless `PENTIMENTO_RERANKER` names a folder with the weights; the engine brings none. The folder
holds `model.onnx` (inputs `input_ids`, `attention_mask` and, if the model has them,
`token_type_ids`; its output is one logit for each pair, or two, the second for "relevant") and
`tokenizer.json`.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import structlog

from engine.errors import Misconfigured, RerankerUnavailable
from engine.settings import Settings

MAX_TOKENS = 512  # of a question and a text together; the text is cut
BATCH_SIZE = 8  # pairs that are read together
INPUTS = ("input_ids", "attention_mask", "token_type_ids")

log = structlog.get_logger("recall")


class Reranker(Protocol):
    """Scores how well texts answer a question."""

    @property
    def depth(self) -> int:
        """The number of best hits that are scored."""

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """A score for each text; higher is better. They compare texts of one question only.

        Raises RerankerUnavailable.
        """

    def close(self) -> None: ...


async def rerank(
    question: str, hits: Sequence[tuple[str, float]], reranker: Reranker | None
) -> list[int]:
    """The order of the hits after reranking, as indices. A hit is its text and first score.

    The best `depth` by first score are ordered by the reranker, equal ones by first score; the
    others stay behind them. Without a reranker, or when it fails, the first ranking stays.
    """
    by_first_score = sorted(range(len(hits)), key=lambda index: -hits[index][1])
    if reranker is None or not hits:
        return by_first_score
    head, tail = by_first_score[: reranker.depth], by_first_score[reranker.depth :]
    try:
        scores = await reranker.scores(question, [hits[index][0] for index in head])
    except RerankerUnavailable as error:
        log.warning("reranking_failed", why=error.why)
        return by_first_score
    best_first = sorted(range(len(head)), key=lambda place: (-scores[place], place))
    return [head[place] for place in best_first] + tail


class OnnxReranker:
    """A cross-encoder of a folder, run by onnxruntime in a thread of its own."""

    def __init__(self, folder: Path, *, depth: int) -> None:
        """Loads the weights. A folder that holds no such model raises Misconfigured."""
        self._depth = depth
        self._model = CrossEncoder.load(folder)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reranker")

    @property
    def depth(self) -> int:
        return self._depth

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._model.scores, question, texts)
        except Exception as error:  # onnxruntime's errors share no class of their own
            raise RerankerUnavailable(type(error).__name__) from error

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """A session of onnxruntime and its tokenizer. Its methods block."""

    session: Any
    tokenizer: Any
    inputs: frozenset[str]  # that the model takes

    @classmethod
    def load(cls, folder: Path) -> "CrossEncoder":
        """The model of a folder. One that is missing or cannot be used raises Misconfigured."""
        for name in ("model.onnx", "tokenizer.json"):
            if not (folder / name).is_file():
                raise Misconfigured(f"PENTIMENTO_RERANKER names {folder}, which has no {name}.")
        import onnxruntime
        from tokenizers import Tokenizer

        try:
            session = onnxruntime.InferenceSession(
                folder / "model.onnx", providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # neither library has an error of its own
            raise Misconfigured(
                f"The model in {folder}, which PENTIMENTO_RERANKER names, cannot be loaded."
            ) from error
        inputs = frozenset(entry.name for entry in session.get_inputs())
        if not {"input_ids"} <= inputs <= {*INPUTS}:
            raise Misconfigured(
                f"The reranker takes {', '.join(sorted(inputs))}; known are {', '.join(INPUTS)}."
            )
        tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
        padding = tokenizer.padding or {}
        tokenizer.enable_padding(
            pad_id=padding.get("pad_id", 0), pad_token=padding.get("pad_token", "[PAD]")
        )
        return cls(session, tokenizer, inputs)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """A score for each text. Texts of a similar length are read together."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        scores = np.empty(len(texts))
        for start in range(0, len(texts), BATCH_SIZE):
            batch = order[start : start + BATCH_SIZE]
            scores[batch] = self.batch_scores([(question, texts[index]) for index in batch])
        return [float(score) for score in scores]

    def batch_scores(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """A score for each pair of question and text."""
        encoded = self.tokenizer.encode_batch(list(pairs))
        values = {
            "input_ids": [encoding.ids for encoding in encoded],
            "attention_mask": [encoding.attention_mask for encoding in encoded],
            "token_type_ids": [encoding.type_ids for encoding in encoded],
        }
        fed = {name: np.array(values[name], np.int64) for name in self.inputs}
        logits = np.asarray(self.session.run(None, fed)[0], float).reshape(len(pairs), -1)
        if logits.shape[1] > 2 or not np.isfinite(logits).all():
            raise ValueError("neither one nor two finite logits for each pair")
        return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


def open_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the settings name, loaded; None when they name none."""
    if settings.reranker is None:
        return None
    return OnnxReranker(settings.reranker, depth=settings.reranker_depth)
