"""`pentimento simulate`: one seed gives one life, and it is counted, told and drawn as it went."""

import io
import json
import re
import sys
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from engine.embedding import Embedder
from engine.policy.policy import Layer, merge_layers
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.models import Speaker
from ops.cli import app
from ops.simulation import command
from ops.simulation.chronicle import Chronicle, Happening, count, strengths_at
from ops.simulation.everyday import everyday_life
from ops.simulation.picture import Picture, make_picture
from ops.simulation.script import (
    Day,
    Flagging,
    Question,
    Script,
    moved,
    storyline_of,
    write_script,
)
from ops.simulation.world import begin, live
from ops.transcripts import Transcript, Turn, read_transcripts
from tests.lives import word_embedder

pytestmark = pytest.mark.spec("RUN-07")

FIRST = datetime(2026, 3, 2, 12, tzinfo=UTC)
# Memories lose importance every five days, and are archived after ten.
HASTY = Layer(figures={"decay_days": 2, "decay_step": 4, "archive_days": 5})
DAYS = 24


@pytest.fixture
async def words() -> AsyncIterator[Embedder]:
    embedder = word_embedder()
    yield embedder
    embedder.close()


def turn(number: int, content: str, *, day: int) -> Turn:
    return Turn(f"m{number}", Speaker.USER, "Sam", content, FIRST + timedelta(days=day))


def at(day: int) -> datetime:
    return FIRST + timedelta(days=day, hours=9)


def short_script() -> Script:
    """A home that changes, a secret, a secret that is taken back, and a tune that comes back."""
    said = [
        turn(1, "I live in Lisbon.", day=0),
        turn(2, "I kissed Leo behind the old bookshop last night.", day=0),
        turn(3, "My exam was a disaster and nobody may know about it.", day=1),
        turn(4, "My father whistled a tune every morning while making coffee.", day=1),
        turn(5, "The tram was late and an accordion player sang for us.", day=1),
        turn(6, "I moved to Porto.", day=6),
        turn(7, "The plumber came about a dripping tap and left a towel.", day=6),
    ]
    days = [Day((FIRST + timedelta(days=number)).date()) for number in range(DAYS)]
    for line in said:
        days[(line.said_at - FIRST).days].said.append(line)
    days[4].forgotten.append(Flagging(at(4), "m2"))
    days[9].taken_back.append(Flagging(at(9), "m2"))
    days[5].forgotten.append(Flagging(at(5), "m3"))
    for number in (4, 7, 8, 12, 16, 20):
        days[number].asked.append(Question(at(number), "Sam", "father whistled tune coffee"))
    for number, home in ((3, "Lisbon"), (8, "Porto")):  # what is used once is not archived
        days[number].asked.append(Question(at(number), "Sam", f"Sam lives in {home}"))
    return Script(Transcript("short", ["Sam", "Ada"], said), days)


async def lived(
    graph: Graph, embedder: Embedder, tenant_id: str, *, every_night: bool = False
) -> Chronicle:
    script = short_script()
    world = await begin(
        graph, embedder, tenant_id=tenant_id, policy="hasty", layer=HASTY, script=script
    )
    world.every_night = every_night
    async for _ in live(world, script):
        pass
    await world.close()
    return world.chronicle


def pictured(*chronicles: Chronicle) -> Picture:
    return make_picture("Three weeks", 6, chronicles)


async def test_a_life_is_the_same_for_the_same_script_however_often_it_is_lived(
    graph: Graph, words: Embedder, sweep: list[str]
) -> None:
    sweep += ["sim-one", "sim-two"]
    first = await lived(graph, words, "sim-one")
    again = await lived(graph, words, "sim-two")

    assert pictured(first).as_json() == pictured(again).as_json()


async def test_nights_that_have_nothing_to_do_are_left_out_and_nothing_is_otherwise(
    graph: Graph, words: Embedder, sweep: list[str]
) -> None:
    sweep += ["sim-some", "sim-all"]
    some = await lived(graph, words, "sim-some")
    every = await lived(graph, words, "sim-all", every_night=True)

    assert some.nights < every.nights == DAYS
    assert pictured(some).as_json() == pictured(every).as_json()


