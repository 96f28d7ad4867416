"""When a run comes, who runs it, and that it is done once."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from engine.access.personas import change_persona
from engine.errors import NightUnderWay, PersonaNotFound
from engine.night.ledger import Run, get_run, list_runs
from engine.night.nights import Stage, claim_due_nights, list_due_to_fade, run_night
from engine.night.steps import ActiveRun, Step
from engine.store.graph import Graph
from tests.lives import FIRST_NIGHT, Life

LATER = datetime(2026, 5, 2, 4, tzinfo=UTC)  # an hour after the first night


class Steps:
    """Stages that write down what was done, and fail when told to."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failing = False
        self.stages = (Stage("first", self.step("first")), Stage("second", self.step("second")))

    def step(self, name: str):  # type: ignore[no-untyped-def]
        async def run(run: ActiveRun) -> dict[str, int]:
            if self.failing and name == "second":
                raise ConnectionError
            await asyncio.sleep(0.05)
            self.done.append(f"{name} of {run.persona.id} at {run.as_of:%d.%m. %H:%M}")
            return {}

        return run


async def due(graph: Graph, tenant_id: str, now: datetime) -> list[tuple[str, str]]:
    """Of this tenant only: other tests have personas too."""
    return [
        claimed
        for claimed in await claim_due_nights(graph, now=now, limit=1000)
        if claimed[0] == tenant_id
    ]


async def test_a_night_runs_its_stages_once_a_day(life: Life) -> None:
    steps = Steps()

    first = await life.night(LATER, stages=steps.stages)
    again = await life.night(LATER, stages=steps.stages)
    next_day = await life.night(LATER + timedelta(days=1), stages=steps.stages)

    assert (first.state, first.period) == ("done", "2026-05-02")
    assert [stage.stage for stage in first.stages] == ["first", "second"]
    assert (again.state, again.id) == ("done_before", first.id)
    assert (next_day.state, next_day.period) == ("done", "2026-05-03")
    assert len(steps.done) == 4


async def test_of_two_at_once_one_works_and_one_leaves(life: Life) -> None:
    steps = Steps()

    ends = await asyncio.gather(
        *(life.night(LATER, stages=steps.stages) for _ in range(5)), return_exceptions=True
    )

    assert [line.split(" ")[0] for line in steps.done] == ["first", "second"]
    states = [end.state for end in ends if isinstance(end, Run)]
    assert states.count("done") == 1
    assert {type(end) for end in ends} <= {Run, NightUnderWay}


@pytest.mark.spec("CONS-13")
async def test_a_night_that_failed_is_taken_up_where_it_stopped_and_keeps_its_time(
    life: Life,
) -> None:
    steps = Steps()
    steps.failing = True
    with pytest.raises(ConnectionError):
        await life.night(LATER, stages=steps.stages)
    left = await list_runs(life.graph, life.tenant_id, "ada", cursor=None, limit=10)

    steps.failing = False
    night = await life.night(LATER + timedelta(hours=5), stages=steps.stages)

    assert [(run.state, run.failures) for run in left.items] == [("open", ["ConnectionError"])]
    assert (night.state, night.as_of, night.id) == ("done", LATER, left.items[0].id)
    assert steps.done == ["first of ada at 02.05. 04:00", "second of ada at 02.05. 04:00"]


async def test_a_night_left_open_is_finished_before_the_next_one_begins(life: Life) -> None:
    steps = Steps()
    steps.failing = True
    with pytest.raises(ConnectionError):
        await life.night(LATER, stages=steps.stages)

    steps.failing = False
    await life.night(LATER + timedelta(days=1), stages=steps.stages)

    assert steps.done == [
        "first of ada at 02.05. 04:00",
        "second of ada at 02.05. 04:00",
        "first of ada at 03.05. 04:00",
        "second of ada at 03.05. 04:00",
    ]


async def test_a_worker_that_fell_silent_is_followed_by_another_and_does_no_more(
    life: Life,
) -> None:
    asleep, woken = asyncio.Event(), asyncio.Event()

    async def fall_silent(run: ActiveRun) -> dict[str, int]:
        if not asleep.is_set():
            asleep.set()
            await woken.wait()
        return {}

    async def write_something(run: ActiveRun) -> dict[str, int]:
        async def work(write, place):  # type: ignore[no-untyped-def]
            return Step({"written": 1}, {})

        await run.step("write", work)
        return {}

    stages = (Stage("wait", fall_silent), Stage("write", write_something))
    silent = asyncio.create_task(life.night(LATER, stages=stages))
    await asleep.wait()
    await life.ask(
        "MATCH (p:Persona {tenant_id: $t}) SET p.run_until = datetime() - duration('PT1S')"
    )

    second = await life.night(LATER, stages=stages)
    woken.set()

    with pytest.raises(NightUnderWay):
        await silent
    assert second.state == "done"
    run = await get_run(life.graph, life.tenant_id, second.id)
    assert {stage.stage: stage.did for stage in run.stages} == {"wait": {}, "write": {"written": 1}}


async def test_a_night_is_due_once_its_hour_has_come(life: Life) -> None:
    hour = datetime(2026, 5, 2, 3, tzinfo=UTC)

    assert await due(life.graph, life.tenant_id, hour - timedelta(seconds=1)) == []
    assert await due(life.graph, life.tenant_id, hour) == [(life.tenant_id, "ada")]
    assert await due(life.graph, life.tenant_id, hour) == []  # it has been sent out

    await life.night(LATER)
    assert await due(life.graph, life.tenant_id, LATER) == []
    next_day = hour + timedelta(days=1)
    assert await due(life.graph, life.tenant_id, next_day) == [(life.tenant_id, "ada")]


async def test_a_new_time_zone_moves_the_night(life: Life) -> None:
    await change_persona(
        life.graph,
        life.tenant_id,
        "ada",
        {"time_zone": "Asia/Tokyo"},
        now=datetime(2026, 5, 1, 12, tzinfo=UTC),
    )

    before, hour = (datetime(2026, 5, 1, 17, 59, tzinfo=UTC), datetime(2026, 5, 1, 18, tzinfo=UTC))
    assert await due(life.graph, life.tenant_id, before) == []
    assert await due(life.graph, life.tenant_id, hour) != []


async def test_what_is_due_to_fade_between_two_nights_is_found_and_fades_once_an_hour(
    life: Life,
) -> None:
    (old,) = await life.remember("a walk by the river")
    due_at = FIRST_NIGHT + timedelta(days=30)

    async def is_listed(now: datetime) -> bool:
        return (life.tenant_id, "ada") in await list_due_to_fade(life.graph, now=now, limit=10_000)

    assert not await is_listed(due_at - timedelta(minutes=1))
    assert await is_listed(due_at + timedelta(minutes=1))

    first = await life.hour(due_at + timedelta(minutes=1))
    again = await life.hour(due_at + timedelta(minutes=2))

    assert [stage.stage for stage in first.stages] == ["prune", "decay", "archive"]
    assert (first.kind, first.state, again.state) == ("hour", "done", "done_before")
    assert (await life.memory(old)).importance == 4
    assert not await is_listed(due_at + timedelta(minutes=2))


async def test_a_night_of_nobody_is_refused(graph: Graph, tenant_id: str) -> None:
    with pytest.raises(PersonaNotFound):
        await run_night(
            graph,
            tenant_id,
            "nobody",
            now=LATER,
            started_by="test",
        )
