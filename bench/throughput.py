"""Measures how many recalls a second many clients get, each with a question never asked before.

With `--against REVISION` that revision is checked out and measured in the same run: both stacks
hold the same memories, are asked the same questions and take turns, while the other one is idle. A
revision that needs packages or jars which this checkout does not have installs its own.

An answer of 503, which says that the graph did not answer in time, is counted as refused and not as
an answer; its time counts among all.

The clients run in this process. What they and every part of a stack take of the processor is
counted for each answer; all of it shares the machine's cores.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from bench.private import bench_settings
from ops.home import Home

CLIENTS = 32
PERSONAS, MEMORIES = 20, 5_000
ROUNDS, SECONDS, WARM_UP_SECONDS = 3, 20.0, 10.0
WORDS = 5  # of a question
GOALS = {"answers": 3.0, "p95": 1 / 3}
CHECKOUT = Path(__file__).parents[1]
PACKAGES, JARS = "requirements/dev.txt", "ops/jars/jgo.lock.toml"  # what a checkout runs with
PACKAGE = re.compile(r"^[\w.-]+==\S+", re.MULTILINE)  # one of PACKAGES, in its version
PARTS = ("API", "Neo4j", "other parts", "clients")


@dataclass
class Contestant:
    """A running stack of one checkout, and what was measured of it."""

    name: str
    url: str
    key: str
    folder: Path
    words: Mapping[str, Sequence[str]]  # of each persona's memories
    milliseconds: list[float] = field(default_factory=list)  # of each call
    refused: int = 0
    seconds: float = 0.0
    processor: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds

    @property
    def answers_per_second(self) -> float:
        return self.answers / self.seconds

    @property
    def answers(self) -> int:
        return len(self.milliseconds) - self.refused

    def percentile(self, percent: float) -> float:
        return float(np.percentile(self.milliseconds, percent))

    def processor_per_answer(self, part: str) -> float:
        """Milliseconds of the processor that a part takes for one answer."""
        return 1000 * self.processor[part] / self.answers


class Questions:
    """Questions of words that a persona's memories hold; none comes twice.

    The same seed gives the same questions.
    """

    def __init__(self, words: Mapping[str, Sequence[str]], seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._words = words
        self._seed = seed
        self._numbers = itertools.count()

    def __next__(self) -> tuple[str, str]:
        """A persona's id and a question. A number makes sure that it is new."""
        persona_id = self._random.choice(list(self._words))
        words = " ".join(self._random.choices(self._words[persona_id], k=WORDS))
        return persona_id, f"What about {words} {self._seed}-{next(self._numbers)}?"


async def ask(
    contestant: Contestant, questions: Questions, seconds: float
) -> tuple[list[float], int]:
    """Ask with all clients at once. Returns the milliseconds of each call, and how many failed."""
    address = urlsplit(contestant.url)
    until = time.perf_counter() + seconds
    milliseconds: list[float] = []
    refused = 0

    async def client() -> None:
        nonlocal refused
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        try:
            while (start := time.perf_counter()) < until:
                writer.write(request(contestant.key, *next(questions)))
                refused += not await read_answer(reader)
                milliseconds.append(1000 * (time.perf_counter() - start))
        finally:
            writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return milliseconds, refused


