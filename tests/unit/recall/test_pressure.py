"""Whether memory is short, by what Linux says of the machine and of the container."""

from pathlib import Path

import pytest

from engine.recall.pressure import memory_is_short

GIGABYTE = 2**30


def machine(folder: Path, *, free: int) -> Path:
    file = folder / "meminfo"
    file.write_text(f"MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:   {free} kB\n")
    return file


def container(folder: Path, *, limit: str, used: int, cached: int = 0) -> Path:
    cgroup = folder / "cgroup"
    cgroup.mkdir()
    (cgroup / "memory.max").write_text(f"{limit}\n")
    (cgroup / "memory.current").write_text(f"{used}\n")
    (cgroup / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")
    return cgroup


@pytest.mark.parametrize(("free", "short"), [(500, False), (101, False), (99, True)])
def test_a_machine_with_less_than_a_tenth_free_is_short(
    tmp_path: Path, free: int, short: bool
) -> None:
    assert memory_is_short(tmp_path / "none", machine(tmp_path, free=free)) is short


@pytest.mark.parametrize(
    ("limit", "used", "cached", "short"),
    [
        (str(GIGABYTE), GIGABYTE // 2, 0, False),
        (str(GIGABYTE), GIGABYTE - 10, 0, True),
        (str(GIGABYTE), GIGABYTE - 10, GIGABYTE // 2, False),  # files are given back at once
        ("max", GIGABYTE, 0, False),
    ],
)
def test_a_container_has_a_limit_of_its_own(
    tmp_path: Path, limit: str, used: int, cached: int, short: bool
) -> None:
    cgroup = container(tmp_path, limit=limit, used=used, cached=cached)

    assert memory_is_short(cgroup, machine(tmp_path, free=900)) is short


def test_where_nothing_can_be_told_memory_is_not_short(tmp_path: Path) -> None:
    assert memory_is_short(tmp_path / "none", tmp_path / "none") is False
