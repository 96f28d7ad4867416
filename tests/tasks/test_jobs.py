"""The jobs through a real broker, in a real worker."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
import redis
from celery import Celery

from engine.access.models import Persona, Tone
from engine.access.personas import PERSONA_LEASE_SECONDS, add_persona
from engine.memory import duplicates
from engine.memory.memories import list_memories
from engine.night.ledger import list_runs
from engine.night.nights import claim_due_nights
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.checkpoints import list_checkpoints
from engine.talk.conversations import record_messages
from engine.talk.models import Checkpoint, Message, Speaker
from tests.lives import Life
from tests.servers import as_environment, local_worker


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def broker(settings: Settings) -> Iterator[Celery]:
    """Sends jobs as beat does: by name, through Redis."""
    app = Celery(broker=settings.redis_url)
    yield app
    app.close()


async def slept(graph: Graph, tenant_id: str) -> list[str]:
    statement = """
        MATCH (:Persona {tenant_id: $t})-[:SLEPT]->(n:Run)
        WHERE n.finished_at IS NOT NULL RETURN n.persona_id AS id ORDER BY id"""
    async with graph._driver.session() as session:
        return [r["id"] async for r in await session.run(statement, t=tenant_id)]


async def until_slept(
    graph: Graph, tenant_id: str, wanted: list[str], seconds: float = 120
) -> None:
    deadline = time.monotonic() + seconds
    while await slept(graph, tenant_id) != wanted:
        assert time.monotonic() < deadline, await slept(graph, tenant_id)
        await asyncio.sleep(0.2)


async def sleepy(graph: Graph, tenant_id: str, *names: str) -> None:
    """Personas whose night came yesterday."""
    born = datetime.now(UTC) - timedelta(days=2)
    for name in names:
        persona = Persona(name, name, Tone.PLAIN, "UTC", born, born)
        await add_persona(graph, tenant_id, persona)


async def test_the_timetable_sends_every_due_persona_to_sleep(
    graph: Graph, tenant_id: str, settings: Settings, folder: Path, broker: Celery
) -> None:
    await sleepy(graph, tenant_id, "ada", "eve")
    awake = datetime.now(UTC)
    persona = Persona("max", "Max", Tone.PLAIN, "UTC", awake, awake)
    await add_persona(graph, tenant_id, persona)

    with local_worker(settings, folder):
        broker.send_task("tasks.jobs.start_nights")
        await until_slept(graph, tenant_id, ["ada", "eve"])
        broker.send_task("tasks.jobs.start_nights")
        await asyncio.sleep(1)

    assert await slept(graph, tenant_id) == ["ada", "eve"]


async def test_beat_fires_what_the_timetable_says(settings: Settings) -> None:
    from tasks.app import app

    entries = app.conf.beat_schedule
    tasks = {entry["task"] for entry in entries.values()}
    assert tasks == {
        "tasks.jobs.start_nights",
        "tasks.jobs.draw_overdue",
        "tasks.jobs.fade_due",
        "tasks.jobs.resume_copies",
        "tasks.jobs.count_uses",
    }
    assert all(entry["schedule"] <= timedelta(hours=1) for entry in entries.values())


async def test_a_night_whose_job_died_with_its_worker_is_sent_out_again(
    graph: Graph, tenant_id: str, settings: Settings, folder: Path, broker: Celery
) -> None:
    """A job that is on its way to a worker when it dies is gone: Redis has given it away."""
    await sleepy(graph, tenant_id, "ada")
    assert (tenant_id, "ada") in await claim_due_nights(graph, now=datetime.now(UTC), limit=1000)
    with local_worker(settings, folder) as worker:
        os.kill(worker.pid, signal.SIGSTOP)
        broker.send_task("tasks.jobs.consolidate_persona", args=[tenant_id, "ada"])
        os.kill(worker.pid, signal.SIGKILL)
    assert await slept(graph, tenant_id) == []

    a_while_ago = datetime.now(UTC) - timedelta(seconds=PERSONA_LEASE_SECONDS)
    async with graph._driver.session() as session:
        statement = "MATCH (p:Persona {tenant_id: $t}) SET p.night_sent_at = $at"
        await (await session.run(statement, t=tenant_id, at=a_while_ago)).consume()
    with local_worker(settings, folder):
        broker.send_task("tasks.jobs.start_nights")
        await until_slept(graph, tenant_id, ["ada"])


def days_ago(days: float) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - timedelta(days=days)


@pytest.mark.spec("CONS-09")
async def test_two_workers_and_a_beat_that_fires_twice_do_one_night_once(
    life: Life, settings: Settings, folder: Path, tmp_path: Path, broker: Celery
) -> None:
    (second := tmp_path / "second").mkdir()
    for place in range(30):
        await life.propose(f"story{place} of{place} its{place} own{place}", at=days_ago(3))

    with local_worker(settings, folder), local_worker(settings, second):
        for _ in range(3):
            broker.send_task("tasks.jobs.start_nights")
            broker.send_task("tasks.jobs.consolidate_persona", args=[life.tenant_id, "ada"])
        await until_slept(life.graph, life.tenant_id, ["ada"])
        await asyncio.sleep(2)

    runs = await list_runs(life.graph, life.tenant_id, "ada", cursor=None, limit=10)
    assert [(run.kind, run.state, run.started_by) for run in runs.items] == [
        ("night", "done", "timetable")
    ]
    assert runs.items[0].stages[0].did == {"formed": 30, "merged": 0}
    assert len(await life.memories()) == 30


@pytest.mark.spec("CONS-09")
async def test_a_night_whose_worker_is_killed_is_finished_by_another(
    life: Life, settings: Settings, folder: Path, broker: Celery
) -> None:
    for place in range(450):  # three steps to become memories, three to be linked, more to distil
        await life.propose(f"story{place} of{place} shared", at=days_ago(3))
    steps = "MATCH (s:Step {tenant_id: $t}) RETURN count(s) AS steps"

    with local_worker(settings, folder) as worker:
        broker.send_task("tasks.jobs.consolidate_persona", args=[life.tenant_id, "ada"])
        deadline = time.monotonic() + 60
        while not (await life.ask(steps))[0]["steps"]:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        children = psutil.Process(worker.pid).children(recursive=True)
        for pid in [*(child.pid for child in children), worker.pid]:
            os.kill(pid, signal.SIGKILL)
    assert await slept(life.graph, life.tenant_id) == []
    await life.ask(
        "MATCH (p:Persona {tenant_id: $t}) SET p.run_until = datetime() - duration('PT1S')"
    )
    redis.Redis.from_url(str(settings.redis_url)).delete("unacked", "unacked_index")

    with local_worker(settings, folder):
        broker.send_task("tasks.jobs.consolidate_persona", args=[life.tenant_id, "ada"])
        await until_slept(life.graph, life.tenant_id, ["ada"], seconds=90)

    (run,) = (await list_runs(life.graph, life.tenant_id, "ada", cursor=None, limit=10)).items
    did = {stage.stage: stage.did for stage in run.stages}
    assert did["integrate"] == {"formed": 450, "merged": 0}
    assert (did["link"]["memories"], did["distil"]["memories"]) == (450, 450)
    assert len(await life.memories()) == 450


async def test_what_is_due_fades_by_the_hourly_job(
    life: Life, settings: Settings, folder: Path, broker: Celery
) -> None:
    await life.propose("an old story", at=days_ago(60))
    await life.night(days_ago(50))

    with local_worker(settings, folder):
        broker.send_task("tasks.jobs.fade_due")
        deadline = time.monotonic() + 120
        while (await life.memories())[0].importance == 5:
            assert time.monotonic() < deadline, (folder / "worker.log").read_text()
            await asyncio.sleep(0.2)
        broker.send_task("tasks.jobs.fade_due")
        await asyncio.sleep(1)

    assert (await life.memories())[0].importance == 4


async def test_a_job_waits_for_a_graph_that_is_away(
    settings: Settings, folder: Path, broker: Celery
) -> None:
    """Tried again with growing pauses: the job goes back to the broker, not into the log's past."""
    queues = redis.Redis.from_url(str(settings.redis_url), decode_responses=True)
    away = settings.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:9", "neo4j_patience": 0.2})

    with local_worker(away, folder):
        broker.send_task("tasks.jobs.consolidate_persona", args=["nobody", "ada"])
        deadline = time.monotonic() + 120
        while "Retry in" not in (folder / "worker.log").read_text():
            assert time.monotonic() < deadline, (folder / "worker.log").read_text()
            await asyncio.sleep(0.2)

    log = (folder / "worker.log").read_text()
    assert "GraphUnavailable" in log
    queues.delete("celery", "unacked", "unacked_index")