def request(key: str, persona_id: str, question: str) -> bytes:
    """The bytes of a recall. An HTTP library would take as much of the processor as an answer."""
    body = json.dumps({"query": question, "counts": False}).encode()
    head = (
        f"POST /api/personas/{persona_id}/recall HTTP/1.1\r\nHost: bench\r\n"
        f"Authorization: Bearer {key}\r\nX-Persona: {persona_id}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def read_answer(reader: asyncio.StreamReader) -> bool:
    """Whether the answer is 200, rather than 503. Raises on any other."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    body = await reader.readexactly(length)
    status = head.split(maxsplit=2)[1]
    if status not in ("200", "503"):
        raise RuntimeError(f"{head.partition(chr(13))[0]}: {body.decode()[:500]}")
    return status == "200"


def processor_seconds(folder: Path) -> dict[str, float]:
    """What each part of a stack, and this process, has taken of the processor so far."""
    seconds = dict.fromkeys(PARTS, 0.0)
    for process in Home(folder).members():
        try:
            taken = process.cpu_times()
            seconds[part_of(process)] += taken.user + taken.system
        except psutil.Error:
            continue  # it has ended
    own = psutil.Process().cpu_times()
    return {**seconds, "clients": own.user + own.system}


def part_of(process: psutil.Process) -> str:
    """The part of a stack that a process belongs to; the API may have several."""
    for it in (process, *process.parents()):
        line = it.cmdline()
        if line[1:3] == ["-m", "api"]:
            return "API"
        if line and Path(line[0]).name == "java":
            return "Neo4j"
    return "other parts"


async def measure(contestant: Contestant, questions: Questions, seconds: float) -> None:
    """One turn of a contestant, added to its figures."""
    before, start = processor_seconds(contestant.folder), time.perf_counter()
    milliseconds, refused = await ask(contestant, questions, seconds)
    contestant.milliseconds += milliseconds
    contestant.refused += refused
    contestant.seconds += time.perf_counter() - start
    for part, taken in processor_seconds(contestant.folder).items():
        contestant.processor[part] += taken - before[part]


async def take_turns(contestants: Sequence[Contestant], rounds: int, seconds: float) -> None:
    """Warm each up, then measure them in turns, with the same questions in each round."""
    for contestant in contestants:
        await ask(contestant, Questions(contestant.words, 0), min(WARM_UP_SECONDS, seconds))
    for turn in range(1, rounds + 1):
        order = contestants if turn % 2 else contestants[::-1]
        for contestant in order:
            await measure(contestant, Questions(contestant.words, turn), seconds)


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A folder with this revision's files, removed afterwards."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "checkout"
        git = ["git", "-C", str(CHECKOUT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(folder), revision], check=True)
        try:
            yield folder
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def installation(checkout: Path) -> tuple[str, Path]:
    """The Python and the folder of jars and models that a checkout runs with."""
    same_jars = (checkout / JARS).read_bytes() == (CHECKOUT / JARS).read_bytes()
    if same_jars and packages_of(checkout) <= packages_of(CHECKOUT):
        return sys.executable, bench_settings().home.resolve()
    subprocess.run(["make", "-C", str(checkout), "installed"], check=True, stdout=sys.stderr)  # noqa: S607
    return str(checkout / ".venv/bin/python"), checkout / ".pentimento"


def packages_of(checkout: Path) -> set[str]:
    """The packages that a checkout is installed with, in their versions."""
    return {*PACKAGE.findall((checkout / PACKAGES).read_text())}


@contextmanager
def running(name: str, checkout: Path, personas: int, memories: int) -> Iterator[Contestant]:
    """A stack of a checkout with its memories."""
    python, home = installation(checkout)
    process = subprocess.Popen(
        [python, str(CHECKOUT / "bench" / "loaded_stack.py"),
         "--personas", str(personas), "--memories", str(memories)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "PENTIMENTO_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        told = loaded(process.stdout)
        folder = Path(told.pop("folder"))
        yield Contestant(name=name, folder=folder, **told)
    finally:
        process.communicate()  # the end of its input stops the stack


def loaded(output: IO[str] | None) -> dict[str, Any]:
    """What a stack says of itself once its memories are there."""
    for line in output or ():
        if line.startswith("{"):
            told: dict[str, Any] = json.loads(line)
            return told
    raise SystemExit("A stack could not be started: see above.")


def show(console: Console, contestants: Sequence[Contestant]) -> None:
    table = Table("", *(contestant.name for contestant in contestants))
    rows = {
        "answers": lambda it: f"{it.answers}",
        "refused": lambda it: f"{it.refused}",
        "answers/s": lambda it: f"{it.answers_per_second:.1f}",
        "p50 ms": lambda it: f"{it.percentile(50):.1f}",
        "p95 ms": lambda it: f"{it.percentile(95):.1f}",
    }
    for name, figure in rows.items():
        table.add_row(name, *map(figure, contestants))
    for part in PARTS:
        figures = (f"{it.processor_per_answer(part):.2f}" for it in contestants)
        table.add_row(f"processor ms per answer: {part}", *figures)
    console.print(table)


def compare(console: Console, ours: Contestant, theirs: Contestant) -> int:
    """Print the ratios with their goals. Returns 1 if one is missed."""
    answers = ours.answers_per_second / theirs.answers_per_second
    p95 = ours.percentile(95) / theirs.percentile(95)
    console.print(f"answers/s, times those of {theirs.name}: {answers:.2f} (goal ≥ 3)")
    console.print(f"p50, times: {ours.percentile(50) / theirs.percentile(50):.2f}")
    console.print(f"p95, times: {p95:.2f} (goal ≤ {GOALS['p95']:.2f})")
    return int(answers < GOALS["answers"] or p95 > GOALS["p95"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="REVISION")
    parser.add_argument("--personas", type=int, default=PERSONAS)
    parser.add_argument("--memories", type=int, default=MEMORIES, help="of each persona")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each turn")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # stops what was started
    size, console = (arguments.personas, arguments.memories), Console(width=110)
    with ExitStack() as open_things:
        contestants = [open_things.enter_context(running("this checkout", CHECKOUT, *size))]
        if arguments.against:
            folder = open_things.enter_context(checked_out(arguments.against))
            other = running(arguments.against, folder, *size)
            contestants.append(open_things.enter_context(other))
        asyncio.run(take_turns(contestants, arguments.rounds, arguments.seconds))
    console.print(f"{CLIENTS} clients, {size[0]} personas of {size[1]} memories, new questions")
    show(console, contestants)
    return compare(console, *contestants) if arguments.against else 0


if __name__ == "__main__":
    sys.exit(main())
