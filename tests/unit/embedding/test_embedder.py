import asyncio
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.embedding.coverage import known_share, knows_ideographs
from engine.embedding.embedder import Embedder, open_embedder
from engine.embedding.lexicon import MIN_SIMILARITY, estimate_min_similarity, whole_words
from engine.embedding.vectors import Vector, normalized
from engine.errors import EmbedderUnavailable, Misconfigured, ModelMissing
from engine.settings import DEFAULT_MODEL, Settings
from tests.conftest import LetterEncoder
from tests.lives import DIMENSIONS
from tests.servers import INSTALLED


def an_embedder(**settings: Any) -> Embedder:
    return open_embedder(Settings(_env_file=None, home=INSTALLED, **settings))


@pytest.fixture(scope="module")
def onnx() -> Iterator[Embedder]:
    embedder = an_embedder()
    yield embedder
    embedder.close()


async def test_near_in_meaning_is_near_in_space(onnx: Embedder) -> None:
    cat, kitten, invoice = await onnx.embed(
        ["A cat sleeps on the sofa.", "The kitten naps on the couch.", "The invoice is overdue."]
    )

    assert cat.shape == (384,)
    assert cat.dtype == np.float32
    assert np.linalg.norm(cat) == pytest.approx(1, abs=1e-6)
    assert cat @ kitten > 0.5 > 0.3 > cat @ invoice


async def test_batches_encoded_side_by_side_give_each_text_its_own_vector(onnx: Embedder) -> None:
    texts = [f"Harbour number {n} " + "and its boats " * (n % 7) for n in range(43)]
    alone = [(await onnx.embed([text]))[0] for text in texts]

    together = await onnx.embed(texts)

    nearest = np.argmax(np.stack(together) @ np.stack(alone).T, axis=1)
    assert nearest.tolist() == [*range(43)]
    assert np.allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
async def test_a_text_has_one_vector_alone_or_among_others(precision: str) -> None:
    embedder = an_embedder(embedding_precision=precision)
    long = "We went on and on about the harbour. " * 100
    (alone,) = await embedder.embed(["Ada paints."])
    among, _ = await embedder.embed(["Ada paints.", long])

    assert alone @ among == pytest.approx(1, abs=1e-4)
    embedder.close()


async def test_vectors_of_another_precision_are_near_and_bear_another_name(onnx: Embedder) -> None:
    rounded = an_embedder(embedding_precision="int8")
    texts = [
        "A cat sleeps on the sofa.",
        "The kitten naps on the couch.",
        "The invoice is overdue.",
    ]

    cosines = [
        float(ours @ theirs)
        for ours, theirs in zip(await onnx.embed(texts), await rounded.embed(texts), strict=True)
    ]

    assert 0.95 < min(cosines) <= max(cosines) < 0.9999
    assert rounded.model == f"{onnx.model}-int8"
    rounded.close()


def test_only_the_onnx_model_has_another_precision() -> None:
    remote = an_embedder(
        embedder="remote", embedding_url="http://127.0.0.1:9/v1/", embedding_precision="int8"
    )

    assert remote.model == DEFAULT_MODEL


async def test_a_model_says_how_much_of_a_text_it_has_words_for(onnx: Embedder) -> None:
    known = [
        "I live in Lisbon now.",
        "Ich wohne in München und liebe grünen Tee.",
        "hydrochlorothiazide 25 mg, x**2",
        "",
    ]
    spelled = [
        "मैं लिस्बन में रहता हूँ।",
        "ฉันอาศัยอยู่ในกรุงเทพ",
        "私は東京に住んでいます",
        "我住在北京",
        "Я живу в Москве и люблю чай",
        "나는 서울에 살고 있다",
        "😀😀😀",
    ]

    assert min(await onnx.known_shares(known)) > 0.9
    assert max(await onnx.known_shares(spelled)) < 0.2
    (mixed,) = await onnx.known_shares(["My friend 田中太郎 lives in Kyoto and paints"])
    assert 0.7 < mixed < 1.0
    assert await onnx.known_shares([]) == []


