import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest

from engine.errors import NightUnderWay, PersonaNotFound
from engine.graph import Graph
from engine.models import Night, Persona, Tone
from engine.nights import Stage, claim_nights, run_night
from engine.personas import add_persona, change_persona

BORN = datetime(2026, 5, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 5, 2, 4, tzinfo=UTC)  # an hour after the first night


@pytest.fixture
async def ada(graph: Graph, tenant_id: str) -> str:
    persona = Persona("ada", "Ada", Tone.WARM, "UTC", BORN, BORN)
    return (await add_persona(graph, tenant_id, persona, consolidate_at="03:00")).id


class Steps:
    """Stages that write down what was done, and fail when told to."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failing = False
        self.stages = (Stage("first", self.step("first")), Stage("second", self.step("second")))

    def step(self, name: str):  # type: ignore[no-untyped-def]
        async def run(graph: Graph, persona: Persona, now: datetime) -> None:
            if self.failing and name == "second":
                raise ConnectionError
            await asyncio.sleep(0.05)
            self.done.append(f"{name} of {persona.id}")

        return run


async def sleep(graph: Graph, tenant_id: str, steps: Steps, now: datetime = LATER) -> Night:
    return await run_night(
        graph,
        tenant_id,
        "ada",
        now=now,
        consolidate_at="03:00",
        started_by="test",
        stages=steps.stages,
    )


async def due(graph: Graph, tenant_id: str, now: datetime) -> list[tuple[str, str]]:
    """Of this tenant only: other tests have personas too."""
    return [it for it in await claim_nights(graph, now=now, limit=1000) if it[0] == tenant_id]


async def test_a_night_runs_its_stages_once_a_day(graph: Graph, tenant_id: str, ada: str) -> None:
    steps = Steps()

    first = await sleep(graph, tenant_id, steps)
    again = await sleep(graph, tenant_id, steps)
    next_day = await sleep(graph, tenant_id, steps, LATER + timedelta(days=1))

    assert (first.state, first.day, first.stages) == ("done", date(2026, 5, 2), ["first", "second"])
    assert again.state == "done_before"
    assert (next_day.state, next_day.day) == ("done", date(2026, 5, 3))
    assert steps.done == ["first of ada", "second of ada"] * 2


async def test_of_two_at_once_one_works_and_one_leaves(
    graph: Graph, tenant_id: str, ada: str
) -> None:
    steps = Steps()

    ends = await asyncio.gather(
        *(sleep(graph, tenant_id, steps) for _ in range(5)), return_exceptions=True
    )

    assert steps.done == ["first of ada", "second of ada"]
    states = [end.state for end in ends if isinstance(end, Night)]
    assert states.count("done") == 1
    assert {type(end) for end in ends} <= {Night, NightUnderWay}


async def test_a_night_that_failed_can_be_run_again_at_once(
    graph: Graph, tenant_id: str, ada: str
) -> None:
    steps = Steps()
    steps.failing = True
    with pytest.raises(ConnectionError):
        await sleep(graph, tenant_id, steps)

    steps.failing = False
    night = await sleep(graph, tenant_id, steps)

    assert night.state == "done"
    assert steps.done == ["first of ada", "first of ada", "second of ada"]


async def test_a_rehearsal_changes_nothing(graph: Graph, tenant_id: str, ada: str) -> None:
    steps = Steps()

    planned = await run_night(
        graph,
        tenant_id,
        "ada",
        now=LATER,
        consolidate_at="03:00",
        started_by="test",
        stages=steps.stages,
        dry_run=True,
    )

    assert (planned.state, planned.stages) == ("planned", ["first", "second"])
    assert steps.done == []
    assert (await sleep(graph, tenant_id, steps)).state == "done"


async def test_a_night_is_due_once_its_hour_has_come(
    graph: Graph, tenant_id: str, ada: str
) -> None:
    hour = datetime(2026, 5, 2, 3, tzinfo=UTC)

    assert await due(graph, tenant_id, hour - timedelta(seconds=1)) == []
    assert await due(graph, tenant_id, hour) == [(tenant_id, "ada")]
    assert await due(graph, tenant_id, hour) == []  # it has been sent out

    await sleep(graph, tenant_id, Steps())
    assert await due(graph, tenant_id, LATER) == []
    assert await due(graph, tenant_id, hour + timedelta(days=1)) == [(tenant_id, "ada")]


async def test_a_new_time_zone_moves_the_night(graph: Graph, tenant_id: str, ada: str) -> None:
    await change_persona(
        graph, tenant_id, "ada", {"time_zone": "Asia/Tokyo"}, now=BORN, consolidate_at="03:00"
    )

    assert await due(graph, tenant_id, datetime(2026, 5, 1, 17, 59, tzinfo=UTC)) == []
    assert await due(graph, tenant_id, datetime(2026, 5, 1, 18, tzinfo=UTC)) != []


async def test_a_night_of_nobody_is_refused(graph: Graph, tenant_id: str) -> None:
    with pytest.raises(PersonaNotFound):
        await sleep(graph, tenant_id, Steps())
