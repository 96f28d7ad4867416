"""What every request gets around it, whatever it asks for."""

import asyncio
import json
import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from api.app import create_app
from api.application import Application
from engine.access.models import Role
from engine.service.clock import MovableClock
from engine.settings import Settings
from ops.ports import free_port
from ops.servers import wait_until
from tests.api.conftest import NewCaller, a_client
from tests.servers import answers, running
from tests.stalls import least_seconds


async def test_alive_needs_no_key(stranger: httpx.AsyncClient) -> None:
    answer = await stranger.get("/api/health")

    assert answer.status_code == 200
    assert answer.json()["status"] == "alive"


async def test_every_answer_carries_the_request_id(
    stranger: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    for client, path in ((stranger, "/api/health"), (stranger, "/nowhere"), (admin, "/api/keys")):
        given = await client.get(path, headers={"X-Request-Id": "abc-123"})
        made_up = await client.get(path)
        replaced = await client.get(path, headers={"X-Request-Id": "bad id\t"})

        assert given.headers["x-request-id"] == "abc-123"
        assert len(made_up.headers["x-request-id"]) == 32
        assert len(replaced.headers["x-request-id"]) == 32
    assert (await stranger.get("/nowhere")).json()["request_id"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("DELETE", "/api/personas", 405),
        ("GET", "/api/personas/absent", 404),
        ("POST", "/api/personas", 400),
    ],
)
async def test_every_refusal_is_a_problem(
    admin: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    refused = await admin.request(method, path)
    problem = refused.json()

    assert refused.status_code == problem["status"] == status
    assert refused.headers["content-type"] == "application/problem+json"
    assert set(problem) >= {"type", "title", "status", "detail", "request_id"}
    assert problem["type"].startswith("urn:pentimento:")


async def test_fields_that_are_wrong_are_named(admin: httpx.AsyncClient) -> None:
    refused = await admin.post("/api/personas", json={"name": 7})

    assert any("str" in error["message"] for error in refused.json()["errors"])


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"name": "\\ud800"}', b"null", b"[1]"])
async def test_a_body_that_is_not_one_is_refused(admin: httpx.AsyncClient, body: bytes) -> None:
    refused = await admin.post(
        "/api/personas", content=body, headers={"Content-Type": "application/json"}
    )

    assert refused.status_code == 400


async def test_a_body_that_is_too_large_is_refused(
    admin: httpx.AsyncClient, settings: Settings
) -> None:
    body = json.dumps({"name": "x" * settings.max_body_bytes}).encode()

    async def in_pieces() -> Any:
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    for content in (body, in_pieces()):
        refused = await admin.post(
            "/api/personas", content=content, headers={"Content-Type": "application/json"}
        )
        assert refused.status_code == 413
        assert refused.json()["title"] == "Request Entity Too Large"


async def test_writes_hand_out_a_bookmark_that_reads_take(
    admin: httpx.AsyncClient, settings: Settings
) -> None:
    made = await admin.post("/api/personas", json={"id": "ada", "name": "Ada"})
    bookmark = made.headers["x-bookmark"]

    elsewhere = create_app(settings)
    async with elsewhere.lifespan(), a_client(elsewhere) as client:
        client.headers["Authorization"] = admin.headers["Authorization"]
        read = await client.get("/api/personas/ada", headers={"X-Bookmark": bookmark})
        refused = await client.get("/api/personas/ada", headers={"X-Bookmark": "made-up"})

    assert read.status_code == 200
    assert refused.status_code == 400