def test_an_ideograph_is_a_word_to_a_model_that_was_taught_them() -> None:
    chinese = [chr(0x4E00 + place) for place in range(4000)]
    spans = [(place, place + 1) for place in range(5)]

    assert knows_ideographs(chinese)
    assert not knows_ideographs(chinese[:300])
    assert known_share("我住在北京", spans, [False] * 5, ideographs=True) == 1.0
    assert known_share("我住在北京", spans, [False] * 5, ideographs=False) == 0.0


def test_neither_torch_nor_the_runtime_is_loaded_before_the_first_text() -> None:
    heavy = ["torch", "sentence_transformers", "fastembed", "onnxruntime"]
    code = f"""
import sys
import api.app, tasks.jobs, ops.cli
from engine.embedding.embedder import open_embedder
from engine.settings import DEFAULT_MODEL, Settings
open_embedder(Settings(_env_file=None))
print([name for name in {heavy} if name in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"


async def test_loading_and_encoding_leave_the_event_loop_alone() -> None:
    here = threading.get_ident()
    seen: list[int] = []

    class Encoder(LetterEncoder):
        def __init__(self) -> None:
            super().__init__()
            seen.append(threading.get_ident())

        def encode(self, texts: Sequence[str]) -> list[Vector]:
            seen.append(threading.get_ident())
            return super().encode(texts)

    embedder = Embedder(Encoder, model="letters", dimensions=DIMENSIONS, cache=10)
    assert seen == []

    await embedder.embed(["a"])

    assert len(seen) == 2
    assert here not in seen
    embedder.close()


async def test_who_knows_that_texts_will_come_can_load_ahead() -> None:
    loaded = threading.Event()

    class Encoder(LetterEncoder):
        def __init__(self) -> None:
            super().__init__()
            loaded.set()

    embedder = Embedder(Encoder, model="letters", dimensions=DIMENSIONS, cache=10)
    embedder.warm_up()

    assert await asyncio.to_thread(loaded.wait, 5)
    embedder.close()


async def test_a_question_asked_again_or_at_once_is_encoded_once() -> None:
    encoder = LetterEncoder()
    embedder = Embedder(lambda: encoder, model="letters", dimensions=DIMENSIONS, cache=2)

    first, again = await asyncio.gather(embedder.embed_query("who"), embedder.embed_query("who"))
    await embedder.embed_query("who")

    assert encoder.encoded == ["who"]
    assert first is again

    await embedder.embed_query("when")
    await embedder.embed_query("where")
    await embedder.embed_query("who")
    assert encoder.encoded == ["who", "when", "where", "who"]
    embedder.close()


class SlowEncoder(LetterEncoder):
    """Encodes when it is let go, and keeps what it was given together."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        self.batches.append(list(texts))
        self.begun.set()
        self.go.wait(10)
        return super().encode(texts)


async def test_questions_that_come_while_another_is_encoded_are_encoded_together() -> None:
    encoder = SlowEncoder()
    embedder = Embedder(lambda: encoder, model="letters", dimensions=DIMENSIONS, cache=100)
    first = asyncio.create_task(embedder.embed_query("aa"))
    await asyncio.to_thread(encoder.begun.wait, 5)
    later = [asyncio.create_task(embedder.embed_query(text)) for text in "bcdefghijk"]
    await asyncio.sleep(0.05)
    assert encoder.batches == [["aa"]]

    encoder.go.set()
    vectors = await asyncio.gather(first, *later)

    assert encoder.batches == [["aa"], list("bcdefghi"), ["j", "k"]]
    assert [int(vector.argmax()) for vector in vectors] == list(range(11))
    embedder.close()


