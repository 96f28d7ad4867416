"""Reranking with a real, tiny cross-encoder: it scores a pair by the words that both share."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from structlog.testing import capture_logs

from engine.errors import Misconfigured, RerankerUnavailable
from engine.recall.reranking import MAX_TOKENS, OnnxReranker, open_reranker, rerank
from engine.settings import Settings

SPECIAL = ("[PAD]", "[UNK]", "[SEP]")
PHRASES = (
    "where does sam live",
    "in lisbon",
    "the dog sleeps a lot",
    "tea is green",
    "my sister paints",
)
KNOWN = [*SPECIAL, *(word for phrase in PHRASES for word in phrase.split())]
VOCABULARY = {word: token_id for token_id, word in enumerate(dict.fromkeys(KNOWN))}


def tokenizer_json() -> str:
    """A tokenizer of whole words that marks question and text by their type."""
    segments = [
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": segments,
                "pair": [*segments, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}},
            },
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": VOCABULARY, "unk_token": "[UNK]"},
        }
    )


def overlap_model(*, logits: int) -> onnx.ModelProto:
    """Looks up a vector for each token, sums those of the question and of the text, and multiplies.

    A word's vector has a 1 at its own place, so the product counts the words that both have.
    """
    table = np.eye(len(VOCABULARY), dtype=np.float32)
    table[:3] = 0  # padding, unknown words and the separator count for nothing
    weights = np.array([[1.0]] if logits == 1 else [[-1.0, 1.0]], np.float32)
    of_text = "token_type_ids"
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("Mul", ["attention_mask", of_text], ["text_mask"]),
        helper.make_node("Sub", ["attention_mask", "text_mask"], ["question_mask"]),
        *(
            node
            for part in ("text", "question")
            for node in (
                helper.make_node("Cast", [f"{part}_mask"], [f"{part}_cast"], to=TensorProto.FLOAT),
                helper.make_node("Unsqueeze", [f"{part}_cast", "last"], [f"{part}_wide"]),
                helper.make_node("Mul", ["vectors", f"{part}_wide"], [f"{part}_words"]),
                helper.make_node("ReduceSum", [f"{part}_words", "middle"], [part], keepdims=0),
            )
        ),
        helper.make_node("Mul", ["text", "question"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "middle"], ["count"], keepdims=1),
        helper.make_node("MatMul", ["count", "weights"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "overlap",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask", of_text)
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", logits])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(np.array([2]), "last"),
            numpy_helper.from_array(np.array([1]), "middle"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def write_model(folder: Path, *, logits: int = 1) -> Path:
    onnx.save(overlap_model(logits=logits), folder / "model.onnx")
    (folder / "tokenizer.json").write_text(tokenizer_json())
    return folder


QUESTION = "where does sam live"
HITS = [
    ("the dog sleeps a lot", 0.9),
    ("my sister paints", 0.8),
    ("sam does live in lisbon", 0.7),
    ("tea is green where sam is", 0.6),
    ("where does sam live", 0.1),
]


@pytest.mark.parametrize("logits", [1, 2])
async def test_the_best_hits_are_ordered_by_the_reranker_and_the_others_stay_behind(
    tmp_path: Path, logits: int
) -> None:
    reranker = OnnxReranker(write_model(tmp_path, logits=logits), depth=4)

    order = await rerank(QUESTION, HITS, reranker)

    assert order == [2, 3, 0, 1, 4]
    reranker.close()


async def test_hits_are_taken_by_their_first_score_whatever_their_order(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_model(tmp_path), depth=2)

    order = await rerank(QUESTION, [HITS[4], HITS[2], HITS[0]], reranker)

    assert order == [1, 2, 0]
    reranker.close()


async def test_a_text_scores_the_same_alone_and_among_many_of_any_length(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_model(tmp_path), depth=30)
    texts = ["sam", *(f"sam {'the dog sleeps ' * count}" for count in range(20))]

    alone = [(await reranker.scores(QUESTION, [text]))[0] for text in texts]

    assert await reranker.scores(QUESTION, texts) == alone == [1.0] * len(texts)
    assert await reranker.scores(QUESTION, []) == []
    reranker.close()


async def test_a_text_is_read_up_to_its_limit(tmp_path: Path) -> None:
    reranker = OnnxReranker(write_model(tmp_path), depth=30)
    padding = "green " * MAX_TOKENS

    early, late = await reranker.scores(QUESTION, [f"sam {padding}", f"{padding} sam"])

    assert (early, late) == (1.0, 0.0)
    reranker.close()


class Broken:
    """A reranker that always fails."""

    depth = 30

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        raise RerankerUnavailable("Fail")

    def close(self) -> None:
        pass


@pytest.mark.parametrize("reranker", [None, Broken()])
async def test_without_a_reranker_or_when_it_fails_the_first_ranking_stays(
    reranker: Broken | None,
) -> None:
    with capture_logs() as logs:
        order = await rerank(QUESTION, HITS, reranker)

    assert order == [0, 1, 2, 3, 4]
    failed = [entry for entry in logs if entry["event"] == "reranking_failed"]
    assert [entry["why"] for entry in failed] == (["Fail"] if reranker else [])
    assert QUESTION not in str(logs)


async def test_a_run_that_fails_is_a_reranker_that_is_unavailable(tmp_path: Path) -> None:
    tokenizer = json.loads(tokenizer_json())
    tokenizer["model"]["vocab"]["sam"] = 10_000  # a token that the model has no vector for
    onnx.save(overlap_model(logits=1), tmp_path / "model.onnx")
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    reranker = OnnxReranker(tmp_path, depth=30)

    with pytest.raises(RerankerUnavailable):
        await reranker.scores(QUESTION, ["sam"])

    assert await rerank(QUESTION, HITS, reranker) == [0, 1, 2, 3, 4]
    reranker.close()


def settings(**changes: Any) -> Settings:
    return Settings(_env_file=None, **changes)


def test_no_reranker_is_opened_unless_a_folder_is_named(tmp_path: Path) -> None:
    write_model(tmp_path)

    reranker = open_reranker(settings(reranker=tmp_path, reranker_depth=7))

    assert open_reranker(settings()) is None
    assert reranker
    assert reranker.depth == 7
    reranker.close()


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_file_is_refused_by_its_name(tmp_path: Path, missing: str) -> None:
    (write_model(tmp_path) / missing).unlink()

    with pytest.raises(Misconfigured, match=f"has no {missing}"):
        open_reranker(settings(reranker=tmp_path))


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_file_that_cannot_be_loaded_is_refused(tmp_path: Path, damaged: str) -> None:
    (write_model(tmp_path) / damaged).write_bytes(b"{}")

    with pytest.raises(Misconfigured, match="cannot be loaded"):
        open_reranker(settings(reranker=tmp_path))


def test_a_model_with_other_inputs_is_refused(tmp_path: Path) -> None:
    model = overlap_model(logits=1)
    extra = helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, [1])
    model.graph.input.append(extra)
    onnx.save(model, write_model(tmp_path) / "model.onnx")

    with pytest.raises(Misconfigured, match="pixel_values"):
        open_reranker(settings(reranker=tmp_path))
