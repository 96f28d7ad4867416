"""The installer as `make` calls it, in a project of its own: what it prints, and what it logs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import PROJECT

pytestmark = pytest.mark.timeout(300)

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "pentimento"
version = "0"

[tool.hatch.build.targets.wheel]
packages = ["ops"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ops").mkdir()
    shutil.copy(PROJECT / "ops" / "bootstrap.py", tmp_path / "ops")
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "requirements").mkdir()
    return tmp_path


def bootstrap(project: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "ops/bootstrap.py", "local"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_install_is_two_lines_and_the_second_one_says_nothing(project: Path) -> None:
    locked = (PROJECT / "requirements" / "dev.txt").read_text()
    small = re.search(r"^iniconfig==.*?(?=^\S)", locked, re.M | re.S)
    assert small
    (project / "requirements" / "local.txt").write_text(small[0])

    first, second = bootstrap(project), bootstrap(project)

    assert first.returncode == 0, first.stdout
    assert re.fullmatch(
        r"Installing Python packages into \.venv \.\.\.\nInstalled 1 packages in \d+ s\.\n",
        first.stdout,
    )
    assert "iniconfig" in (project / ".pentimento" / "logs" / "install.log").read_text()
    assert (second.returncode, second.stdout) == (0, "")


def test_a_failed_install_shows_the_cause_and_names_its_log(project: Path) -> None:
    missing = f"no-such-package-of-ours==1 --hash=sha256:{'0' * 64}\n"
    (project / "requirements" / "local.txt").write_text(missing)

    failed = bootstrap(project)

    assert failed.returncode != 0
    assert "no-such-package-of-ours" in failed.stdout
    assert ".pentimento/logs/install.log" in failed.stdout
    assert len(failed.stdout.splitlines()) < 12
    assert failed.stderr == ""
