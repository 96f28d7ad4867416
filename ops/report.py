"""A run, told at the terminal."""

from typing import Any

from rich.console import Console
from rich.table import Table

from engine.memory import Change
from engine.night import Run

STATES = {
    "planned": "would be run",
    "done": "is over",
    "done_before": "was over already; nothing was done",
}
LONGEST = 90  # characters of a text


def show_run(console: Console, run: Run) -> None:
    """What a run did, stage by stage."""
    console.print(
        f"The {run.kind} of {run.period} of {run.persona_id} {STATES[run.state]}. Run {run.id}."
    )
    if run.state == "done_before":
        return
    table = Table(box=None, pad_edge=False)
    for name in ("stage", "did", "left", "seconds"):
        table.add_column(name, justify="right" if name == "seconds" else "left")
    for stage in run.stages:
        seconds = "" if stage.seconds is None else f"{stage.seconds:.2f}"
        table.add_row(stage.stage, counted(stage.did), counted(stage.could_not), seconds)
    console.print(table)


def counted(counts: dict[str, int]) -> str:
    named = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return ", ".join(named) or "-"


def show_changes(console: Console, changes: list[Change]) -> None:
    """The diff that a run would make: one line for each thing it changes."""
    for change in changes:
        console.print(f"{change.kind:<14} {sentence(change)}", soft_wrap=True, highlight=False)
    if not changes:
        console.print("Nothing would change.")


def sentence(change: Change) -> str:
    told = change.change
    match change.kind:
        case "formed":
            return f"{told['memory_type']} {told['id']}: {short(told['text'])}"
        case "merged":
            again = "; ".join(short(it["text"]) for it in told["candidates"])
            return f"into {told['memory_id']} ({short(told['text'])}): {again}"
        case "linked":
            return f"{told['from_id']} {told['type']} {told['to_id']}"
        case "facts_closed":
            return f"{told['id']} held until now; before: {told['before'] or 'open'}"
        case "distilled":
            return f"{told['id']} from {len(told['episode_ids'])} episodes: {short(told['text'])}"
        case "joined":
            return f"{told['episode_id']} joins {told['theme_id']}"
        case "strengthened":
            link = f"{told['from_id']} {told['type']} {told['to_id']}"
            return f"{link}: {told['before']:.4f} → {told['after']:.4f}"
        case "pruned":
            gone = [f"{it['from_id']} {it['type']} {it['to_id']}" for it in told["links"]]
            return "; ".join(gone) or f"nothing of {told['memory_id']}"
        case "decayed":
            return f"{told['id']}: importance {told['before']} → {told['after']}"
    return ", ".join(f"{name} {value}" for name, value in told.items())


def short(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
