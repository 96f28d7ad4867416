"""The examples of the OpenAPI document: one for every answer, real, and of today.

`make examples` records them again from the walk below.
"""

import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import jsonschema_rs
import pytest
from redis.asyncio import Redis

import api.personas
from api.app import create_app
from api.application import Application
from api.document import EXAMPLES, recorded_examples
from engine.service.clock import MovableClock
from engine.settings import Settings
from engine.store.broker import open_broker
from engine.store.graph import Graph
from tests.api.example_walk import Examples, Walk, as_json

# The document needs no server; opening the app connects to nothing.
DOCUMENT = create_app(
    Settings(_env_file=None, neo4j_uri="bolt://127.0.0.1:9", clock="movable")
).openapi_schema.to_schema()
OPERATIONS = {
    operation["operationId"]: operation
    for path in DOCUMENT["paths"].values()
    for operation in path.values()
}


def contents(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Status, media type and description of each successful answer that has a body."""
    for status, response in operation["responses"].items():
        for media_type, content in response.get("content", {}).items():
            if status.startswith("2"):
                yield status, media_type, content


def validate(value: Any, schema: dict[str, Any]) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    jsonschema_rs.validate(whole, value, validate_formats=True)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_answer_has_an_example_that_its_schema_takes(name: str) -> None:
    for status, media_type, content in contents(OPERATIONS[name]):
        assert "example" in content, (status, media_type)
        validate(content["example"], content["schema"])


@pytest.mark.parametrize("name", [name for name in OPERATIONS if "requestBody" in OPERATIONS[name]])
def test_every_body_has_an_example_that_its_schema_takes(name: str) -> None:
    schema = OPERATIONS[name]["requestBody"]["content"]["application/json"]["schema"]

    assert schema["examples"]
    for example in schema["examples"]:
        validate(example, schema)


def test_no_example_is_of_an_answer_that_the_document_does_not_name() -> None:
    recorded = {
        (name, status, media_type)
        for name, by_status in recorded_examples().items()
        for status, by_media_type in by_status.items()
        for media_type in by_media_type
    }
    named = {
        (name, status, media_type)
        for name, operation in OPERATIONS.items()
        for status, media_type, _ in contents(operation)
    }

    assert len(OPERATIONS) >= 64
    assert recorded == named


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[Redis]:
    opened = open_broker(settings)
    yield opened
    await opened.aclose()


async def test_the_examples_are_what_the_api_answers(
    app: Application,
    admin: httpx.AsyncClient,
    graph: Graph,
    redis: Redis,
    settings: Settings,
    tenant_id: str,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same fields with the same kinds of values, whatever the values are."""
    walk = Walk(app, admin, graph, redis, settings, tenant_id, clock)
    monkeypatch.setattr(api.personas, "DUPLICATE_SECONDS", 120.0)  # however busy the machine is

    answered = await walk.all()
    monkeypatch.setattr(api.personas, "DUPLICATE_SECONDS", -1.0)  # as if it were a large one
    await walk.call("duplicate_persona", persona_id="ada", body={"id": "ada-3"})

    if os.environ.get("RECORD_EXAMPLES"):
        EXAMPLES.write_text(as_json(answered))
        recorded_examples.cache_clear()
    assert kinds(answered) == kinds(recorded_examples())


def kinds(examples: Examples | Any) -> Any:
    """The fields of a value, and of what kind each is."""
    if isinstance(examples, dict):
        return {key: kinds(value) for key, value in sorted(examples.items())}
    if isinstance(examples, list):
        return [kinds(value) for value in examples[:1]]
    if isinstance(examples, int | float) and not isinstance(examples, bool):
        return "number"
    return type(examples).__name__
