"""`pentimento doctor`: what is missing or broken, in words, and how to mend it."""

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
from ops.install import missing_jars
from ops.local_neo4j import find_java, find_redis
from ops.stack import Home

LEAST_DISK = 2 * 1024**3


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    what: str
    ok: bool
    detail: str
    mend: str = ""


def examine(home: Home, settings: Settings) -> Iterator[Finding]:
    """Look at everything, from the ground up. What does not apply is left out."""
    yield Finding("Python", sys.version_info >= (3, 11), platform.python_version())
    free = shutil.disk_usage(home.folder.parent).free
    yield Finding(
        "Disk", free > LEAST_DISK, f"{free / 1024**3:.1f} GiB free", "Neo4j wants 2 GiB to breathe."
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
    speed = "with" if java.vector_module else "without"
    yield Finding("Java", True, f"{java.version} ({speed} the vector module) at {java.command}")


def examine_store(home: Home, settings: Settings) -> Iterator[Finding]:
    """Whether the database opens and its indexes work. Nothing while Neo4j does not run."""
    stack = home.running()
    inside = stack.inside(settings) if stack else settings
    if inside.neo4j_uri is None:
        aside = sorted(put_aside_folder(home).glob("*"))
        if aside:
            yield Finding(
                "Store", True, f"{len(aside)} indexes were put aside; `up` makes them anew"
            )
        return
    store = inspect_store(
        inside.neo4j_uri,
        inside.neo4j_user,
        inside.neo4j_password.get_secret_value(),
        inside.neo4j_database,
    )
    yield store_finding(store, is_local=settings.neo4j_uri is None)


def store_finding(store: StoreState, *, is_local: bool) -> Finding:
    """What the state of a store means, and how it is mended."""
    if not store.answers:
        return Finding("Store", False, store.message, "Neo4j does not answer; read its log.")
    if not store.is_open:
        how = (
            "Run `pentimento down`, `pentimento doctor --mend`, `pentimento up`."
            if is_local
            else "Stop Neo4j, move data/databases/<name>/schema/index/vector-* out of the way, "
            "start it, and restart the API."
        )
        detail = store.message or "it met a critical error"
        return Finding(
            "Store",
            False,
            f"the database serves nothing: {detail}",
            f"A restart may be enough. If it does not open then: {how} An index holds nothing of "
            "its own: it is made anew from the graph.",
        )
    if store.failed_indexes:
        return Finding(
            "Store",
            False,
            f"failed indexes: {', '.join(store.failed_indexes)}",
            "Restart the API: it files what is too long for them again, and makes them anew.",
        )
    return Finding("Store", True, "the database is open, its indexes work")


def put_aside_folder(home: Home) -> Path:
    return home.data / "neo4j" / "put-aside"


def put_vector_indexes_aside(home: Home, database: str) -> list[Path]:
    """Move the files of the vector indexes out of a store that is not running; where they are now.

    A store that panicked over a value too long for an index meets it again when it replays its
    log, and does not open. Without the index's files it opens, and the index is made anew.
    """
    if home.running() or home.members():
        raise StackRuns("The stack is running; run `pentimento down` first.")
    store = home.data / "neo4j" / "data" / "databases" / database / "schema" / "index"
    aside = put_aside_folder(home)
    moved = []
    for folder in sorted(store.glob("vector-*/*")):
        target = aside / f"{folder.name}-{new_id()}"
        aside.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, target)
        moved.append(target)
    return moved


class StackRuns(Exception):
    """What was asked for needs a stack that is down."""


def examine_redis() -> Finding:
    try:
        return Finding("Redis", True, find_redis())
    except LookupError as error:
        return Finding("Redis", False, str(error), "Install redis-server, or run `make up`.")


def examine_model(settings: Settings) -> Finding:
    embedder = open_embedder(settings)
    try:
        vector = asyncio.run(embedder.embed_query("Is anybody there?"))
    except EngineError as error:
        return Finding("Model", False, str(error), "Check PENTIMENTO_EMBEDDER and its settings.")
    finally:
        embedder.close()
    return Finding("Model", True, f"{embedder.model}, {vector.shape[0]} numbers")


def examine_stack(home: Home) -> Iterator[Finding]:
    stack = home.running()
    if stack is None:
        strays = home.members()
        yield Finding(
            "Stack",
            not strays,
            f"not running, but {len(strays)} of its processes are" if strays else "not running",
            "Run `make down`, which ends them.",
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
