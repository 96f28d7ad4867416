"""The benchmarks in short: that they run and report. Their figures are for people to judge."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import PROJECT

pytestmark = pytest.mark.timeout(300)


def bench(name: str, *arguments: str) -> str:
    said = subprocess.run(
        [sys.executable, "-m", f"bench.{name}", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert said.returncode in (0, 1), said.stderr  # 1: it ran, and a figure was over its limit
    return said.stdout


def test_the_door_is_measured_against_its_floor() -> None:
    said = bench("door", "--rounds", "40")

    assert "both: the floor" in said
    assert "times the floor at the median" in said


def test_ingestion_is_measured_with_and_without_embedding(tmp_path: Path) -> None:
    turns = [
        {
            "id": f"D1:{n}",
            "datetime": "2026-05-02T12:00:00",
            "speaker": ["Sam", "Kim"][n % 2],
            "text": f"I visited town number {n} with my brother.",
        }
        for n in range(30)
    ]
    talk = {"conversation": "talk-1", "speakers": ["Sam", "Kim"], "turns": turns}
    (tmp_path / "talks.jsonl").write_text(json.dumps(talk))

    said = bench("ingest", "--data", str(tmp_path / "talks.jsonl"))

    assert "30 messages of 1 conversations" in said
    assert "without embedding" in said
    assert "'episodic': 30" in said
