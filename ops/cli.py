"""The `pentimento` command."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console

from engine.access import Role, add_tenant, issue_key, list_tenants
from engine.embedding import claim_model, open_embedder
from engine.errors import EngineError
from engine.night import get_run, preview_night, run_night, undo_run
from engine.service import open_clock, set_up_logs
from engine.settings import Settings
from engine.store import Graph, migrate
from ops.demo import PATIENCE, PERSONA, TENANT, prepare_demo
from ops.doctor import StackRuns, examine, put_vector_indexes_aside
from ops.install import FetchFailed, install_model, install_neo4j, one_at_a_time
from ops.report import show_changes, show_run
from ops.stack import Home, Stack, StackFailed, start, stop, tails, wait_until_ready
from ops.two_weeks import begin, live, read_talk
from ops.two_weeks_report import show_day, show_story, show_way_in, story_of

T = TypeVar("T")

app = typer.Typer(
    help="A memory engine for AI personas that forgets well.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tenant = typer.Typer(help="Tenants, and their first keys.", no_args_is_help=True)
app.add_typer(tenant, name="tenant")
console = Console(highlight=False)


def here() -> tuple[Home, Settings]:
    settings = Settings()
    return Home(settings.home), settings


def inside() -> Settings:
    """The settings of the stack that runs here; without one, those of the environment."""
    home, settings = here()
    running = home.running()
    return running.inside(settings) if running else settings


def with_graph(work: Callable[[Graph, Settings], Awaitable[T]]) -> T:
    """Run one piece of engine work, and tell a refusal as a sentence."""
    settings = inside()

    async def opened() -> T:
        graph = Graph.open(settings)
        try:
            return await work(graph, settings)
        finally:
            await graph.close()

    try:
        return asyncio.run(opened())
    except EngineError as refusal:
        fail(str(refusal))


def fail(why: str) -> NoReturn:
    console.print(why, style="red", markup=False)
    raise typer.Exit(1)


@app.command()
def up(
    detach: Annotated[bool, typer.Option(help="Return when all is ready.")] = False,
) -> None:
    """Install what is missing, start everything, and say what runs where."""
    home, settings = here()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    try:
        with one_at_a_time(home.folder, "up"):
            if running := home.running():
                console.print("Running already.")
                show(home, running)
                return
            stack = bring_up(home, settings)
        show(home, stack)
        if not detach:
            stay(home, stack)
    except (StackFailed, FetchFailed, EngineError, LookupError) as error:
        stop(home)
        fail(f"{error}\n{tails(home) if isinstance(error, EngineError) else ''}")
    except KeyboardInterrupt:
        console.print("\nStopping ...")
        stop(home)


def bring_up(home: Home, settings: Settings) -> Stack:
    if settings.neo4j_uri is None:
        install_neo4j(home.folder, console)
    install_model(home.folder, console)
    started = time.monotonic()
    stack = start(home, settings, console.print)
    key = asyncio.run(prepare_demo(inside(), home.secrets().get("api_key")))
    stack = replace(stack, api_key=home.keep_secret("api_key", key))
    home.remember(stack)
    wait_until_ready(home, stack, console.print)
    console.print(f"Ready after {time.monotonic() - started:.0f} s.\n")
    return stack


def stay(home: Home, stack: Stack) -> None:
    """Keep the terminal until Ctrl-C, and tell of every restart."""
    console.print("[dim]Ctrl-C stops everything.[/dim]")
    pids = {process["name"]: process["pid"] for process in home.processes(stack)}
    while home.running():
        time.sleep(1)
        for process in home.processes(stack):
            name, pid = process["name"], process["pid"]
            if pid and pid != pids[name]:
                console.print(f"{datetime.now(UTC):%H:%M:%S} {name} had died and was restarted.")
                pids[name] = pid


def show(home: Home, stack: Stack) -> None:
    """One screen: what runs where, the key, and a call that works when pasted."""
    lines = {
        "API": f"{stack.api_url}/api, described at {stack.api_url}/schema",
        "Browser": stack.browser_url or "the one of your own Neo4j",
        "Neo4j": f"{stack.neo4j_uri}, user {stack.neo4j_user}, password {stack.neo4j_password}",
        "Redis": stack.redis_url.rpartition("@")[2],
        "Logs": home.logs,
        "Demo": f"tenant {TENANT!r}, persona {PERSONA!r}",
        "Admin key": stack.api_key,
    }
    for name, line in lines.items():
        console.print(f"{name:<10} {line}", soft_wrap=True, markup=False)
    header = f"-H 'Authorization: Bearer {stack.api_key}'"
    console.print("\nTry it:\n")
    console.print(f"curl -s {header} {stack.api_url}/api/personas/{PERSONA}\n", soft_wrap=True)


@app.command()
def down() -> None:
    """Stop everything `up` started."""
    home, _ = here()
    console.print("Stopped." if stop(home) else "Nothing was running.")


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """What runs where."""
    home, _ = here()
    stack = home.running()
    if stack is None:
        fail("Not running. Start it with `make up` or `pentimento up`.")
    processes = home.processes(stack)
    if as_json:
        told = asdict(stack)
        names = ("api_url", "neo4j_uri", "neo4j_user", "neo4j_password", "browser_url", "redis_url")
        report = {name: told[name] for name in (*names, "api_key")}
        sys.stdout.write(json.dumps({**report, "processes": processes}, indent=2) + "\n")
        return
    show(home, stack)
    for process in processes:
        console.print(f"{process['name']:<8} {process['state']:<10} pid {process['pid']}")


@app.command()
def doctor(
    mend: Annotated[
        bool, typer.Option(help="Put the vector index of a store that does not open aside.")
    ] = False,
) -> None:
    """Say what is missing or broken, and how to mend it."""
    home, settings = here()
    if mend:
        try:
            moved = put_vector_indexes_aside(home, settings.neo4j_database)
        except StackRuns as error:
            console.print(str(error), style="red")
            raise typer.Exit(1) from error
        console.print(f"{len(moved)} put aside. `pentimento up` makes the index anew.")
        return
    broken = 0
    for finding in examine(home, settings):
        mark = "[green]ok[/green]    " if finding.ok else "[red]broken[/red]"
        console.print(f"{mark}  {finding.what:<16} {finding.detail}", soft_wrap=True)
        if not finding.ok:
            broken += 1
            console.print(f"        {'':<16} {finding.mend}", style="yellow", soft_wrap=True)
    if broken:
        raise typer.Exit(1)


@app.command()
def install(
    only: Annotated[str, typer.Option(help="`neo4j` or `model`; both without it.")] = "",
) -> None:
    """Fetch Neo4j and the embedding model, checked and side by side."""
    home, _ = here()
    try:
        if only in ("", "neo4j"):
            install_neo4j(home.folder, console)
        if only in ("", "model"):
            install_model(home.folder, console)
    except FetchFailed as error:
        fail(f"{error}\nIt is safe to try again: what is in place stays.")


@app.command(name="migrate")
def migrate_command() -> None:
    """Bring the graph's schema to this version."""

    async def work(graph: Graph, _: Settings) -> list[str]:
        return await migrate(graph)

    applied = with_graph(work)
    for migration in applied:
        console.print(f"applied {migration}")
    if not applied:
        console.print("The schema is up to date.")


