"""Prints a run and its changes at the terminal."""

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
MAX_CHARACTERS = 90  # of a text


def show_run(console: Console, run: Run) -> None:
    """Print what a run did, stage by stage."""
    console.print(
        f"The {run.kind} of {run.period} of {run.persona_id} {STATES[run.state]}. Run {run.id}.",
        soft_wrap=True,
    )
    if run.state == "done_before":
        return
    table = Table(box=None, pad_edge=False)
    for name in ("stage", "done", "not done", "seconds"):
        table.add_column(name, justify="right" if name == "seconds" else "left")
    for stage in run.stages:
        seconds = "" if stage.seconds is None else f"{stage.seconds:.2f}"
        table.add_row(stage.stage, counted(stage.did), counted(stage.could_not), seconds)
    console.print(table)


def counted(counts: dict[str, int]) -> str:
    parts = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return ", ".join(parts) or "-"


def show_changes(console: Console, changes: list[Change]) -> None:
    """Print one line for each change that a run would make."""
    for change in changes:
        console.print(f"{change.kind:<14} {describe(change)}", soft_wrap=True, highlight=False)
    if not changes:
        console.print("Nothing would change.")


def describe(change: Change) -> str:
    """One change in words, by its kind; a kind without words of its own lists its values."""
    values = change.change
    match change.kind:
        case "formed":
            return f"{values['memory_type']} {values['id']}: {short(values['text'])}"
        case "merged":
            texts = "; ".join(short(candidate["text"]) for candidate in values["candidates"])
            return f"into {values['memory_id']} ({short(values['text'])}): {texts}"
        case "linked":
            return link_text(values)
        case "facts_closed":
            return f"{values['id']} was true until now; before: {values['before'] or 'open'}"
        case "distilled":
            count = len(values["episode_ids"])
            return f"{values['id']} from {count} episodes: {short(values['text'])}"
        case "joined":
            return f"{values['episode_id']} joins {values['theme_id']}"
        case "strengthened":
            return f"{link_text(values)}: {values['before']:.4f} → {values['after']:.4f}"
        case "pruned":
            removed = [link_text(link) for link in values["links"]]
            return "; ".join(removed) or f"no link of {values['memory_id']}"
        case "decayed":
            return f"{values['id']}: importance {values['before']} → {values['after']}"
    return ", ".join(f"{name} {value}" for name, value in values.items())


def link_text(link: dict[str, Any]) -> str:
    return f"{link['from_id']} {link['type']} {link['to_id']}"


def short(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1]}…"
