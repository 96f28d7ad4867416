"""The browser that tests look at pages with: finds it, and gets it where that takes no questions.

`make test` runs this first. Nothing that Pentimento does needs a browser, so a machine where none
can be had is told so, and the tests that look at pages are skipped with the reason.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
PATIENCE = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::http::Timeout=20"]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Names of other hosts lead nowhere, so a page that needs one is not shown whole.
ONLY_HERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome of this machine."""
    return next((path for name in (*NAMES, *MAC) if (path := shutil.which(name))), None)


CHROMIUM = find_chromium()
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine, and it could not be installed"
)


def rendered(url: str, folder: Path) -> str:
    """The page as Chromium has it once its scripts have run. It keeps its files in `folder`."""
    own = [f"--user-data-dir={folder / 'chromium'}", "--virtual-time-budget=20000", "--dump-dom"]
    return subprocess.run(
        [str(CHROMIUM), *FLAGS, ONLY_HERE, *own, url],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


def install_chromium() -> str:
    """Install Debian's Chromium unless there is one. Returns a line to print, or nothing."""
    if find_chromium():
        return ""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return "No Chromium is here, and only root on Debian can be given one: some tests skip."
    with one_at_a_time():
        if find_chromium():
            return ""
        print("Installing Chromium, for the tests that look at pages ...", flush=True)
        apt("update")  # its failure does not matter where an older list will do
        said = apt("install", "-y", "--no-install-recommends", "chromium")
    if find_chromium():
        return "Installed Chromium."
    last = said.strip().splitlines()[-1:] or ["apt-get said nothing"]
    return f"Chromium could not be installed ({last[0]}): the tests that need it skip."


def apt(*words: str) -> str:
    """What apt-get says, whether or not it can do it."""
    return subprocess.run(
        ["apt-get", *PATIENCE, *words],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    ).stdout


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let test runs of several checkouts take turns: apt-get refuses a second one."""
    with (Path(tempfile.gettempdir()) / "pentimento-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    if line := install_chromium():
        print(line)
