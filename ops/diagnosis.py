"""Why the stack did not start, in one line: reads what its processes logged since this start."""

import re
from dataclasses import dataclass
from pathlib import Path

from ops.home import Home
from ops.install import damaged_jars


def shown(path: Path) -> str:
    """A path as short as it can be typed: relative inside the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


class StackFailed(Exception):
    """The stack did not start. The text is one line: the reason, what to do, which log to read."""

    def __init__(self, reason: str, remedy: str = "", log: Path | None = None) -> None:
        details = f"Details: {shown(log)}" if log else ""
        super().__init__(" ".join(part for part in (reason, remedy, details) if part))


@dataclass(frozen=True)
class Cause:
    """A line that a process logs when it cannot start, and what it means to a person."""

    pattern: str
    reason: str  # may name groups of the pattern
    remedy: str


HEAP_HINT = "Set PENTIMENTO_NEO4J_HEAP (1g by default)"
CAUSES = {
    "neo4j": (
        Cause(
            r"insufficient memory for the Java|Could not reserve enough space|exceeds the maximum",
            "this machine has not enough free memory for it",
            f"{HEAP_HINT} and PENTIMENTO_NEO4J_PAGE_CACHE (512m) lower, or end other programs.",
        ),
        Cause(
            r"OutOfMemoryError|Too small (initial|maximum) heap|Initial heap size set to a larger",
            "its Java heap is too small",
            f"{HEAP_HINT} higher.",
        ),
        Cause(
            r"(Invalid (?:initial|maximum) heap size: \S+)",
            "{1}",
            "PENTIMENTO_NEO4J_HEAP is a size such as 512m or 1g.",
        ),
        Cause(
            r"(\S+) is not a valid size",
            "{1} is not a size",
            "PENTIMENTO_NEO4J_PAGE_CACHE is a size such as 512m or 1g.",
        ),
        Cause(
            r"BindException(?:[^\n]*?socket /([\d.:]+))?|Address \S+ is already in use",
            "another program took its port {1}",
            "Start again: another port is chosen.",
        ),
        Cause(
            r"store_lock|StoreLockException|Lock file has been locked",
            "another Neo4j uses the same data",
            "Stop it: `pentimento down` in the folder it was started from.",
        ),
        Cause(
            r"No space left on device",
            "the disk is full",
            "It needs about 2 GiB of free space.",
        ),
        Cause(
            r"UnsupportedClassVersionError|Unrecognized option: (\S+)",
            "this Java is not the right one for it",
            "Unset JAVA_HOME, or point it to a JDK of version 21 or newer.",
        ),
    ),
    "redis": (
        Cause(
            r"(?:Bad file format|Unexpected end of file) reading the append only file",
            "its data file is damaged",
            "Move {redis_data} away and start again; the graph is not touched.",
        ),
        Cause(
            r"Address already in use",
            "another program took its port",
            "Start again: another port is chosen.",
        ),
        Cause(
            r"No space left on device",
            "the disk is full",
            "It needs some free space for its log.",
        ),
    ),
}
TITLES = {"neo4j": "Neo4j", "redis": "Redis", "api": "The API", "worker": "The worker"}
# Lines that name an error in the logs of Java, Redis and Python. The last is nearest the cause.
ERROR_LINE = re.compile(
    r"^(?:Caused by: |Exception in thread \"main\" |Error: |.* ERROR +(?:\[\S+\] )?|\d+:\w .* # )?"
    r"(?P<text>[\w.]+(?:Error|Exception)\b.*|(?:Error|ERROR).*)$"
)
LONGEST_ERROR = 200  # characters


class LogMarks:
    """Where each log ends now: text after that belongs to this start."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._sizes = {log: log.stat().st_size for log in home.logs.glob("*.log")}

    def text_since(self, name: str) -> str:
        log = self._home.log(name)
        if not log.exists():
            return ""
        with log.open("rb") as opened:
            opened.seek(self._sizes.get(log, 0))
            return opened.read().decode(errors="replace")


def explain(home: Home, marks: LogMarks, name: str) -> StackFailed:
    """The failure of a process that died while the stack was starting."""
    title, log, text = TITLES.get(name, name), home.log(name), marks.text_since(name)
    for cause in CAUSES.get(name, ()):
        if match := re.search(cause.pattern, text):
            reason = cause.reason.format(match[0], *(group or "" for group in match.groups()))
            remedy = cause.remedy.format(redis_data=shown(home.data / "redis"))
            return StackFailed(f"{title} did not start: {reason.strip()}.", remedy, log)
    if name == "neo4j" and (damaged := damaged_jars(home.folder)):
        names = ", ".join(jar.path(Path()).name for jar in damaged[:3])
        return StackFailed(
            f"{title} did not start: damaged jars: {len(damaged)} ({names}).",
            "Run `.venv/bin/pentimento install --verify`, which fetches them again.",
            log,
        )
    return StackFailed(f"{title} stopped while it was starting: {last_error(text)}", "", log)


def last_error(text: str) -> str:
    """The last line of a log that names an error, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [match["text"] for line in lines if (match := ERROR_LINE.match(line))]
    line = (errors or lines or ["it wrote nothing"])[-1]
    line = line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 1]}…"
    return line if line.endswith((".", "!", "…")) else f"{line}."
