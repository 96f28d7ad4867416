"""What `make test` says of the browser, on machines that have none."""

import os
from pathlib import Path

import pytest

from tests import chromium
from tests.chromium import install_chromium


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "MAC", ())
    return tmp_path


def put(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_a_browser_that_is_there_is_used_and_nothing_is_said(programs: Path) -> None:
    put(programs / "apt-get", "exit 1")
    put(programs / "google-chrome", "exit 0")

    assert install_chromium() == ""
    assert chromium.find_chromium() == str(programs / "google-chrome")


def test_root_on_debian_is_given_one(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    put(programs / "chromium.deb", "exit 0")
    asked = programs / "asked"
    put(
        programs / "apt-get",
        f'echo "$@" >>{asked}\ncase "$*" in *chromium) /bin/cp {programs}/chromium.deb '
        f"{programs}/chromium;; *) exit 100;; esac",
    )

    assert install_chromium() == "Installed Chromium."

    update, install = asked.read_text().splitlines()
    assert update.endswith(" update")  # which failed, and that was no reason to end
    assert install.endswith(" install -y --no-install-recommends chromium")


def test_an_apt_get_that_fails_is_quoted_and_nothing_is_raised(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    put(programs / "apt-get", "echo 'E: Unable to locate package chromium'; exit 100")

    line = install_chromium()

    assert "E: Unable to locate package chromium" in line
    assert "skip" in line


def test_who_is_not_root_is_told_and_apt_get_is_not_called(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    put(programs / "apt-get", f"echo called >{programs}/asked")

    assert "skip" in install_chromium()
    assert not (programs / "asked").exists()
