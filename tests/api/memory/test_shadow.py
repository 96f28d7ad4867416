"""GET /api/personas/{id}/shadow: for staff, in figures, and without what was said."""

import json
from typing import Any

import httpx
import pytest

from engine import bounds
from engine.access.models import Role
from tests.api.conftest import NewCaller
from tests.graph.memory.test_relearning import a_shape
from tests.graph.night.test_shapes import LOST
from tests.lives import Life

SHADOW = "/api/personas/ada/shadow"


@pytest.mark.spec("SHAPE-10")
async def test_a_shadow_says_what_is_lost_and_nothing_of_it(
    life: Life, new_caller: NewCaller
) -> None:
    shape_id, lost, _ = await a_shape(life)
    analyst = await new_caller(life.tenant_id, Role.ANALYST)
    before = await life.everything()

    answer = await analyst.get(SHADOW)

    shadow = answer.json()
    assert answer.status_code == 200
    assert [(node["shape_id"], node["relearnable"]) for node in shadow["nodes"]] == [
        (shape_id, len(lost))
    ]
    assert (shadow["report"]["lost"], shadow["report"]["of"]) == (6, 10)
    assert shadow["more"] is False
    said = json.dumps(shadow)
    assert not [text for text in LOST if text.removeprefix("Sam: ")[:20] in said]
    assert not [name for name in ("Ottilie", "Zanzibar", "Sam", "1987", "Barnaby") if name in said]
    assert await life.everything() == before  # reading it is no use


@pytest.mark.spec("SHAPE-10", "SEC-01")
async def test_a_shadow_is_for_those_who_see_the_whole_persona(
    life: Life, new_caller: NewCaller, new_tenant: Any
) -> None:
    tenant_id = life.tenant_id

    async def status(client: httpx.AsyncClient, path: str = SHADOW) -> int:
        return (await client.get(path)).status_code

    runtime = await new_caller(tenant_id, Role.RUNTIME)
    assert await status(runtime) == 200
    assert await status(await new_caller(tenant_id, Role.USER, "sam")) == 403
    assert await status(await new_caller(tenant_id, Role.RUNTIME, "sam")) == 403
    assert await status(await new_caller(await new_tenant())) == 404
    assert await status(runtime, "/api/personas/nobody/shadow") == 404
    assert await status(runtime, f"{SHADOW}?limit={bounds.SHADOW_SHAPES}") == 200
    for limit in (0, -1, bounds.SHADOW_SHAPES + 1, "x"):
        assert await status(runtime, f"{SHADOW}?limit={limit}") == 400
