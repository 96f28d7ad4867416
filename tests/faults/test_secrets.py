"""Everything is logged, at the finest level, by the API and a worker: nothing of it is secret."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.access.keys import issue_key
from engine.access.models import Role
from engine.settings import Settings
from engine.store.graph import Graph
from ops.ports import free_port
from tests.api.access.test_identity import EC, ISSUER, OTHER, pem, signed
from tests.servers import local_api, local_worker

WORD = "zucchini"  # stands in everything that people say


def said(message_id: str, content: str, role: str = "user") -> dict[str, Any]:
    at = datetime.now(UTC) - timedelta(hours=1)
    return {
        "message_id": message_id,
        "persona_id": "ada",
        "role": role,
        "content": content,
        "timestamp": at.isoformat(),
    }


async def until_drawn(admin: httpx.AsyncClient) -> None:
    deadline = time.monotonic() + 60
    while True:
        drawn = (await admin.get("/api/personas/ada/candidates")).json()["items"]
        if any(WORD in candidate["text"] for candidate in drawn):
            return
        assert time.monotonic() < deadline
        await asyncio.sleep(0.3)


@pytest.mark.spec("SEC-06")
async def test_no_log_metric_or_error_holds_content_keys_tokens_or_secrets(
    settings: Settings, graph: Graph, tenant_id: str, tmp_path: Path
) -> None:
    loud = settings.model_copy(
        update={"log_level": "debug", "rate_limits": "on", "rate_limit_analyst": 1}
    )
    now = datetime.now(UTC)
    keys = {
        role: (await issue_key(graph, tenant_id, name="k", role=role, now=now)).api_key
        for role in (Role.ADMIN, Role.ANALYST, Role.RUNTIME)
    }
    secrets = [text.split("_", 2)[2] for text in keys.values()]
    secrets.append(settings.neo4j_password.get_secret_value())
    errors: list[str] = []

    with local_api(loud, tmp_path) as address, local_worker(loud, tmp_path):

        async def call(
            method: str, path: str, body: Any = None, *, key: str = keys[Role.ADMIN], **more: Any
        ) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}", **more.pop("headers", {})}
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:
                answer = await client.request(method, path, json=body, headers=headers, **more)
            if answer.status_code >= 400:
                errors.append(answer.text)
            return answer

        await call("POST", "/api/personas", {"id": "ada", "name": "Ada", "identity": WORD})
        await call("POST", "/api/instances", {"id": "studio", "name": WORD})
        await call("PUT", "/api/instances/studio/members/sam", {})
        opened = {"id": "monday", "instance_id": "studio", "persona_ids": ["ada"], "title": WORD}
        await call("POST", "/api/conversations", opened)
        talk = [said("m1", f"I grow {WORD} in Lisbon."), said("m2", f"A {WORD}!", "persona")]
        kept = await call("POST", "/api/conversations/monday/messages", {"messages": talk})
        assert kept.status_code == 201, kept.text
        async with httpx.AsyncClient(
            base_url=address, headers={"Authorization": f"Bearer {keys[Role.ADMIN]}"}, timeout=60
        ) as admin:
            await until_drawn(admin)
        item = {"memory_type": "semantic", "text": f"Sam grows {WORD}.", "content": {"x": WORD}}
        await call("POST", "/api/personas/ada/memories", {**item, "tags": [WORD]})
        await call("POST", "/api/personas/ada/recall", {"query": WORD, "explain": True})
        await call("POST", "/api/personas/ada/context", {"conversation_id": "monday"})
        await call("POST", "/api/messages/m1/forget")
        await call("GET", "/api/conversations/monday/export")
        await call("GET", "/api/items", params={"q": WORD})

        token = (await call("POST", "/api/tokens", {"user_id": "sam"})).json()["token"]
        secrets.append(token.split("_", 2)[2])
        assert (await call("GET", "/api/conversations", key=token)).status_code == 200
        away = f"http://127.0.0.1:{free_port()}/{WORD}"
        provider = {"issuer": ISSUER, "public_keys": [pem(EC)], "jwks_url": away}
        assert (await call("PUT", "/api/identity-provider", provider)).status_code == 200
        good, forged = signed(tenant_id), signed(tenant_id, OTHER, name=WORD)
        secrets += [good.rpartition(".")[2], *forged.split(".")[1:]]
        assert (await call("GET", "/api/conversations", key=good)).status_code == 200
        assert (await call("GET", "/api/conversations", key=forged)).status_code == 401

        refused = [
            await call("POST", "/api/conversations/monday/messages", {"messages": [talk[0], WORD]}),
            await call(
                "POST",
                "/api/conversations/monday/messages",
                {"messages": [{**talk[0], "content": f"other {WORD}"}]},
            ),
            await call("POST", "/api/personas/ada/recall", {"query": WORD, "limit": 99}),
            await call("GET", "/api/conversations", key=token, headers={"X-User-Id": "mia"}),
            await call("GET", "/api/conversations", headers={"X-Bookmark": WORD}),
            await call("GET", "/api/conversations", params={"cursor": WORD}),
            await call("DELETE", "/api/policy", params={"q": WORD}),
            await call("GET", "/api/keys", key=token),
            await call("GET", "/api/keys", key="pmt_0123456789abcdef_" + secrets[0][:-1]),
        ]
        assert all(400 <= answer.status_code < 500 for answer in refused)
        limited = [await call("GET", "/api/personas", key=keys[Role.ANALYST]) for _ in range(3)]
        assert limited[-1].status_code == 429
        metrics = (await call("GET", "/metrics")).text
        await asyncio.sleep(1)  # what is logged a moment later

    names = ("api.log", "worker.log")
    logs = "".join([(tmp_path / name).read_text(errors="replace") for name in names])
    assert '"level": "debug"' in logs
    assert "tasks.jobs.draw_from_conversation" in logs
    places = {"logs": logs, "metrics": metrics, "errors": "\n".join(errors)}
    leaks = {
        (place, line[:300])
        for place, text in places.items()
        for line in text.splitlines()
        for secret in [*secrets, WORD]
        if secret in line
    }
    assert leaks == set()