async def test_a_persona_that_is_gone_is_no_error(
    settings: Settings, tenant_id: str, folder: Path, broker: Celery
) -> None:
    with local_worker(settings, folder):
        broker.send_task("tasks.jobs.consolidate_persona", args=[tenant_id, "gone"])
        deadline = time.monotonic() + 120
        while "night_skipped" not in (folder / "worker.log").read_text():
            assert time.monotonic() < deadline, (folder / "worker.log").read_text()
            await asyncio.sleep(0.2)


def test_a_job_that_is_out_of_time_does_not_go_on_inside_the_next(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in as_environment(settings).items():
        monkeypatch.setenv(name, value)
    code = """
import asyncio, signal
from celery.exceptions import SoftTimeLimitExceeded
from tasks.process import run

heard = []
async def slow(graph, now):
    try:
        await asyncio.sleep(30)
    finally:
        heard.append("ended")
async def quick(graph, now):
    await asyncio.sleep(0.2)
    return list(heard)

def out_of_time(*_):
    raise SoftTimeLimitExceeded
signal.signal(signal.SIGALRM, out_of_time)
run(quick)
signal.alarm(1)
try:
    run(slow)
except SoftTimeLimitExceeded:
    heard.append("told")
print(run(quick))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert said.stdout.strip() == "['ended', 'told']", said.stderr


@pytest.mark.spec("NAV-01")
async def test_what_is_said_is_in_a_checkpoint_once_it_is_drawn_from(
    life: Life, settings: Settings, folder: Path, broker: Celery
) -> None:
    said = [
        Message(f"m{place}", "monday", "ada", Speaker.USER, content, days_ago(1), speaker="Sam")
        for place, content in enumerate(["Good morning!", "The kiln at the pottery is broken."])
    ]
    await record_messages(life.graph, life.caller, "monday", said, now=datetime.now(UTC))

    with local_worker(settings, folder):
        for _ in range(3):
            broker.send_task("tasks.jobs.draw_from_conversation", args=[life.tenant_id, "monday"])
        deadline = time.monotonic() + 120
        while not (checkpoints := await covered(life)):
            assert time.monotonic() < deadline, (folder / "worker.log").read_text()
            await asyncio.sleep(0.2)
        broker.send_task("tasks.jobs.checkpoint_conversation", args=[life.tenant_id, "nowhere"])
        await asyncio.sleep(1)

    assert checkpoints == await covered(life)
    assert [(checkpoint.label, checkpoint.message_ids) for checkpoint in checkpoints] == [
        ("Kiln, pottery, broken", ["m0", "m1"]),
    ]


async def covered(life: Life) -> list[Checkpoint]:
    return (await list_checkpoints(life.graph, life.caller, "monday", limit=10)).items


async def test_a_copy_that_was_left_half_way_is_finished_by_a_worker(
    life: Life,
    settings: Settings,
    folder: Path,
    broker: Celery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await life.remember(*(f"story{place} of{place} its{place} own{place}" for place in range(9)))
    monkeypatch.setattr(duplicates, "BATCH_SIZE", 2)
    copy = await duplicates.duplicate_persona(
        life.graph,
        life.tenant_id,
        "ada",
        copy_id="eve",
        now=datetime.now(UTC),
        seconds=-1,
    )
    assert not copy.whole
    await life.ask("MATCH (p:Persona {tenant_id: $t, id: 'ada'}) REMOVE p.run_until")

    with local_worker(settings, folder):
        broker.send_task("tasks.jobs.resume_copies")
        deadline = time.monotonic() + 120
        copying = "MATCH (p:Persona {tenant_id: $t}) RETURN count(p.copying) AS copying"
        while (await life.ask(copying))[0]["copying"]:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.2)

    remembered = await list_memories(
        life.graph, life.caller, "eve", now=datetime.now(UTC), limit=20
    )
    assert len(remembered.items) == 9
