"""What has to be known of a model beyond its weights: pooling, length, and what precedes a text.

A model that is not listed is used as sentence-transformers describes it, with nothing before its
texts. One that is listed with `onnx` can be fetched by `pentimento install`.
"""

from dataclasses import dataclass
from typing import Literal

from engine.settings import DEFAULT_MODEL, INT8_SUFFIX


@dataclass(frozen=True, slots=True)
class KnownModel:
    """How the vectors of one model are made."""

    name: str
    onnx: bool = False  # whether its weights can be fetched as ONNX
    is_rounded: bool = False  # to integers of one byte
    pooling: Literal["mean", "first"] = "mean"  # of the token vectors: all, or the first token's
    dimensions: int = 384
    max_tokens: int = 512
    before_question: str = ""
    before_text: str = ""
    # Cosine from which one word counts as a match for another; without one it is estimated, because
    # models differ in how near two words are that have nothing in common.
    min_word_similarity: float | None = None


KNOWN_MODELS: dict[str, KnownModel] = {
    model.name: model
    for model in (
        KnownModel(DEFAULT_MODEL, onnx=True, max_tokens=256, min_word_similarity=0.45),
        KnownModel(
            f"{DEFAULT_MODEL}{INT8_SUFFIX}",
            onnx=True,
            is_rounded=True,
            max_tokens=256,
            min_word_similarity=0.45,
        ),
        KnownModel(
            "BAAI/bge-small-en-v1.5",
            onnx=True,
            is_rounded=True,
            pooling="first",
            before_question="Represent this sentence for searching relevant passages: ",
        ),
        *(
            KnownModel(
                f"intfloat/multilingual-e5-{size}",
                dimensions=dimensions,
                before_question="query: ",
                before_text="passage: ",
            )
            for size, dimensions in (("small", 384), ("base", 768), ("large", 1024))
        ),
    )
}


def known_model(name: str) -> KnownModel:
    """What is known of a model; the defaults when nothing is."""
    return KNOWN_MODELS.get(name) or KnownModel(name)
