"""`pentimento simulate`: lives a script under each policy, then draws and tells what came of it."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from pydantic import SecretStr
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from engine.embedding import Embedder, claim_model, open_embedder
from engine.errors import EngineError
from engine.ids import new_id
from engine.night import list_runs
from engine.policy import Layer, set_deployment_policy
from engine.settings import Settings
from engine.store import Graph, migrate
from engine.text import join_with_and
from ops.local_neo4j import Neo4jPlace
from ops.ports import free_port
from ops.servers import own_neo4j
from ops.simulation.chronicle import PERSONA, Chronicle
from ops.simulation.everyday import everyday_life
from ops.simulation.picture import Panel, Picture, make_picture
from ops.simulation.script import DAY, Script, moved, storyline_of, write_script
from ops.simulation.world import PAGE_SIZE, STARTED_BY, World, begin, live
from ops.terminal import console, current_home, fail, running_stack
from ops.transcripts import read_transcripts

TENANT = "simulation"
PASSWORD = "only-for-simulations"  # noqa: S105
MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108  where there is one, no commit waits for a disk
NEEDED_BYTES = 2_000_000_000  # of a temporary Neo4j, with room to spare
DEFAULT_POLICY = "the default policy"
STATEMENT_SECONDS = 60.0  # of a Neo4j that has just started
COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A policy to live under: what PUT /api/personas/{id}/policy takes, and the file's name."""

    name: str
    layer: Layer


