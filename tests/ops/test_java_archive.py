"""What `make test` does before the tests start a Neo4j."""

import json
from pathlib import Path

import pytest

from tests import java_archive
from tests.java_archive import QUICK, java_options, made_of, make_archive


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the archive would be, in a folder with nothing in it."""
    file = tmp_path / "with a space" / "classes.jsa"
    file.parent.mkdir()
    monkeypatch.setattr(java_archive, "ARCHIVE", file)
    monkeypatch.setattr(java_archive, "RECORD", file.with_suffix(".json"))
    return file


def test_an_archive_that_fits_is_used_and_not_written_again(archive: Path) -> None:
    archive.write_bytes(b"classes")
    archive.with_suffix(".json").write_text(json.dumps(made_of()))

    assert make_archive() == ""
    assert archive.read_bytes() == b"classes"
    assert java_options() == f'{QUICK} "-XX:SharedArchiveFile={archive}"'


def test_one_of_another_java_is_not_kept_and_a_failure_is_told_and_not_raised(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Path) -> None:
        raise RuntimeError("Java wrote many lines\nno space left")

    monkeypatch.setattr(java_archive, "write_archive", fails)
    archive.write_bytes(b"classes")
    archive.with_suffix(".json").write_text(json.dumps({**made_of(), "java": "java 21"}))

    assert "no space left" in make_archive()
    assert not archive.exists()
    assert java_options() == QUICK