async def test_a_life_keeps_minimizes_archives_and_tells_why(
    graph: Graph, words: Embedder, sweep: list[str]
) -> None:
    sweep.append("sim-told")
    chronicle = await lived(graph, words, "sim-told")
    picture = pictured(chronicle)
    (panel,) = picture.panels
    by_text = {strand.text: strand for strand in panel.strands if strand}
    terminal = Console(file=io.StringIO(), width=100)
    command.tell(terminal, panel)
    assert isinstance(terminal.file, io.StringIO)
    told = terminal.file.getvalue()

    assert [counts.on for counts in panel.counts][:2] == [date(2026, 3, 2), date(2026, 3, 3)]
    assert max(counts.minimized for counts in panel.counts) >= 2
    assert panel.counts[-1].archived >= 1
    totals = [it.kept + it.minimized + it.archived for it in panel.counts]
    assert totals == sorted(totals)  # nothing is ever deleted

    (tune,) = (it for it in chronicle.memories.values() if "whistled" in it.text)
    recalled = [it for it in chronicle.events_of(tune) if it.what is Happening.RECALLED]
    assert len(recalled) >= 6
    assert panel.strands[0]
    assert panel.strands[0].reason == "asked for again and again"
    assert "times, the last time on 22 March." in panel.strands[0].story
    leo = by_text["I kissed Leo behind the old bookshop last night."]
    flagged, undone = (leo.strengths[number] or 0.0 for number in (4, 9))
    assert leo.strengths[3] == pytest.approx(5 * flagged, rel=0.1)
    assert undone > 2 * flagged
    assert "Taken back on 11 March" in leo.story
    lisbon = by_text["Sam lives in Lisbon."]
    assert "No longer true since 8 March." in lisbon.story
    for strand in by_text.values():
        assert strand.story.split()[0] in told
    assert f"{panel.counts[-1].archived} archived" in told


async def test_two_policies_are_compared_in_one_figure_of_the_same_memories(
    graph: Graph, words: Embedder, sweep: list[str], tmp_path: Path
) -> None:
    figure = pytest.importorskip("ops.simulation.figure", exc_type=ImportError)
    sweep += ["sim-hasty", "sim-again"]
    chronicles = [await lived(graph, words, tenant) for tenant in ("sim-hasty", "sim-again")]
    picture = pictured(*chronicles)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()

    png, svg = figure.draw(picture, tmp_path / "first")
    same = figure.draw(picture, tmp_path / "second")

    ids = [[strand and strand.memory_id for strand in panel.strands] for panel in picture.panels]
    assert ids[0] == ids[1]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert [file.read_bytes() for file in same] == [png.read_bytes(), svg.read_bytes()]
    drawn = svg.read_text()
    assert "<svg" in drawn
    assert "<text" not in drawn  # letters are shapes: no font is needed to show them


async def test_a_simulation_touches_no_other_persona(
    graph: Graph, words: Embedder, sweep: list[str], life: object
) -> None:
    sweep.append("sim-beside")
    before = await life.everything()  # type: ignore[attr-defined]

    await lived(graph, words, "sim-beside")

    assert await life.everything() == before  # type: ignore[attr-defined]


