"""Whether this machine, or the container this process runs in, is short of memory."""

from pathlib import Path

MIN_FREE_SHARE = 0.1  # of all memory; with less, caches are given back
CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")


def memory_is_short(cgroup: Path = CGROUP, meminfo: Path = MEMINFO) -> bool:
    """Whether less than a tenth of the memory is free; false where that cannot be told."""
    shares = (free_share_of_container(cgroup), free_share_of_machine(meminfo))
    return any(share is not None and share < MIN_FREE_SHARE for share in shares)


def free_share_of_container(cgroup: Path) -> float | None:
    """The free share of the container's limit; None without a limit."""
    try:
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
        statistics = read_numbers(cgroup / "memory.stat")
    except (OSError, ValueError):  # no container, or a limit of "max"
        return None
    # Pages of files count as used but are given back at once.
    return 1 - (used - statistics.get("inactive_file", 0)) / limit


def free_share_of_machine(meminfo: Path) -> float | None:
    try:
        numbers = read_numbers(meminfo)
        return numbers["MemAvailable"] / numbers["MemTotal"]
    except (OSError, ValueError, KeyError):
        return None


def read_numbers(file: Path) -> dict[str, int]:
    """The numbers of a file with a name and a number in each line."""
    lines = (line.replace(":", " ").split() for line in file.read_text().splitlines())
    return {parts[0]: int(parts[1]) for parts in lines if len(parts) > 1}
