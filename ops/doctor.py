"""`pentimento doctor`: checks what the stack needs, and says how to fix what is broken."""

import asyncio
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from engine.embedding import open_embedder
from engine.errors import EngineError
from engine.ids import new_id
from engine.settings import Settings
from engine.store import StoreState, inspect_store
from ops.home import Home
from ops.install import missing_jars
from ops.local_neo4j import find_java, find_redis

MIN_FREE_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    what: str
    ok: bool
    detail: str
    remedy: str = ""


def examine(home: Home, settings: Settings) -> Iterator[Finding]:
    """Check everything, beginning with what the rest depends on. What does not apply is skipped."""
    yield Finding("Python", sys.version_info >= (3, 11), platform.python_version())
    free = shutil.disk_usage(home.folder.parent).free
    yield Finding(
        "Disk", free > MIN_FREE_BYTES, f"{free / 1024**3:.1f} GiB free", "Neo4j needs 2 GiB."
    )
    if settings.neo4j_uri is None:
        yield from examine_neo4j(home)
    if settings.redis_url is None:
        yield examine_redis()
    yield examine_model(settings)
    yield from examine_store(home, settings)
    yield from examine_stack(home)


def examine_neo4j(home: Home) -> Iterator[Finding]:
    missing = missing_jars(home.folder)
    detail = f"{len(missing)} jars are missing" if missing else "all jars are in place"
    yield Finding("Neo4j", not missing, detail, "Run `pentimento install`.")
    try:
        java = find_java()
    except LookupError as error:
        yield Finding("Java", False, str(error), "Run `make up`, which installs one.")
        return
    has_module = "with" if java.vector_module else "without"
    yield Finding(
        "Java", True, f"{java.version} ({has_module} the vector module) at {java.command}"
    )


def examine_store(home: Home, settings: Settings) -> Iterator[Finding]:
    """Whether the database opens and its indexes work. Nothing while Neo4j does not run."""
    stack = home.running()
    used = stack.settings_for(settings) if stack else settings
    if used.neo4j_uri is None:
        moved = sorted(moved_indexes_folder(home).glob("*"))
        if moved:
            yield Finding(
                "Store", True, f"{len(moved)} indexes were moved away; `up` rebuilds them"
            )
        return
    store = inspect_store(
        used.neo4j_uri,
        used.neo4j_user,
        used.neo4j_password.get_secret_value(),
        used.neo4j_database,
    )
    yield store_finding(store, is_local=settings.neo4j_uri is None)


def store_finding(store: StoreState, *, is_local: bool) -> Finding:
    """The state of a database in words, and how to fix it."""
    if not store.answers:
        return Finding("Store", False, store.message, "Neo4j does not answer; read its log.")
    if not store.is_open:
        remedy = (
            "Run `pentimento down`, `pentimento doctor --mend`, `pentimento up`."
            if is_local
            else "Stop Neo4j, move data/databases/<name>/schema/index/vector-* out of the way, "
            "start it, and restart the API."
        )
        detail = store.message or "it had a critical error"
        return Finding(
            "Store",
            False,
            f"the database does not open: {detail}",
            f"Restart it. If it still does not open: {remedy} The index is rebuilt from the graph, "
            "nothing is lost with it.",
        )
    if store.failed_indexes:
        return Finding(
            "Store",
            False,
            f"failed indexes: {', '.join(store.failed_indexes)}",
            "Restart the API: it shortens the values that are too long and rebuilds the indexes.",
        )
    return Finding("Store", True, "the database is open and its indexes work")


def moved_indexes_folder(home: Home) -> Path:
    return home.data / "neo4j" / "moved-indexes"


def move_vector_indexes_away(home: Home, database: str) -> list[Path]:
    """Move the files of the vector indexes out of a stopped database. Returns their new paths.

    A database that failed over a value too long for an index finds it again when it replays its
    log, and does not open. Without the index's files it opens, and `up` rebuilds the index.
    """
    if home.running() or home.members():
        raise StackRuns("The stack is running; run `pentimento down` first.")
    indexes = home.data / "neo4j" / "data" / "databases" / database / "schema" / "index"
    moved = []
    for folder in sorted(indexes.glob("vector-*/*")):
        target = moved_indexes_folder(home) / f"{folder.name}-{new_id()}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, target)
        moved.append(target)
    return moved


class StackRuns(Exception):
    """The stack runs, and has to be stopped first."""


def examine_redis() -> Finding:
    try:
        return Finding("Redis", True, find_redis())
    except LookupError as error:
        return Finding("Redis", False, str(error), "Install redis-server, or run `make up`.")


def examine_model(settings: Settings) -> Finding:
    embedder = open_embedder(settings)
    try:
        vector = asyncio.run(embedder.embed_query("Does it work?"))
    except EngineError as error:
        return Finding("Model", False, str(error), "Check PENTIMENTO_EMBEDDER and its settings.")
    finally:
        embedder.close()
    return Finding("Model", True, f"{embedder.model}, {vector.shape[0]} dimensions")


def examine_stack(home: Home) -> Iterator[Finding]:
    stack = home.running()
    if stack is None:
        strays = home.members()
        yield Finding(
            "Stack",
            not strays,
            f"not running, but {len(strays)} of its processes are" if strays else "not running",
            "Run `make down`, which stops them.",
        )
        return
    for process in home.processes(stack):
        yield Finding(
            process["name"].capitalize(),
            process["state"] == "running",
            f"{process['state']}, up for {process['up_seconds']} s",
            f"Read {process['log']}.",
        )
    try:
        checks = httpx.get(f"{stack.api_url}/api/ready", timeout=5).json()["checks"]
    except (httpx.HTTPError, ValueError, KeyError) as error:
        yield Finding("Readiness", False, type(error).__name__, f"Read {home.logs / 'api.log'}.")
        return
    for name, check in checks.items():
        yield Finding(
            f"Ready: {name}",
            check["ok"],
            check["detail"],
            f"The logs are in {home.logs}.",
        )
