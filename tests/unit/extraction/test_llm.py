"""A language model at the extractor's port: a local service that speaks OpenAI's chat protocol."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from engine.errors import Misconfigured
from engine.extraction.port import Extractor, open_extractor
from engine.extraction.rule_based import Extraction, ExtractionInput
from engine.models import PROPOSED_TYPES
from engine.settings import Settings

GOOD = {
    "items": [
        {
            "type": "semantic",
            "text": "Sam lives in Lisbon.",
            "kind": "fact",
            "subject": "Sam",
            "attribute": "home",
            "value": "Lisbon",
        },
        {
            "type": "somatic",
            "text": "Sam is relieved.",
            "valence": 0.6,
            "arousal": 0.4,
            "tone": "calm",
        },
    ]
}


class Service(BaseHTTPRequestHandler):
    says: str = ""
    status = 200
    asked: list[dict[str, Any]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Service.asked.append({**request, "path": self.path, "key": self.headers["Authorization"]})
        body = {"choices": [{"message": {"role": "assistant", "content": Service.says}}]}
        self.send_response(Service.status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def extractor() -> Iterator[Extractor]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Service.says, Service.status, Service.asked = json.dumps(GOOD), 200, []
    yield open_extractor(
        Settings(
            _env_file=None,
            extractor="llm",
            llm_url=f"http://127.0.0.1:{server.server_port}/v1/",
            llm_model="small",
            llm_api_key="sesame",
        )
    )
    server.shutdown()
    server.server_close()


async def draw(extractor: Extractor, content: str, *, is_repeat: bool = False) -> Extraction:
    said = ExtractionInput("m1", "Sam", "user", content, datetime(2026, 5, 2, tzinfo=UTC), "Monday")
    return await extractor.draw(said, is_repeat=is_repeat)


@pytest.mark.spec("CAND-02")
async def test_the_models_items_stand_beside_what_was_said(extractor: Extractor) -> None:
    drawn = await draw(extractor, "Finally settled in by the river, what a relief.")

    assert [item.memory_type for item in drawn.items] == list(PROPOSED_TYPES)
    episodic, semantic, somatic = drawn.items
    assert "river" in episodic.text
    assert semantic.content == {
        "kind": "fact",
        "subject": "Sam",
        "attribute": "home",
        "value": "Lisbon",
        "polarity": True,
    }
    assert somatic.content["who"] == "Sam"
    (asked,) = Service.asked
    assert asked["path"] == "/v1/chat/completions"
    assert asked["key"] == "Bearer sesame"
    assert asked["model"] == "small"
    assert "river" in asked["messages"][1]["content"]


async def test_junk_and_repeats_are_not_even_shown_to_the_model(extractor: Extractor) -> None:
    assert (await draw(extractor, "Hi there!")).items == ()
    assert (await draw(extractor, "I live in Porto.", is_repeat=True)).left_out == ("repeat",)
    assert Service.asked == []


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (500, "{}"),
        (200, "I would rather chat."),
        (200, "[]"),
        (200, '{"items": [{"type": "semantic", "text": "no more"}]}'),
        (
            200,
            '{"items": [{"type": "somatic", "text": "x", "valence": 9, "arousal": 0, "tone": ""}]}',
        ),
        (200, json.dumps({"items": GOOD["items"] * 20})),
    ],
)
async def test_a_model_that_fails_or_talks_nonsense_leaves_it_to_the_rules(
    extractor: Extractor, status: int, says: str
) -> None:
    Service.status, Service.says = status, says

    drawn = await draw(extractor, "I live in Porto.")

    assert "Sam lives in Porto." in {item.text for item in drawn.items}


async def test_a_model_that_is_away_leaves_it_to_the_rules() -> None:
    away = Settings(
        _env_file=None, extractor="llm", llm_url="http://127.0.0.1:9/v1/", llm_model="small"
    )

    drawn = await draw(open_extractor(away), "I live in Porto.")

    assert "Sam lives in Porto." in {item.text for item in drawn.items}
    with pytest.raises(Misconfigured, match="LLM_URL"):
        open_extractor(Settings(_env_file=None, extractor="llm"))
