"""Consolidation: what is done to a persona's memory once a day, one stage after another.

A run is a chain of steps, each one transaction that also records what was there before, so a run
can be read, resumed, previewed and undone.
"""

from engine.night.ledger import Run, Snapshot, get_run, list_changes, list_runs, list_snapshots
from engine.night.nights import (
    claim_due_nights,
    list_due_to_fade,
    preview_night,
    run_hour,
    run_night,
)
from engine.night.steps import NightTools, open_night_tools
from engine.night.undo import undo_run

__all__ = [
    "NightTools",
    "Run",
    "Snapshot",
    "claim_due_nights",
    "get_run",
    "list_changes",
    "list_due_to_fade",
    "list_runs",
    "list_snapshots",
    "open_night_tools",
    "preview_night",
    "run_hour",
    "run_night",
    "undo_run",
]
