"""What a figure of simulated lives shows: counts and strands as plain values, and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from ops.simulation.chronicle import Chronicle, Counts
from ops.simulation.stories import Strand, choose, strand


@dataclass(frozen=True, slots=True)
class Panel:
    """One life, under one policy."""

    policy: str
    counts: list[Counts]
    strands: list[Strand | None]  # of the same memories in every panel


@dataclass(frozen=True, slots=True)
class Picture:
    """One script, lived under one policy or several."""

    title: str
    messages: int
    panels: list[Panel]

    @property
    def days(self) -> list[date]:
        return [counts.on for counts in self.panels[0].counts]

    def as_json(self) -> str:
        """All of it, the same for the same lives."""

        def plain(value: Any) -> str:
            return str(value.isoformat())

        return json.dumps(asdict(self), default=plain, indent=1, sort_keys=True) + "\n"


def make_picture(title: str, messages: int, chronicles: Sequence[Chronicle]) -> Picture:
    """The picture of some lives of one script. The memories are those the first life chooses."""
    chosen = choose(chronicles[0])
    panels = [
        Panel(
            chronicle.policy,
            chronicle.counts,
            [strand(chronicle, memory_id, reason) for memory_id, reason in chosen],
        )
        for chronicle in chronicles
    ]
    return Picture(title, messages, panels)
