"""An archive of Neo4j's classes as Java keeps them, with which it starts in half the time.

A run of the tests starts a Neo4j some twenty times, and most of what each start costs is to load
and check the same classes. `make test` writes the archive once for a checkout. Java looks at it
only if it fits the release of Java and the jars, so an old or a missing one costs time alone.
"""

import asyncio
import hashlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

from engine.errors import EngineError
from engine.settings import Settings
from engine.store.graph import Graph
from engine.store.migrations import migrate
from ops.install import LOCK, neo4j_folder, one_at_a_time
from ops.local_neo4j import find_java
from ops.servers import end, start_neo4j
from tests.servers import INSTALLED, PASSWORD, neo4j_place

ARCHIVE = INSTALLED / "neo4j-classes.jsa"
RECORD = ARCHIVE.with_suffix(".json")
# Servers of tests do not live long enough to earn back what Java's second compiler costs: without
# it a Neo4j starts and takes its schema with half the processor time.
QUICK = "-XX:TieredStopAtLevel=1"
WRITE_SECONDS = 300


def java_options() -> str:
    """What Java is told wherever tests start a Neo4j."""
    return f'{QUICK} "-XX:SharedArchiveFile={ARCHIVE}"' if ARCHIVE.exists() else QUICK


def make_archive() -> str:
    """Write the archive unless there is one of these jars and this Java. Returns a line to print.

    Without it tests are slower and nothing else, so a failure is told and is none of the caller's.
    """
    with one_at_a_time(INSTALLED, "classes"):
        try:
            wanted = made_of()
            if ARCHIVE.exists() and RECORD.exists() and json.loads(RECORD.read_text()) == wanted:
                return ""
            ARCHIVE.unlink(missing_ok=True)
            print(
                "Archiving Neo4j's classes, so that it starts faster in the tests ...", flush=True
            )
            with tempfile.TemporaryDirectory() as folder:
                write_archive(Path(folder))
            RECORD.write_text(json.dumps(wanted))
        except (
            EngineError,
            LookupError,
            OSError,
            RuntimeError,
            subprocess.SubprocessError,
        ) as error:
            last = str(error).strip().splitlines()[-1:] or [type(error).__name__]
            return f"They could not be archived ({last[0]}): the tests start Neo4j without."
    return f"Archived {ARCHIVE.stat().st_size / 1_000_000:.0f} MB."


def made_of() -> dict[str, str]:
    """What an archive is good for."""
    java = find_java()
    jars = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    return {
        "java": f"{java.command} {java.version}",
        "jars": jars,
        "folder": str(neo4j_folder(INSTALLED).resolve()),
    }


def write_archive(folder: Path) -> None:
    """Start a Neo4j, give it the schema, and let it write down the classes that took."""
    part = ARCHIVE.with_suffix(".part")
    os.environ["JDK_JAVA_OPTIONS"] = f'{QUICK} "-XX:ArchiveClassesAtExit={part}"'
    place = neo4j_place(folder)
    process = start_neo4j(INSTALLED, place, PASSWORD)
    try:
        settings = Settings(_env_file=None, neo4j_uri=place.uri, neo4j_password=PASSWORD)
        asyncio.run(take_schema(settings))
        process.terminate()
        process.wait(WRITE_SECONDS)
    finally:
        end(process)
    part.rename(ARCHIVE)


async def take_schema(settings: Settings) -> None:
    graph = Graph.open(settings)
    await migrate(graph)
    await graph.close()


if __name__ == "__main__":
    if line := make_archive():
        print(line)
