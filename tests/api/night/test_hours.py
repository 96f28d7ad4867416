"""When nights come and how long candidates can be changed: by the policy, set over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from engine.night.nights import claim_due_nights
from engine.service.clock import MovableClock
from tests.lives import BORN, Life

MORNING = datetime(2026, 5, 2, tzinfo=UTC)  # of the first night


async def put(admin: httpx.AsyncClient, path: str, **figures: Any) -> None:
    done = await admin.put(f"/api/{path}", json={"figures": figures})
    assert done.status_code == 200, done.text


async def is_due(life: Life, at: datetime) -> bool:
    return (life.tenant_id, "ada") in await claim_due_nights(life.graph, now=at, limit=1000)


@pytest.mark.spec("CONS-11")
@pytest.mark.parametrize("path", ["personas/ada/policy", "policy"], ids=["persona", "tenant"])
async def test_another_hour_moves_the_next_night(
    life: Life, admin: httpx.AsyncClient, path: str
) -> None:
    await put(admin, path, consolidate_at="05:30")

    assert not await is_due(life, MORNING + timedelta(hours=5, minutes=29))
    assert await is_due(life, MORNING + timedelta(hours=5, minutes=30))
    night = await life.night(MORNING + timedelta(hours=5, minutes=30))
    assert night.period == "2026-05-02"
    assert not await is_due(life, MORNING + timedelta(days=1, hours=5, minutes=29))
    assert await is_due(life, MORNING + timedelta(days=1, hours=5, minutes=30))


@pytest.mark.spec("CONS-11")
async def test_a_new_persona_sleeps_at_its_tenants_hour(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    await put(admin, "policy", consolidate_at="05:30")
    await clock.move(BORN)

    made = await admin.post("/api/personas", json={"id": "eve", "name": "Eve", "time_zone": "UTC"})

    assert made.status_code == 201
    (row,) = await life.ask(
        "MATCH (p:Persona {tenant_id: $t, id: 'eve'}) RETURN p.next_night_at AS next"
    )
    assert row["next"] == MORNING + timedelta(hours=5, minutes=30)


@pytest.mark.spec("CONS-11")
async def test_the_editing_window_is_that_of_the_policy(
    life: Life, admin: httpx.AsyncClient
) -> None:
    candidate = await life.propose("a walk by the river", at=BORN)
    await put(admin, "personas/ada/policy", editing_window_hours=2.0)

    listed = (await admin.get("/api/personas/ada/candidates")).json()["items"]
    night = await life.night(
        BORN + timedelta(hours=15)
    )  # the next night, long before a day is over

    until = BORN + timedelta(hours=2)
    assert datetime.fromisoformat(listed[0]["editable_until"]) == until
    assert night.stages[0].did == {"formed": 1, "merged": 0}
    late = await admin.patch(f"/api/candidates/{candidate}", json={"text": "too late"})
    assert late.status_code == 409