async def test_beside_a_running_stack_the_life_ends_today_and_its_timetable_waits(
    graph: Graph, settings: Settings, sweep: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    policies = [command.NamedPolicy("hasty", HASTY)]

    (chronicle,) = await command.live_all(settings, short_script(), policies, keep=True)
    (tenant_id,) = re.findall(r"persona 'ada' of tenant '([\w-]+)'", capsys.readouterr().out)
    sweep.append(tenant_id)

    now = datetime.now(UTC)
    assert chronicle.counts[-1].on == now.date() - timedelta(days=1)
    assert chronicle.counts[-1].archived >= 1
    due = await graph.read(
        "policy/list_nights", tenant_id=tenant_id, persona_id="ada", after="", limit=1
    )
    assert due[0]["next_night_at"] > now


def test_a_generated_life_follows_from_its_seed() -> None:
    one, same, other = (everyday_life(months=6, seed=seed) for seed in (1, 1, 2))
    script = write_script(*one, months=6, seed=1)

    assert one == same
    assert one[0].turns != other[0].turns
    assert len(script.days) == 182
    assert 200 < sum(len(day.said) for day in script.days) < 450
    contents = [turn.content for turn in one[0].turns if turn.role is Speaker.USER]
    assert len(set(contents)) == len(contents)
    assert any("I moved to Porto" in content for content in contents)
    said_at = {turn.message_id: turn.said_at for turn in one[0].turns}
    assert all(said_at[it.message_id] < it.at for it in one[1].forgotten)
    flagged = {it.message_id: it.at for it in one[1].forgotten}
    assert one[1].taken_back
    assert all(flagged[it.message_id] < it.at for it in one[1].taken_back)


def test_a_transcript_is_asked_about_and_forgotten_by_its_seed() -> None:
    turns = [
        turn(number, f"I visited town number {number} with my brother and we ate fish.", day=number)
        for number in range(40)
    ]
    transcript = Transcript("trips", ["Sam", "Kim"], turns)
    storyline = storyline_of(transcript, seed=3)
    script = write_script(transcript, storyline, months=3, seed=3)

    assert storyline == storyline_of(transcript, seed=3) != storyline_of(transcript, seed=4)
    assert (len(storyline.forgotten), len(storyline.taken_back)) == (3, 1)
    asked = [question for day in script.days for question in day.asked]
    assert len(asked) > 20
    said = {turn.content: turn.said_at.date() for turn in turns}
    assert all(said[question.text] <= question.at.date() for question in asked)


def test_a_script_can_be_moved_to_another_time() -> None:
    script = short_script()
    later = moved(script, timedelta(days=100))

    assert [day.on for day in later.days] == [day.on + timedelta(days=100) for day in script.days]
    assert later.days[0].said[0].said_at == FIRST + timedelta(days=100)
    assert moved(later, timedelta(days=-100)) == script


def test_shapes_are_counted_apart_from_what_they_are_of() -> None:
    standings = {
        "states": ["active", "active", "archived", "active", "archived"],
        "shapes": [False, False, False, True, True],
        "minimized": [False, True, False, False, False],
    }

    counts = count(date(2026, 3, 2), standings)

    assert (counts.kept, counts.minimized, counts.archived, counts.shaped) == (1, 1, 1, 1)


def test_strength_is_what_time_has_left_of_salience_times_the_weight() -> None:
    policy = merge_layers()
    standings = {
        "memory_types": ["episodic", "episodic", "ForgottenShape"],
        "categories": ["", "plan", ""],
        "saliences": [0.5, 0.5, 0.4],
        "moved_at": [FIRST.timestamp() * 1000] * 3,
        "modifiers": [1.0, 0.2, 1.0],
    }

    strengths = strengths_at(standings, policy, FIRST + timedelta(days=20))

    assert strengths == pytest.approx([0.4, 0.08, 0.3])


def test_conversations_are_read_from_a_file(tmp_path: Path) -> None:
    turns = [
        {"id": "2", "datetime": "2026-05-02T12:00:00", "speaker": "Kim", "text": "Fine."},
        {"id": "1", "datetime": "2026-05-01T12:00:00", "speaker": "Sam", "text": "How are you?"},
        {"id": "3", "datetime": "2026-05-02T12:00:00", "speaker": "Ada", "text": "Good.",
         "role": "persona"},
    ]  # fmt: skip
    file = tmp_path / "talks.jsonl"
    file.write_text(json.dumps({"conversation": "t", "speakers": ["Sam", "Kim"], "turns": turns}))

    (transcript,) = read_transcripts(file)
    messages = [transcript.as_message(turn, "c", "ada") for turn in transcript.turns]

    assert [message.message_id for message in messages] == ["t.1", "t.2", "t.3"]
    assert [message.user_id for message in messages] == ["first", "second", None]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--policy", "none.json"], "none.json is not a policy"),
        (["--policy", "wrong.json"], "wrong.json is not a policy"),
        (["--data", "none.jsonl"], "none.jsonl is not a file of conversations"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_lived(
    arguments: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "figure_or_fail", lambda: None)
    Path("wrong.json").write_text('{"figure": {}}')

    result = CliRunner().invoke(app, ["simulate", *arguments])

    assert result.exit_code == 1
    assert expected in result.output


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "ops.simulation.figure", raising=False)

    result = CliRunner().invoke(app, ["simulate"])

    assert result.exit_code == 1
    assert "pip install 'pentimento[plots]'" in result.output