async def test_a_failure_is_told_to_each_question_of_the_batch_and_to_none_after_it() -> None:
    class Failing(SlowEncoder):
        def encode(self, texts: Sequence[str]) -> list[Vector]:
            vectors = super().encode(texts)
            if "c" in texts:
                raise EmbedderUnavailable("asleep")
            return vectors

    encoder = Failing()
    embedder = Embedder(lambda: encoder, model="letters", dimensions=DIMENSIONS, cache=100)
    first = asyncio.create_task(embedder.embed_query("a"))
    await asyncio.sleep(0.05)
    together = [asyncio.create_task(embedder.embed_query(text)) for text in "bc"]
    await asyncio.sleep(0.05)
    encoder.go.set()

    told = await asyncio.gather(*together, return_exceptions=True)

    assert (await first).argmax() == 0
    assert [type(answer) for answer in told] == [EmbedderUnavailable] * 2
    assert (await embedder.embed_query("b")).argmax() == 1
    embedder.close()


def test_an_event_loop_that_closes_leaves_no_question_waiting_for_ever() -> None:
    encoder = SlowEncoder()
    embedder = Embedder(lambda: encoder, model="letters", dimensions=DIMENSIONS, cache=100)

    async def leave_early() -> None:
        asked = [asyncio.ensure_future(embedder.embed_query(text)) for text in "ab"]
        await asyncio.wait(asked, timeout=0.1)

    asyncio.run(leave_early())
    encoder.go.set()

    assert asyncio.run(embedder.embed_query("a")).argmax() == 0
    assert asyncio.run(embedder.embed_query("c")).argmax() == 2
    embedder.close()


async def test_a_failure_is_not_remembered() -> None:
    class Flaky(LetterEncoder):
        def encode(self, texts: Sequence[str]) -> list[Vector]:
            if not self.encoded:
                self.encoded.append("failed")
                raise EmbedderUnavailable("asleep")
            return super().encode(texts)

    embedder = Embedder(Flaky, model="letters", dimensions=DIMENSIONS, cache=10)
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("who")

    assert (await embedder.embed_query("who")).shape == (DIMENSIONS,)
    embedder.close()


async def test_a_caller_who_leaves_does_not_spoil_it_for_the_next() -> None:
    go = threading.Event()

    class Slow(LetterEncoder):
        def encode(self, texts: Sequence[str]) -> list[Vector]:
            go.wait(10)
            return super().encode(texts)

    embedder = Embedder(Slow, model="letters", dimensions=DIMENSIONS, cache=10)
    leaver = asyncio.create_task(embedder.embed_query("who"))
    await asyncio.sleep(0.05)
    leaver.cancel()
    stayer = asyncio.create_task(embedder.embed_query("who"))
    await asyncio.sleep(0.05)
    go.set()

    assert (await stayer).shape == (DIMENSIONS,)
    embedder.close()


async def test_a_model_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="pentimento install"):
        await open_embedder(Settings(_env_file=None, home=tmp_path)).embed(["a"])
    with pytest.raises(ModelMissing, match="sentence-transformers"):
        await an_embedder(embedding_model="somebody/else").embed(["a"])
    with pytest.raises(ModelMissing, match="models"):
        await an_embedder(embedder="sentence-transformers").embed(["a"])


async def test_wrong_dimensions_are_noticed_at_the_first_vector() -> None:
    with pytest.raises(Misconfigured, match="384"):
        await an_embedder(embedding_dimensions=100).embed(["a"])


def test_nothing_has_no_direction() -> None:
    assert not normalized(np.zeros(3)).any()


class FakeService(BaseHTTPRequestHandler):
    """Speaks enough of OpenAI's protocol, and can be told to misbehave."""

    mood = "well"
    asked: list[dict[str, Any]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        FakeService.asked.append({**request, "key": self.headers["Authorization"]})
        vectors = LetterEncoder().encode(request["input"])
        data = [{"index": i, "embedding": (v * 3).tolist()} for i, v in enumerate(vectors)]
        answer = {"well": {"data": data[::-1]}, "odd": {"data": "?"}, "short": {"data": data[:-1]}}
        self.send_response(500 if self.mood == "ill" else 200)
        self.end_headers()
        self.wfile.write(json.dumps(answer.get(self.mood, {})).encode())

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeService)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/"
    server.shutdown()
    server.server_close()
    FakeService.mood = "well"


