"""The two weeks of `pentimento demo` in short: the first two days, and the nights after them."""

import io
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from functools import partial

import pytest
from rich.console import Console

from engine.embedding import Embedder, open_embedder
from engine.errors import GraphUnavailable
from engine.night.ledger import list_runs
from engine.night.nights import NIGHT, Stage, run_night
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.models import Speaker
from ops import two_weeks
from ops.two_weeks import (
    Day,
    Life,
    Line,
    begin,
    day_of,
    live,
    read_memories,
    read_talk,
    split_into_chats,
)
from ops.two_weeks_report import (
    feelings,
    queries,
    read_story,
    show_day,
    show_next_steps,
    show_story,
)
from tests import lives

TWO_DAYS = datetime(2026, 5, 6, 3, tzinfo=UTC)
NEWEST = datetime(2026, 5, 8, 3, tzinfo=UTC)


@pytest.fixture
async def embedder(settings: Settings) -> AsyncIterator[Embedder]:
    """The real one: what is alike in meaning is what is shown."""
    opened = open_embedder(settings)
    yield opened
    opened.close()


@pytest.fixture
async def life(graph: Graph, settings: Settings, embedder: Embedder, tenant_id: str) -> Life:
    return await begin(graph.with_limit(60), embedder, settings, tenant_id=tenant_id)


def first_days(life: Life) -> list[Line]:
    return [line for line in read_talk(life.persona_id) if line.at < TWO_DAYS]


async def lived(life: Life) -> list[Day]:
    return [day async for day in live(life, first_days(life))]


async def everything(life: Life) -> tuple[dict[str, object], list[str]]:
    """All that is there of this tenant, and its runs."""
    told = await lives.Life(life.graph, life.tenant_id, life.embedder).everything()
    runs = await list_runs(life.graph, life.tenant_id, life.persona_id, cursor=None, limit=100)
    return told, [run.id for run in runs.items]


async def test_the_first_days_are_lived_and_told(life: Life) -> None:
    terminal = Console(file=io.StringIO(), width=100)

    days = await lived(life)
    for day in days:
        show_day(terminal, day)
    story = await read_story(life, days)
    show_story(terminal, story)
    show_next_steps(terminal, story, life, "http://127.0.0.1:7474", "pentimento")
    assert isinstance(terminal.file, io.StringIO)
    told = terminal.file.getvalue()

    assert [day.on for day in days] == [date(2026, 5, day) for day in (4, 5, 6)]
    assert [day.night.period for day in days] == ["2026-05-05", "2026-05-06", "2026-05-07"]
    assert [day.night.state for day in days] == ["done"] * 3
    # Nothing is younger than 24 h when its night comes, and nothing is left at the end.
    assert [any(it.kind == "formed" for it in day.changes) for day in days] == [False, True, True]
    assert "pending" not in (days[-1].night.snapshot or {})["states"]

    known = {memory.text for memory in await read_memories(life, NEWEST)}
    assert {"Sam lives in Lisbon.", "Sam is allergic to peanuts."} <= known
    assert "Mon  4 May" in told
    assert "semantic" in told
    assert '"Good morning!"' in told  # left out, with its reason
    assert "greeting" in told
    assert feelings(days)[0][1] is not None
    asks = lives.Life(life.graph, life.tenant_id, life.embedder)
    for shown, query in queries(story, life).items():
        assert query in told
        assert await asks.ask(query) or "no longer true" in shown  # nothing has changed yet


async def test_living_through_it_again_changes_nothing(life: Life) -> None:
    first = await lived(life)
    before = await everything(life)

    same = await begin(life.graph, life.embedder, life.settings, tenant_id=life.tenant_id)
    again = await lived(same)

    assert same.persona_id == life.persona_id
    assert await everything(life) == before
    assert [day.changes for day in again] == [day.changes for day in first]
    assert [day.was_simulated_before for day in first + again] == [False] * 3 + [True] * 3


async def test_who_was_interrupted_in_a_night_goes_on_with_it(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> dict[str, int]:
        raise GraphUnavailable("it was pulled out")

    stages = tuple(Stage("link", fails) if it.name == "link" else it for it in NIGHT)
    with monkeypatch.context() as broken:
        broken.setattr(two_weeks, "run_night", partial(run_night, stages=stages))
        with pytest.raises(GraphUnavailable):
            await lived(life)
    days = await lived(life)

    assert [day.night.state for day in days] == ["done"] * 3
    assert [day.was_simulated_before for day in days] == [False] * 3
    assert "pending" not in (days[-1].night.snapshot or {})["states"]


async def test_another_persona_begins_beside_the_first(life: Life) -> None:
    another = await begin(
        life.graph, life.embedder, life.settings, tenant_id=life.tenant_id, again=True
    )

    assert (life.persona_id, another.persona_id) == ("ada-in-may", "ada-in-may-2")
    assert {it.message_id for it in first_days(life)}.isdisjoint(
        it.message_id for it in first_days(another)
    )


def said(at: datetime) -> Line:
    return Line("m", at, Speaker.USER, "Hi")


def test_a_day_lasts_until_its_night() -> None:
    after_midnight = datetime(2026, 5, 15, 23, 30, tzinfo=UTC)  # half past midnight in Lisbon

    assert day_of(said(after_midnight), "03:00") == date(2026, 5, 15)
    assert day_of(said(after_midnight), "00:00") == date(2026, 5, 16)


def test_a_long_pause_ends_a_chat() -> None:
    lines = [said(datetime(2026, 5, 4, 9, minute, tzinfo=UTC)) for minute in (0, 20, 55)]

    assert [len(chat) for chat in split_into_chats(lines)] == [2, 1]
    assert list(split_into_chats([])) == []


def test_the_two_weeks_are_told_in_their_order() -> None:
    talk = read_talk("ada")

    assert [line.at for line in talk] == sorted(line.at for line in talk)
    assert len({line.message_id for line in talk}) == len(talk) == 456
