"""Finds free ports. None is fixed, so that two stacks can run side by side."""

import fcntl
import os
import random
import socket
import tempfile
import time
from pathlib import Path
from uuid import uuid4

# Below the range of ports that outgoing connections use.
FIRST_PORT, LAST_PORT = 20_000, 32_000
CLAIM_SECONDS = 60  # by then, the process that got the port listens on it


def free_port(preferred: int = 0, *, owner: str = "") -> int:
    """The preferred port if it is free, else a random free one; claimed for a minute.

    Without the claim, two stacks that start at the same moment would get the same port. An owner
    may claim its own port again.
    """
    owner = owner or uuid4().hex
    if preferred and claim(preferred, owner):
        return preferred
    for _ in range(1000):
        port = random.randint(FIRST_PORT, LAST_PORT)  # noqa: S311
        if claim(port, owner):
            return port
    raise LookupError(f"No port between {FIRST_PORT} and {LAST_PORT} is free.")


def claim(port: int, owner: str) -> bool:
    """Claim a port. False when somebody listens on it or claimed it in the last minute."""
    if not is_free(port):
        return False
    folder = Path(tempfile.gettempdir()) / f"pentimento-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / str(port)).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        claimed_by = file.read()
        is_recent = time.time() - os.fstat(file.fileno()).st_mtime < CLAIM_SECONDS
        if claimed_by and claimed_by != owner and is_recent:
            return False
        file.truncate(0)
        file.write(owner)
    return True


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a port counts as free while its last connections are closing.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
