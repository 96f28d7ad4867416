"""What servers wrote while a test failed, so that a report from afar says why."""

import contextlib
from pathlib import Path

LINES = 40  # of each log
# Neo4j writes its start into it, hundreds of lines; what matters stands in the others too.
NOT_SHOWN = {"debug.log"}


def ends_of_logs(folder: Path, since: float) -> dict[str, str]:
    """The last lines of each log below a folder that has grown since, by its path."""
    ends = {}
    for file in sorted(folder.rglob("*.log")):
        with contextlib.suppress(FileNotFoundError):  # a server that goes on may remove it
            if file.name not in NOT_SHOWN and file.stat().st_mtime >= since:
                lines = file.read_text(errors="replace").splitlines()
                ends[str(file.relative_to(folder))] = "\n".join(lines[-LINES:])
    return {name: text for name, text in ends.items() if text}
