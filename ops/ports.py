"""Ports that are free. None is fixed, so that two stacks can run side by side."""

import random
import socket

# Below the range that outgoing connections take theirs from.
FIRST, LAST = 20_000, 32_000


def free_port(preferred: int = 0) -> int:
    """The preferred port if nobody has it, else a random free one."""
    if preferred and is_free(preferred):
        return preferred
    for _ in range(1000):
        port = random.randint(FIRST, LAST)  # noqa: S311
        if is_free(port):
            return port
    raise LookupError(f"No port between {FIRST} and {LAST} is free.")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
