"""Compares a GET request with the least it could cost.

`GET /api/personas/{id}` against the floor: a bare `RETURN 1` through the same driver plus an empty
Litestar handler on the same kind of server. They take turns in one run, so that noise of the
machine hits all of them.
"""

import argparse
import http.client
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import uvloop
from neo4j import AsyncGraphDatabase
from rich.console import Console
from rich.table import Table

from bench.private import private_stack
from engine.settings import Settings
from ops.demo import PERSONA
from ops.home import Stack
from ops.ports import free_port

MAX_RATIO = 2.0  # times the floor, at the median


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        private_stack(Path(folder)) as (stack, settings, key),
    ):
        return measure(stack, settings, key, rounds)


def measure(stack: Stack, settings: Settings, key: str, rounds: int) -> int:
    port = free_port()
    empty = subprocess.Popen([sys.executable, "-m", "bench.empty", str(port)])
    try:
        wait_for(f"http://127.0.0.1:{port}/")
        timings = uvloop.run(
            take_turns(
                settings,
                {
                    "empty": caller(f"127.0.0.1:{port}", "/", {}),
                    "persona": caller(
                        stack.api_url.removeprefix("http://"),
                        f"/api/personas/{PERSONA}",
                        {"Authorization": f"Bearer {key}"},
                    ),
                },
                rounds,
            )
        )
    finally:
        empty.terminate()
        empty.wait()
    return report(timings)


def caller(address: str, path: str, headers: dict[str, str]) -> Callable[[], None]:
    """A function that sends one request over a kept-alive connection, with a minimal client."""
    connection = http.client.HTTPConnection(address)

    def call() -> None:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}")

    return call


def wait_for(url: str) -> None:
    for _ in range(100):
        try:
            httpx.get(url)
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{url} does not answer")


async def take_turns(
    settings: Settings, calls: dict[str, Callable[[], None]], rounds: int
) -> dict[str, list[float]]:
    """Milliseconds of each call, by its name; each round calls all of them once."""
    # The bare driver: one connection, one auto-commit statement.
    driver = AsyncGraphDatabase.driver(
        str(settings.neo4j_uri),
        auth=(settings.neo4j_user, settings.neo4j_password.get_secret_value()),
    )
    timings: dict[str, list[float]] = {"return_1": [], **{name: [] for name in calls}}
    warm_up = rounds // 4
    for turn in range(rounds + warm_up):
        started = time.perf_counter()
        async with driver.session(database=settings.neo4j_database) as session:
            await (await session.run("RETURN 1")).consume()
        spent = {"return_1": time.perf_counter() - started}
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            spent[name] = time.perf_counter() - started
        if turn >= warm_up:
            for name, seconds in spent.items():
                timings[name].append(seconds * 1000)
    await driver.close()
    return timings


def report(timings: dict[str, list[float]]) -> int:
    table = Table("milliseconds", "p50", "p95", "p99")
    rows = {
        "RETURN 1 through the driver": timings["return_1"],
        "empty Litestar handler": timings["empty"],
        "both: the floor": [
            sum(pair) for pair in zip(timings["return_1"], timings["empty"], strict=True)
        ],
        f"GET /api/personas/{PERSONA}": timings["persona"],
    }
    for name, values in rows.items():
        percentiles = statistics.quantiles(values, n=100)
        table.add_row(name, *(f"{percentiles[rank - 1]:.2f}" for rank in (50, 95, 99)))
    console = Console()
    console.print(table)
    floor = statistics.median(rows["both: the floor"])
    ratio = statistics.median(timings["persona"]) / floor
    console.print(f"{ratio:.2f} times the floor at the median; the limit is {MAX_RATIO:g}.")
    return int(ratio > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
