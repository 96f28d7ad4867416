"""Make the virtual environment, with nothing but the Python that runs this file.

`python3 ops/bootstrap.py local|dev|models|server [--venv .venv]`. Does nothing when the
environment already holds what requirements/<set>.txt asks for, so every make target can call it.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = "uv==0.13.7"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=["local", "dev", "models", "server"])
    parser.add_argument("--venv", default=".venv")
    chosen = parser.parse_args()
    if sys.version_info < (3, 11):  # noqa: UP036  a newcomer's python3 may be older
        found = ".".join(map(str, sys.version_info[:3]))
        print(f"Pentimento needs Python 3.11 or newer, and {sys.executable} is {found}.")
        print("Name a newer one: make PYTHON=python3.12 ...")
        return 1
    venv = ROOT / chosen.venv
    requirements = ROOT / "requirements" / f"{chosen.set}.txt"
    with one_at_a_time():
        return install(venv, chosen.set, requirements)


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two make commands in one folder take turns installing."""
    lock = ROOT / ".pentimento" / "install.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def install(venv: Path, name: str, requirements: Path) -> int:
    wanted = hashlib.sha256(
        requirements.read_bytes() + (ROOT / "pyproject.toml").read_bytes() + UV.encode()
    ).hexdigest()
    record = venv / "pentimento.json"
    installed: dict[str, str] = json.loads(record.read_text()) if record.exists() else {}
    if installed.get(name) == wanted:
        return 0

    started = time.monotonic()
    print(f"Installing Python packages into {venv.name} ...", flush=True)
    if not (venv / "bin" / "python").exists() and run(sys.executable, "-m", "venv", str(venv)):
        print("This Python cannot make a virtual environment. On Debian and Ubuntu:")
        print("  apt-get install python3-venv")
        return 1
    python = str(venv / "bin" / "python")
    # Compiled once here, or the API, the worker and beat would each compile all they import.
    uv = [str(venv / "bin" / "uv"), "pip", "install", "--compile-bytecode", "--python", python]
    failed = (
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", UV)
        or run(*uv, "--require-hashes", "-r", str(requirements))
        or run(*uv, "--no-deps", "--quiet", "--editable", str(ROOT))
    )
    if failed:
        print("Installing failed; what is above says why. It is safe to try again.")
        return failed
    record.write_text(json.dumps({**installed, name: wanted}))
    print(f"Python packages are in place after {time.monotonic() - started:.0f} s.", flush=True)
    return 0


def run(*command: str) -> int:
    # A virtual environment that happens to be active must not receive our packages.
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    return subprocess.run(command, check=False, env=environment).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