@pytest.mark.spec("SEC-06")
async def test_neither_logs_nor_metrics_hold_content_or_secrets(
    settings: Settings, admin: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """Good requests, bad ones, and one that breaks the server."""
    noisy = create_app(settings.model_copy(update={"log_level": "debug"}))
    key = admin.headers["Authorization"].removeprefix("Bearer ")
    secret = "broccoli"

    async with noisy.lifespan(), a_client(noisy, key) as client:
        body = {"id": f"id-{secret}", "name": secret, "identity": secret}
        await client.post("/api/personas", json=body)
        await client.get(f"/api/personas/id-{secret}", params={"q": secret})
        await client.get(f"/api/personas/absent-{secret}", headers={"X-User-Id": secret})
        await client.post("/api/personas", json={"name": secret, secret: secret})
        await client.post("/api/personas", content=secret)
        await client.get("/api/personas", headers={"Authorization": f"Bearer pmt_{secret}_x"})
        metrics = (await client.get("/metrics")).text

    written = capsys.readouterr()
    logs = written.err + written.out
    requests = [json.loads(line) for line in logs.splitlines() if '"event": "request"' in line]
    assert len(requests) == 6
    assert {line["route"] for line in requests} == {"/api/personas", "/api/personas/{persona_id}"}
    for place in (logs, metrics):
        assert secret not in place
        assert key not in place
        assert key.split("_", 2)[2] not in place
        assert settings.neo4j_password.get_secret_value() not in place


async def test_a_mistake_of_ours_is_a_500_without_details(
    settings: Settings,
    admin: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("the content of a message")

    app = create_app(settings)
    monkeypatch.setattr("api.personas.get_persona", broken)
    async with app.lifespan(), a_client(app) as client:
        client.headers.update(admin.headers)
        answer = await client.get("/api/personas/ada")

    assert answer.status_code == 500
    assert "ZeroDivision" not in answer.text
    assert "content" not in answer.text.replace("on our side", "")
    logs = capsys.readouterr().err
    assert "ZeroDivisionError" in logs
    assert answer.json()["request_id"] in logs
    assert "the content of a message" not in logs


async def test_metrics_group_by_route(
    stranger: httpx.AsyncClient, admin: httpx.AsyncClient
) -> None:
    await admin.get("/api/personas/one")
    await admin.get("/api/personas/two")

    metrics = (await stranger.get("/metrics")).text

    assert 'path="/api/personas/{persona_id}"' in metrics
    assert "/api/personas/one" not in metrics
    assert (
        'pentimento_statement_seconds_count{outcome="ok",statement="access/personas/get_persona"}'
        in metrics
    )


async def test_the_openapi_document_has_an_example_for_every_body(
    stranger: httpx.AsyncClient,
) -> None:
    document = (await stranger.get("/schema/openapi.json")).json()

    bodies = [
        operation["requestBody"]["content"]["application/json"]
        for path in document["paths"].values()
        for operation in path.values()
        if "requestBody" in operation
    ]
    assert len(bodies) >= 6
    assert all("examples" in body or "example" in str(body) for body in bodies)
    assert document["components"]["securitySchemes"]["api_key"]["scheme"] == "bearer"
    assert yaml.safe_load((await stranger.get("/schema/openapi.yaml")).text) == document


async def test_the_clock_can_be_moved_and_given_back(
    admin: httpx.AsyncClient, new_caller: NewCaller, tenant_id: str, clock: MovableClock
) -> None:
    reader = await new_caller(tenant_id, Role.RUNTIME)

    moved = await admin.put("/api/clock", json={"now": "2030-01-01T00:00:00Z"})
    made = await admin.post("/api/personas", json={"name": "Ada"})

    assert moved.json()["now"].startswith("2030-01-01T00:00:0")
    assert (await reader.get("/api/clock")).json()["now"].startswith("2030-01-01")
    assert made.json()["created_at"].startswith("2030-01-01")
    for bad in ("tomorrow", "2030-01-01T00:00:00", "9999-01-01T00:00:00Z"):
        assert (await admin.put("/api/clock", json={"now": bad})).status_code == 400
    given_back = await admin.put("/api/clock", json={"now": None})
    now = datetime.fromisoformat(given_back.json()["now"])
    assert abs(now - datetime.now(UTC)) < timedelta(minutes=1)


async def test_a_clock_that_does_not_move_has_no_route(
    settings: Settings, admin: httpx.AsyncClient
) -> None:
    app = create_app(settings.model_copy(update={"clock": "system"}))
    async with app.lifespan(), a_client(app) as client:
        client.headers.update(admin.headers)
        assert (await client.put("/api/clock", json={"now": None})).status_code == 404
        assert (await client.get("/api/clock")).status_code == 404
        assert "/api/clock" not in (await client.get("/schema/openapi.json")).text


async def test_a_stop_lets_open_requests_finish(settings: Settings, tmp_path: Path) -> None:
    """This one takes as long as the API waits for a Neo4j that is away."""
    away = settings.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:9", "neo4j_patience": 2.0})
    port = free_port()
    own = away.model_copy(update={"api_port": port})
    log = tmp_path / "api.log"
    with running([sys.executable, "-m", "api"], own, log) as process:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/api/health"), process, log)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            headers = {"Authorization": "Bearer pmt_a_b"}
            open_request = asyncio.create_task(client.get("/api/personas", headers=headers))
            await asyncio.sleep(0.5)
            process.terminate()
            answer = await open_request
        ended = await asyncio.to_thread(process.wait, 10)

    assert answer.status_code == 503
    assert ended in (0, -signal.SIGTERM)


async def test_ready_names_what_is_missing(app: Application, settings: Settings) -> None:
    async with a_client(app) as client:
        answer = await client.get("/api/ready")
    checks = answer.json()["checks"]

    assert set(checks) == {"neo4j", "schema", "model", "redis", "worker", "warm"}
    assert answer.status_code == 503
    assert {name for name, check in checks.items() if not check["ok"]} == {"worker"}


async def test_with_everything_gone_ready_still_answers_in_time(settings: Settings) -> None:
    gone = settings.model_copy(
        update={"neo4j_uri": "bolt://127.0.0.1:9", "redis_url": "redis://127.0.0.1:9/0"}
    )
    app = create_app(gone)
    async with app.lifespan(), a_client(app, "pmt_a_b") as client:
        seconds = await least_seconds(lambda: client.get("/api/ready"), 4)
        answer = await client.get("/api/ready")
        asked = await client.get("/api/personas")
        health = await client.get("/api/health")

    assert answer.status_code == 503
    assert not any(check["ok"] for check in answer.json()["checks"].values())
    assert seconds < 4
    assert health.status_code == 200
    assert asked.status_code == 503
    assert asked.headers["retry-after"] == "1"
    assert "Neo4j" in asked.json()["detail"]
