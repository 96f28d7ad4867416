"""The API in several processes that share a port."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from engine.settings import Settings
from ops.ports import free_port
from ops.servers import wait_until
from tests.servers import INSTALLED, answers, running

STARTED = "Application startup complete."


class Served:
    """The API in two processes, and the one that started them."""

    def __init__(self, process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
        self.process, self.url, self.log = process, url, log

    def children(self) -> list[psutil.Process]:
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]

    def ask(self) -> int:
        """The status of an answer on a connection of its own."""
        return httpx.get(f"{self.url}/api/personas", timeout=3).status_code

    def count(self) -> int:
        """The requests for personas that the metrics tell of."""
        text = httpx.get(f"{self.url}/metrics", timeout=5).text
        lines = re.findall(r'^pentimento_requests_total\{.*"/api/personas".*\} (\S+)$', text, re.M)
        return sum(int(float(number)) for number in lines)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Without a graph and a broker: a request without a key is refused before either is asked."""
    port = free_port()
    away = {"neo4j_uri": "bolt://127.0.0.1:9", "redis_url": "redis://127.0.0.1:9/0"}
    own = Settings(_env_file=None, home=INSTALLED, api_port=port, api_processes=2, **away)  # type: ignore[arg-type]
    log, url = tmp_path / "api.log", f"http://127.0.0.1:{port}"
    with running([sys.executable, "-m", "api"], own, log) as process:
        wait_until(lambda: log.read_text().count(STARTED) == 2, process, log)
        yield Served(process, url, log)


def test_two_processes_serve_count_together_and_stop(served: Served) -> None:
    first, second = served.children()
    for stopped in (first, second):
        stopped.suspend()
        try:
            assert [served.ask() for _ in range(5)] == [401] * 5
        finally:
            stopped.resume()
    assert [served.count() for _ in range(4)] == [10] * 4

    served.process.terminate()

    assert served.process.wait(15) in (0, -signal.SIGTERM)
    assert not psutil.wait_procs([first, second], timeout=5)[1]
    assert not answers(f"{served.url}/api/health")


def test_one_that_is_killed_is_replaced_and_its_counts_stay(served: Served) -> None:
    assert [served.ask() for _ in range(6)] == [401] * 6
    killed, _ = served.children()

    killed.kill()
    wait_until(lambda: served.log.read_text().count(STARTED) == 3, served.process, served.log)

    assert killed.pid not in [child.pid for child in served.children()]
    assert served.count() == 6


def test_none_outlives_the_process_that_started_them(served: Served) -> None:
    children = served.children()

    served.process.kill()

    assert not psutil.wait_procs(children, timeout=15)[1]
    assert not answers(f"{served.url}/api/health")