@app.command()
def night(
    persona: Annotated[str, typer.Option(help="The persona's id.")] = "",
    tenant_id: Annotated[str, typer.Option("--tenant", help="The tenant's id.")] = TENANT,
    now: Annotated[str, typer.Option(help="Another time than now, as ISO 8601.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say exactly what would be done, and do nothing.")
    ] = False,
    undo: Annotated[str, typer.Option(metavar="RUN", help="Take back this run, whole.")] = "",
) -> None:
    """Run a persona's night by hand, rehearse it, or take one back."""
    if bool(persona) == bool(undo):
        fail("Name a persona whose night to run, or a run to take back: --persona or --undo.")
    at = parse_time(now) if now else None

    async def work(graph: Graph, settings: Settings) -> None:
        moment = at or await open_clock(settings, graph).now()
        if undo:
            kept = await undo_run(graph, tenant_id, undo, now=moment, undone_by="command line")
            told = await get_run(graph, tenant_id, undo)
            console.print(f"The {told.kind} of {told.period} of {told.persona_id} is taken back.")
            for it in kept:
                console.print(f"  kept, since it has changed: {it}")
        elif dry_run:
            told, changes = await preview_night(graph, tenant_id, persona, now=moment)
            show_run(console, told)
            show_changes(console, changes)
        else:
            told = await run_night(graph, tenant_id, persona, now=moment, started_by="command line")
            show_run(console, told)

    with_graph(work)


@app.command(name="demo")
def demo_command(
    again: Annotated[
        bool, typer.Option("--again", help="With another persona, beside those there are.")
    ] = False,
) -> None:
    """Two weeks of a persona's life, nights included: what became memory, and what did not."""
    running = here()[0].running()

    async def work(graph: Graph, settings: Settings) -> None:
        patient = graph.with_limit(PATIENCE)
        await migrate(patient)
        embedder = open_embedder(settings)
        await claim_model(patient, embedder, analyzer=settings.full_text_analyzer)
        life = await begin(patient, embedder, settings, again=again)
        console.print("Sam talks to Ada for two weeks, and Ada sleeps on it every night.\n")
        days = []
        async for day in live(life, read_talk(life.persona_id)):
            show_day(console, day)
            days.append(day)
        if all(day.lived_before for day in days):
            console.print("\nAda had lived through them before: nothing was done. See --again.")
        story = await story_of(life, days)
        show_story(console, story)
        show_way_in(console, story, life, running.browser_url if running else None)
        embedder.close()

    with_graph(work)


def parse_time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fail(f"{text!r} is not a time such as 2027-01-01T03:00:00+00:00.")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@tenant.command()
def add(
    tenant_id: Annotated[str, typer.Argument(metavar="ID")],
    name: Annotated[str, typer.Option(help="Its readable name.")] = "",
) -> None:
    """Make a tenant and print an admin key for it. Again with the same id: another key."""

    async def work(graph: Graph, _: Settings) -> str:
        now = datetime.now(UTC)
        await migrate(graph)
        await add_tenant(graph, tenant_id, name=name or tenant_id, now=now)
        issued = await issue_key(graph, tenant_id, name="first admin", role=Role.ADMIN, now=now)
        return issued.api_key

    sys.stdout.write(with_graph(work) + "\n")


@tenant.command(name="list")
def list_command() -> None:
    """Every tenant."""

    async def work(graph: Graph, _: Settings) -> Any:
        return await list_tenants(graph)

    for found in with_graph(work):
        console.print(f"{found.id:<24} {found.name}")


@app.callback()
def prepare() -> None:
    # Commands speak in sentences; only warnings of the libraries come through as log lines.
    set_up_logs(Settings(log_format="console", log_level="warning"))