def simulate(
    data: Annotated[
        Path | None,
        typer.Option(help="A file of conversations, LoCoMo's or BEAM's; else a generated life."),
    ] = None,
    number: Annotated[int, typer.Option(min=1, help="Which conversation of the file.")] = 1,
    months: Annotated[float, typer.Option(min=0.1, max=120, help="How long it is lived.")] = 12,
    seed: Annotated[int, typer.Option(help="The same seed gives the same life.")] = 1,
    policy: Annotated[
        list[Path] | None,
        typer.Option(help="A policy as PUT /api/personas/{id}/policy takes it; may be repeated."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the figure and its data.")] = Path(
        "simulation"
    ),
    keep: Annotated[
        bool, typer.Option("--keep", help="Live in the running stack, and keep the persona.")
    ] = False,
) -> None:
    """Live months of a persona's life day by day; draw and tell what became of its memories."""
    draw = figure_or_fail()
    script = read_script(data, number, months, seed)
    policies = [read_policy_file(file) for file in policy or []]
    policies = policies or [NamedPolicy(DEFAULT_POLICY, Layer())]
    started = time.monotonic()
    try:
        with a_graph(keep=keep) as settings:
            chronicles = asyncio.run(live_all(settings, script, policies, keep=keep))
    except EngineError as error:
        fail(str(error))
    picture = make_picture(title_of(script, months), messages_in(script), chronicles)
    out.mkdir(parents=True, exist_ok=True)
    files = [*draw(picture, out), out / "life.json"]
    files[-1].write_text(picture.as_json())
    for panel in picture.panels:
        tell(console, panel)
    nights = sum(chronicle.nights for chronicle in chronicles)
    console.print(
        f"\n{len(script.days)} days, {messages_in(script)} messages and {nights} nights in "
        f"{time.monotonic() - started:.0f} s. {', '.join(map(str, files))}",
        soft_wrap=True,
    )


# ── What is lived ────────────────────────────────────────────────────────────────────────────────


def read_script(data: Path | None, number: int, months: float, seed: int) -> Script:
    """The script of a conversation of a file, or of a generated life."""
    if data is None:
        transcript, storyline = everyday_life(months=months, seed=seed)
        return write_script(transcript, storyline, months=months, seed=seed)
    try:
        transcripts = read_transcripts(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{data} is not a file of conversations: {type(error).__name__} {error}")
    if number > len(transcripts):
        fail(f"{data} has {len(transcripts)} conversations.")
    transcript = transcripts[number - 1]
    storyline = storyline_of(transcript, seed=seed)
    return write_script(transcript, storyline, months=months, seed=seed)


def read_policy_file(file: Path) -> NamedPolicy:
    """The policy of a file; its figures are checked when it is set."""
    try:
        return NamedPolicy(file.stem, msgspec.json.decode(file.read_bytes(), type=Layer))
    except (OSError, msgspec.MsgspecError) as error:
        fail(f"{file} is not a policy: {error}")


def messages_in(script: Script) -> int:
    return sum(len(day.said) for day in script.days)


def title_of(script: Script, months: float) -> str:
    """Such as "A year of Sam and Ada"."""
    users = list(dict.fromkeys(turn.speaker for day in script.days for turn in day.said))
    people = join_with_and([*(name for name in users if name != PERSONA), PERSONA])
    length = "A year" if months == 12 else f"{months:g} months"
    return f"{length} of {people}"


# ── Where it is lived ────────────────────────────────────────────────────────────────────────────


@contextmanager
def a_graph(*, keep: bool) -> Iterator[Settings]:
    """Settings for the graph of the running stack, or for a Neo4j that is deleted afterwards."""
    home, settings = current_home()
    if keep:
        yield running_stack(home).settings_for(settings)
        return
    # A short life does not earn back what Java's second compiler costs.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    with tempfile.TemporaryDirectory(dir=quickest_folder()) as folder:
        place = Neo4jPlace(
            Path(folder), free_port(), free_port(), "1g", "256m", replan_seconds=36_000
        )
        console.print("Starting a Neo4j of its own ...")
        with own_neo4j(settings.home, place, PASSWORD) as uri:
            own = {"neo4j_uri": uri, "neo4j_password": SecretStr(PASSWORD)}
            yield settings.model_copy(update=own)


def quickest_folder() -> Path | None:
    """A folder in memory, if there is one with room; else None, for the usual temporary one."""
    has_room = MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > NEEDED_BYTES
    return MEMORY_FOLDER if has_room else None


async def live_all(
    settings: Settings, script: Script, policies: Sequence[NamedPolicy], *, keep: bool
) -> list[Chronicle]:
    """Live the script once under each policy."""
    graph = Graph.open(settings).with_limit(STATEMENT_SECONDS)
    embedder = open_embedder(settings, threads=1, remembers=True)  # more wait by spinning
    try:
        await migrate(graph)
        await claim_model(graph, embedder, analyzer=settings.full_text_analyzer)
        if keep:
            script = moved(script, datetime.now(UTC).date() - DAY - script.days[-1].on)
        else:
            await set_deployment_policy(graph, settings)
        with Progress(*COLUMNS, console=console) as progress:
            return [
                await live_one(graph, embedder, script, named, progress, keep=keep)
                for named in policies
            ]
    finally:
        embedder.close()
        await graph.close()


async def live_one(
    graph: Graph,
    embedder: Embedder,
    script: Script,
    named: NamedPolicy,
    progress: Progress,
    *,
    keep: bool,
) -> Chronicle:
    """Live the script under one policy, in a tenant of its own."""
    world = await begin(
        graph,
        embedder,
        tenant_id=f"{TENANT}-{new_id()}",
        policy=named.name,
        layer=named.layer,
        script=script,
        beside_a_stack=keep,
    )
    try:
        task = progress.add_task(named.name, total=len(script.days))
        async for _ in live(world, script):
            progress.advance(task)
    finally:
        await world.close()
    if keep:
        await check_timetable(world)
        console.print(f"Kept: persona {world.persona_id!r} of tenant {world.tenant_id!r}.")
    return world.chronicle


async def check_timetable(world: World) -> None:
    """Say so when a job of the running stack has worked on the persona meanwhile."""
    page = await list_runs(
        world.graph, world.tenant_id, world.persona_id, cursor=None, limit=PAGE_SIZE
    )
    others = [run for run in page.items if run.started_by != STARTED_BY]
    if others:
        fail(f"The stack's timetable ran {len(others)} of its nights meanwhile. Please run again.")


# ── What is told ─────────────────────────────────────────────────────────────────────────────────


def figure_or_fail() -> Callable[[Picture, Path], list[Path]]:
    """The function that draws; without matplotlib the command ends, before anything is lived."""
    try:
        from ops.simulation.figure import draw
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        fail("The figure needs matplotlib, which is an extra: pip install 'pentimento[plots]'.")
    return draw


def tell(console: Console, panel: Panel) -> None:
    """Print what became of all memories, and the stories of some."""
    last = panel.counts[-1]
    console.print(f"\n[bold]{escape(panel.policy)}[/bold]")
    console.print(
        f"{last.kept} kept, {last.minimized} minimized, {last.archived} archived, "
        f"{last.shaped} shapes"
    )
    for strand in panel.strands:
        if strand is not None:
            console.print(
                f"\n  [italic]“{escape(strand.text)}”[/italic]  [dim]{strand.reason}[/dim]"
            )
            console.print(Padding(strand.story, (0, 0, 0, 2)))