def a_remote(url: str) -> Embedder:
    return an_embedder(
        embedder="remote",
        embedding_url=url,
        embedding_model="letters",
        embedding_dimensions=DIMENSIONS,
        embedding_api_key="sesame",
    )


async def test_a_remote_service_is_asked_in_its_protocol(service: str) -> None:
    first, second = await a_remote(service).embed(["abba", "zoo"])

    assert FakeService.asked[-1]["input"] == ["abba", "zoo"]
    assert FakeService.asked[-1]["model"] == "letters"
    assert FakeService.asked[-1]["key"] == "Bearer sesame"
    assert np.linalg.norm(first) == pytest.approx(1)
    assert first[0] > 0
    assert second[25] > 0


@pytest.mark.parametrize("mood", ["ill", "odd", "short"])
async def test_a_remote_service_that_misbehaves_is_unavailable(service: str, mood: str) -> None:
    FakeService.mood = mood

    with pytest.raises(EmbedderUnavailable):
        await a_remote(service).embed(["abba", "zoo"])


async def test_a_remote_service_that_is_away_is_unavailable() -> None:
    with pytest.raises(EmbedderUnavailable):
        await a_remote("http://127.0.0.1:9/v1/").embed(["abba"])
    with pytest.raises(Misconfigured, match="EMBEDDING_URL"):
        await an_embedder(embedder="remote").embed(["abba"])


async def test_what_a_model_wants_before_questions_and_texts_is_put_there() -> None:
    plain, prefixed = LetterEncoder(), LetterEncoder()
    names = {"letters": plain, "intfloat/multilingual-e5-small": prefixed}
    for name, encoder in names.items():
        held = itertools.repeat(encoder).__next__
        embedder = Embedder(held, model=name, dimensions=DIMENSIONS, cache=2)
        await embedder.embed(["Ada paints."])
        await embedder.embed_query("Who paints?")
        embedder.close()

    assert plain.encoded == ["Ada paints.", "Who paints?"]
    assert prefixed.encoded == ["passage: Ada paints.", "query: Who paints?"]


def test_a_model_whose_words_are_all_near_each_other_has_few_matches_too() -> None:
    random = np.random.default_rng(1)
    vectors = np.stack([normalized(row) for row in random.normal(2.0, 1.0, (1600, 8))])

    threshold = estimate_min_similarity(vectors)

    matching = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)] >= threshold
    assert matching.mean() == pytest.approx(0.005, abs=0.001)
    assert estimate_min_similarity(vectors[:100]) == MIN_SIMILARITY


def test_pieces_that_continue_a_word_are_no_words() -> None:
    assert whole_words(["the", "##ing", "cat"]) == ["the", "cat"]
    assert whole_words(["\u2581the", "ing", "\u2581cat", "\u2581"]) == ["the", "cat"]


@pytest.mark.models
async def test_both_encoders_of_the_default_model_make_the_same_vectors(onnx: Embedder) -> None:
    texts = [
        "I moved to Lisbon in March and I love the light there.",
        "ok",
        "My sister's name is Inês; she restores azulejos — 17th century ones!",
        "Did you remember what we said about the exhibition? " * 40,
        "数字と漢字 🎨",
    ]
    torch = an_embedder(embedder="sentence-transformers")

    for ours, theirs in zip(await onnx.embed(texts), await torch.embed(texts), strict=True):
        assert ours @ theirs > 0.9999
    assert onnx.model == torch.model == DEFAULT_MODEL
    torch.close()


@pytest.mark.models
async def test_any_other_model_loads_from_a_folder(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import BoW

    SentenceTransformer(modules=[BoW(vocab=["paint", "light", "harbour"])]).save(str(tmp_path))
    embedder = an_embedder(
        embedder="sentence-transformers", embedding_model=str(tmp_path), embedding_dimensions=3
    )

    (vector,) = await embedder.embed(["light"])

    assert vector.tolist() == [0, 1, 0]
    embedder.close()
