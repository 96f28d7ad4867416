"""`pentimento doctor`: what is missing or broken, in words, and how to mend it."""

import asyncio
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from engine.embedding import open_embedder
from engine.errors import EngineError
from engine.settings import Settings
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
