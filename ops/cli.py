"""The `pentimento` command."""

import asyncio
import json
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from engine.access import Role, add_tenant, issue_key, list_tenants
from engine.embedding import claim_model, open_embedder
from engine.errors import EngineError
from engine.night import get_run, open_night_tools, preview_night, run_night, undo_run
from engine.service import open_clock, set_up_logs
from engine.settings import Settings
from engine.store import Graph, migrate
from ops.browser_guide import browser
from ops.demo import PERSONA, STATEMENT_SECONDS, TENANT, prepare_demo
from ops.diagnosis import StackFailed, shown
from ops.doctor import StackRuns, examine, move_vector_indexes_away
from ops.home import Home, Stack
from ops.install import (
    FetchFailed,
    install_model,
    install_neo4j,
    one_at_a_time,
    remove_damaged_jars,
)
from ops.report import show_changes, show_run
from ops.simulation.command import simulate
from ops.stack import start, stop, wait_until_ready
from ops.terminal import (
    console,
    current_home,
    fail,
    own_path,
    running_settings,
    running_stack,
    with_graph,
)
from ops.two_weeks import begin, live, read_talk
from ops.two_weeks_report import read_story, show_day, show_next_steps, show_story

app = typer.Typer(
    help="Run a local Pentimento: a memory engine for AI personas that forgets well.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tenant = typer.Typer(help="Add and list tenants.", no_args_is_help=True)
app.add_typer(tenant, name="tenant")
app.command()(simulate)
app.command()(browser)

UNITS = {"d": "days", "h": "hours", "m": "minutes"}


@app.command()
def up(
    detach: Annotated[
        bool, typer.Option(help="Return when everything is ready instead of staying in front.")
    ] = False,
) -> None:
    """Start Neo4j, Redis, the API, a worker and beat, and install what is missing.

    Free ports are chosen. Does nothing when the stack runs already.
    """
    home, settings = current_home()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
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
    except (StackFailed, FetchFailed, LookupError) as error:
        stop(home)
        fail(str(error))
    except EngineError as error:
        stop(home)
        hint = "Check PENTIMENTO_NEO4J_URI and its password. " if settings.neo4j_uri else ""
        fail(f"{error} {hint}Details: {shown(home.logs)}")
    except KeyboardInterrupt:
        console.print("\nStopping ...")
        stop(home)


def bring_up(home: Home, settings: Settings) -> Stack:
    """Install, start, create the demo tenant, and wait until all is ready."""
    if settings.neo4j_uri is None:
        install_neo4j(home.folder, console)
    install_model(home.folder, console, settings.embedding_model)
    started = time.monotonic()
    startup = start(home, settings, console.print)
    key = asyncio.run(prepare_demo(running_settings(), home.secrets().get("api_key")))
    stack = replace(startup.stack, api_key=home.keep_secret("api_key", key))
    home.save(stack)
    wait_until_ready(startup, console.print)
    console.print(f"Ready after {time.monotonic() - started:.0f} s.\n")
    return stack


def stay(home: Home, stack: Stack) -> None:
    """Wait until Ctrl-C, and report every restart of a process."""
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
    """Print addresses, logs, and two lines that call the API when pasted."""
    lines = {
        "API": f"{stack.api_url}/api, described at {stack.api_url}/schema",
        "Browser": stack.browser_url or "the one of your own Neo4j",
        "Neo4j": f"{stack.neo4j_uri}, user {stack.neo4j_user}, password {stack.neo4j_password}",
        "Redis": stack.redis_url.rpartition("@")[2],
        "Logs": home.logs,
        "Demo": f"tenant {TENANT!r}, persona {PERSONA!r}",
    }
    for name, line in lines.items():
        console.print(f"{name:<10} {line}", soft_wrap=True, markup=False)
    console.print("\nTry it:\n")
    for line in (
        f'eval "$({own_path()} env)"',
        f'curl -s -H "Authorization: Bearer $KEY" $API/personas/{PERSONA}\n',
    ):
        console.print(line, soft_wrap=True, markup=False)


@app.command()
def down() -> None:
    """Stop everything that `up` started. Data stays."""
    home, _ = current_home()
    console.print("Stopped." if stop(home) else "Nothing was running.")


@app.command()
def status(
    as_json: Annotated[
        bool, typer.Option("--json", help="As JSON, with the admin key of the demo tenant.")
    ] = False,
) -> None:
    """Show addresses and the state of each process. Exit code 1 when nothing runs."""
    home, _ = current_home()
    stack = running_stack(home)
    processes = home.processes(stack)
    if as_json:
        values = asdict(stack)
        names = ("api_url", "neo4j_uri", "neo4j_user", "neo4j_password", "browser_url", "redis_url")
        report = {name: values[name] for name in (*names, "api_key")}
        sys.stdout.write(json.dumps({**report, "processes": processes}, indent=2) + "\n")
        return
    show(home, stack)
    for process in processes:
        console.print(f"{process['name']:<8} {process['state']:<10} pid {process['pid']}")


@app.command()
def env() -> None:
    """Print shell commands that set API and KEY, for: eval "$(pentimento env)".

    API is the address of the running API, KEY an admin key of the demo tenant.
    """
    home, _ = current_home()
    stack = running_stack(home)
    if stack.api_key is None:
        fail("The stack is still starting; try again in some seconds.")
    for name, value in {"API": f"{stack.api_url}/api", "KEY": stack.api_key}.items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


@app.command()
def doctor(
    mend: Annotated[
        bool,
        typer.Option(
            help="Move the vector index of a database that does not open away; `up` rebuilds it."
        ),
    ] = False,
) -> None:
    """Check everything the stack needs, and say how to fix what is broken."""
    home, settings = current_home()
    if mend:
        try:
            moved = move_vector_indexes_away(home, settings.neo4j_database)
        except StackRuns as error:
            fail(str(error))
        console.print(f"{len(moved)} moved away. `pentimento up` builds the index again.")
        return
    broken = 0
    for finding in examine(home, settings):
        mark = "[green]ok[/green]    " if finding.ok else "[red]broken[/red]"
        console.print(f"{mark}  {finding.what:<16} {finding.detail}", soft_wrap=True)
        if not finding.ok:
            broken += 1
            console.print(f"        {'':<16} {finding.remedy}", style="yellow", soft_wrap=True)
    if broken:
        raise typer.Exit(1)


@app.command()
def install(
    only: Annotated[
        str, typer.Option(metavar="neo4j|model", help="Fetch one of them instead of both.")
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the jars that are there, too.")
    ] = False,
) -> None:
    """Fetch Neo4j's jars and the embedding model, each checked by its checksum.

    Nothing is fetched twice.
    """
    home, settings = current_home()
    try:
        if only in ("", "neo4j"):
            if verify:
                console.print(f"{len(remove_damaged_jars(home.folder))} damaged jars.")
            install_neo4j(home.folder, console)
        if only in ("", "model"):
            install_model(home.folder, console, settings.embedding_model)
    except FetchFailed as error:
        fail(f"{error} It is safe to try again.")


@app.command(name="migrate")
def migrate_command() -> None:
    """Update the database schema to this version."""

    async def work(graph: Graph, _: Settings) -> list[str]:
        return await migrate(graph)

    applied = with_graph(work)
    for migration in applied:
        console.print(f"applied {migration}")
    if not applied:
        console.print("The schema is up to date.")


@app.command()
def night(
    persona: Annotated[str, typer.Option(metavar="ID", help="The persona.")] = "",
    tenant_id: Annotated[str, typer.Option("--tenant", metavar="ID", help="Its tenant.")] = TENANT,
    now: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Run it as if it were this time: from now on, such as +2d, +36h or +90m, or ISO "
            "8601, such as 2027-01-01T03:00:00Z.",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would change, and change nothing.")
    ] = False,
    undo: Annotated[
        str, typer.Option(metavar="RUN", help="Undo this run instead; it is named by its id.")
    ] = "",
) -> None:
    """Run a persona's night now instead of at 03:00: candidates become memories.

    What was said in the last 24 hours waits for the next night; `--now +2d` includes it.
    """
    if bool(persona) == bool(undo):
        fail("Name a persona whose night to run, or a run to undo: --persona or --undo.")
    moment_at = parse_moment(now)

    async def work(graph: Graph, settings: Settings) -> None:
        moment = moment_at(await open_clock(settings, graph).now())
        tools = open_night_tools(settings, open_embedder(settings))
        if undo:
            kept = await undo_run(graph, tenant_id, undo, now=moment, undone_by="command line")
            run = await get_run(graph, tenant_id, undo)
            console.print(f"The {run.kind} of {run.period} of {run.persona_id} is undone.")
            for item in kept:
                console.print(f"  kept, since it has changed: {item}")
        elif dry_run:
            run, changes = await preview_night(graph, tenant_id, persona, now=moment, tools=tools)
            show_run(console, run)
            show_changes(console, changes)
        else:
            by = "command line"
            run = await run_night(graph, tenant_id, persona, now=moment, started_by=by, tools=tools)
            show_run(console, run)

    with_graph(work)


