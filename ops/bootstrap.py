"""Create the virtual environment, with nothing but the Python that runs this file.

`python3 ops/bootstrap.py local|plots|dev|models|cli|server [--venv .venv]`. Does nothing when the
environment already holds what requirements/<set>.txt lists, so every make target can call it.
Prints a line or two; what pip and uv print goes to .pentimento/logs/install.log.
"""

from __future__ import annotations  # so that an older Python reaches the message below

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".pentimento"
LOG = HOME / "logs" / "install.log"
UV = "uv==0.13.7"
SHOWN_LINES = 6  # of the log, after a failure
PROGRESS = re.compile(
    r"^( [+-] |Resolved |Prepared |Installed |Uninstalled |Using |\s*(Build|Download)\w+ )"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=["local", "plots", "dev", "models", "cli", "server"])
    parser.add_argument("--venv", default=".venv")
    arguments = parser.parse_args()
    if sys.version_info < (3, 11):  # noqa: UP036  a newcomer's python3 may be older
        version = ".".join(map(str, sys.version_info[:3]))
        print(f"Pentimento needs Python 3.11 or newer, and {sys.executable} is {version}.")
        print("Name a newer one: make PYTHON=python3.12 ...")
        return 1
    requirements = ROOT / "requirements" / f"{arguments.set}.txt"
    with one_at_a_time():
        return install(ROOT / arguments.venv, arguments.set, requirements)


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let two make commands in one folder take turns installing."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with (HOME / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(venv: Path, name: str, requirements: Path) -> int:
    """Install a set of packages unless it is there. Returns an exit code."""
    wanted = hashlib.sha256(
        requirements.read_bytes() + (ROOT / "pyproject.toml").read_bytes() + UV.encode()
    ).hexdigest()
    record = venv / "pentimento.json"
    installed: dict[str, str] = json.loads(record.read_text()) if record.exists() else {}
    if installed.get(name) == wanted:
        return 0

    started = time.monotonic()
    LOG.write_text("")
    print(f"Installing Python packages into {venv.name} ...", flush=True)
    if not (venv / "bin" / "python").exists() and run(sys.executable, "-m", "venv", str(venv)):
        print(f"This Python cannot create a virtual environment; {shown(LOG)} says why.")
        print("On Debian and Ubuntu: apt-get install python3-venv")
        return 1
    failed = install_packages(venv, requirements)
    output = LOG.read_text(errors="replace")
    if failed:
        for line in last_lines(output):
            print(f"  {line}")
        print(f"Installing failed. Everything pip and uv said is in {shown(LOG)}.")
        print("It is safe to try again.")
        return failed
    record.write_text(json.dumps({**installed, name: wanted}))
    count = len(re.findall(r"^ \+ ", output, re.M))
    packages = f"{count} packages" if count else "nothing new"
    print(f"Installed {packages} in {time.monotonic() - started:.0f} s.", flush=True)
    return 0


def install_packages(venv: Path, requirements: Path) -> int:
    python = str(venv / "bin" / "python")
    # Compiled once here, or the API, the worker and beat would each compile all they import.
    uv = [str(venv / "bin" / "uv"), "pip", "install", "--compile-bytecode", "--python", python]
    return (
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", UV)
        or run(*uv, "--require-hashes", "-r", str(requirements))
        or run(*uv, "--no-deps", "--quiet", "--editable", str(ROOT))
    )


def run(*command: str) -> int:
    """Run a command, with its output in the log. Returns its exit code."""
    # A virtual environment that happens to be active must not receive our packages.
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    with LOG.open("a") as log:
        log.write(f"$ {' '.join(command)}\n")
        log.flush()
        return subprocess.run(  # noqa: S603
            command, check=False, env=environment, stdout=log, stderr=subprocess.STDOUT
        ).returncode


def last_lines(output: str) -> list[str]:
    """The end of what the last command said, without lines that only show progress."""
    said = output.rpartition("\n$ ")[2].splitlines()[1:]
    lines = [line for line in said if line.strip() and not PROGRESS.match(line)]
    return lines[-SHOWN_LINES:]


def shown(file: Path) -> str:
    return os.path.relpath(file)


if __name__ == "__main__":
    sys.exit(main())