def parse_moment(text: str) -> Callable[[datetime], datetime]:
    """A function from the current time to the one that is meant: +2d, ISO 8601, or none given."""
    if relative := re.fullmatch(r"\+(\d{1,5})([dhm])", text):
        distance = timedelta(**{UNITS[relative[2]]: int(relative[1])})
        return lambda now: now + distance
    if not text:
        return lambda now: now
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fail(f"{text!r} is not a time such as +2d, +36h or 2027-01-01T03:00:00+00:00.")
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return lambda _: moment


@app.command(name="demo")
def demo_command(
    again: Annotated[
        bool, typer.Option("--again", help="Start over with a new persona; the others stay.")
    ] = False,
) -> None:
    """Simulate two weeks of a persona with a night each, and show what it remembers.

    Takes about a minute. A second time it shows the same persona again and changes nothing.
    """
    running = current_home()[0].running()

    async def work(graph: Graph, settings: Settings) -> None:
        graph = graph.with_limit(STATEMENT_SECONDS)
        await migrate(graph)
        embedder = open_embedder(settings)
        await claim_model(graph, embedder, analyzer=settings.full_text_analyzer)
        life = await begin(graph, embedder, settings, again=again)
        console.print("Sam talks to Ada for two weeks, and every night Ada's memory is sorted.\n")
        days = []
        async for day in live(life, read_talk(life.persona_id)):
            show_day(console, day)
            days.append(day)
        if all(day.was_simulated_before for day in days):
            console.print("\nAll of it was simulated before: nothing was changed. See --again.")
        story = await read_story(life, days)
        show_story(console, story)
        show_next_steps(console, story, life, running.browser_url if running else None, own_path())
        embedder.close()

    with_graph(work)


@tenant.command()
def add(
    tenant_id: Annotated[str, typer.Argument(metavar="ID", help="Of your choice.")],
    name: Annotated[str, typer.Option(help="A name for people to read; the id without it.")] = "",
) -> None:
    """Add a tenant and print an admin key for it. For a tenant that exists: print another key."""

    async def work(graph: Graph, _: Settings) -> str:
        now = datetime.now(UTC)
        await migrate(graph)
        await add_tenant(graph, tenant_id, name=name or tenant_id, now=now)
        issued = await issue_key(graph, tenant_id, name="first admin", role=Role.ADMIN, now=now)
        return issued.api_key

    sys.stdout.write(with_graph(work) + "\n")


@tenant.command(name="list")
def list_command() -> None:
    """List every tenant: its id and name."""

    async def work(graph: Graph, _: Settings) -> Any:
        return await list_tenants(graph)

    for listed in with_graph(work):
        console.print(f"{listed.id:<24} {listed.name}")


@app.callback()
def prepare() -> None:
    # Commands print sentences; of the log only warnings are shown.
    set_up_logs(Settings(log_format="console", log_level="warning"))
