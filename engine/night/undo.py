"""Undoing a run: its steps in reverse order, each as one transaction."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.access import PERSONA_LEASE_SECONDS
from engine.errors import NightUnderWay, RunFolded, RunNotFound, RunsAfter
from engine.ids import new_id
from engine.memory import decode_changes
from engine.models import EARLIEST, Row
from engine.store import Graph, Write


@dataclass(frozen=True, slots=True)
class ActiveUndo:
    """The undo of a run whose lease this worker holds."""

    tenant_id: str
    persona_id: str
    run_id: str
    undone_at: datetime
    worker: str

    @property
    def persona_parameters(self) -> Row:
        return {"tenant_id": self.tenant_id, "persona_id": self.persona_id}

    @property
    def run_parameters(self) -> Row:
        return {"tenant_id": self.tenant_id, "run_id": self.run_id}


# Both return a line for each thing that has changed since the run and keeps its newer value.
UndoChanges = Callable[[Write, ActiveUndo, list[Row]], Coroutine[Any, Any, list[str]]]
UndoStored = Callable[[Write, ActiveUndo, int], Coroutine[Any, Any, list[str]]]  # the step's place


async def undo_run(
    graph: Graph, tenant_id: str, run_id: str, *, now: datetime, undone_by: str
) -> list[str]:
    """Undo the newest run of a persona. Returns what has changed since and was kept.

    Resumes an undo that stopped half-way; does nothing to a run that is undone already.
    """
    worker = new_id()
    rows = await graph.write(
        "night/undo/begin_undo",
        tenant_id=tenant_id,
        run_id=run_id,
        worker=worker,
        seconds=PERSONA_LEASE_SECONDS,
    )
    if not rows:
        raise RunNotFound(run_id)
    (begun,) = rows
    if begun["state"] == "undone":
        return []
    if begun["busy"]:
        raise NightUnderWay(begun["persona_id"])
    if begun["folded"]:
        raise RunFolded(run_id)
    if begun["newer"]:
        raise RunsAfter(run_id, begun["newer"])

    undo = ActiveUndo(tenant_id, begun["persona_id"], run_id, now, worker)
    kept: list[str] = []
    while (kept_by_step := await undo_last_step(graph, undo)) is not None:
        kept += kept_by_step
    finished = await graph.write(
        "night/undo/finish_undo",
        **undo.persona_parameters,
        run_id=run_id,
        worker=worker,
        as_of=now,
        undone_by=undone_by,
    )
    if not finished:
        raise NightUnderWay(undo.persona_id)
    return kept


async def undo_last_step(graph: Graph, undo: ActiveUndo) -> list[str] | None:
    """Undo the last step that is not undone yet; None when there is none. Renews the lease."""

    async def undo_step(write: Write) -> list[str] | None:
        lease = await write(
            "night/runs/renew_run",
            **undo.persona_parameters,
            run_id=undo.run_id,
            worker=undo.worker,
            seconds=PERSONA_LEASE_SECONDS,
            finished_stages=[],
        )
        if not lease:
            raise NightUnderWay(undo.persona_id)
        steps = await write("night/undo/find_next_step", **undo.run_parameters)
        if not steps:
            return None
        (step,) = steps
        place, kept = step["place"], list[str]()
        if step["kind"]:
            kept += await UNDO_STORED[step["kind"]](write, undo, place)
        for kind, changes in reversed(decode_changes(step["changes"] or "{}").items()):
            kept += await UNDO_CHANGES[kind](write, undo, changes)
        await write(
            "night/undo/record_undone_step",
            **undo.run_parameters,
            place=place,
            as_of=undo.undone_at,
            kept=kept,
        )
        return kept

    return await graph.write_with(undo_step, name="undo")


async def undo_formed(write: Write, undo: ActiveUndo, formed: list[Row]) -> list[str]:
    ids = [row["id"] for row in formed]
    rows = await write("night/undo/undo_form", **undo.persona_parameters, ids=ids)
    await settle_facts(write, undo, ids)
    return [
        f"{row['links']} links of {row['id']} made since are gone" for row in rows if row["links"]
    ]


async def undo_merged(write: Write, undo: ActiveUndo, merged: list[Row]) -> list[str]:
    merges = [
        {**row, "candidate_ids": [candidate["id"] for candidate in row["candidates"]]}
        for row in merged
    ]
    rows = await write("night/undo/undo_merge", tenant_id=undo.tenant_id, rows=merges)
    await recompute_weights(write, undo, rows)
    return [f"salience of {row['memory_id']}" for row in rows if row["kept"]]


async def undo_passed_over(write: Write, undo: ActiveUndo, passed_over: list[Row]) -> list[str]:
    ids = [row["id"] for row in passed_over]
    await write("night/undo/undo_pass_over", tenant_id=undo.tenant_id, ids=ids)
    await write(
        "talk/events/add_effect_events",
        tenant_id=undo.tenant_id,
        ids=ids,
        event={"id": new_id(), "action": "waiting_again", "by": "engine", "at": undo.undone_at},
        of_flags=True,
    )
    return []


async def undo_linked(write: Write, undo: ActiveUndo, linked: list[Row]) -> list[str]:
    await write("night/undo/undo_link", tenant_id=undo.tenant_id, rows=linked)
    return []


async def undo_facts_closed(write: Write, undo: ActiveUndo, closed: list[Row]) -> list[str]:
    """Until when a fact holds is computed from the facts that stand, not from what was stored."""
    await settle_facts(write, undo, [row["id"] for row in closed])
    return []


async def undo_distilled(write: Write, undo: ActiveUndo, distilled: list[Row]) -> list[str]:
    ids = [row["id"] for row in distilled]
    await write("night/undo/undo_distil", tenant_id=undo.tenant_id, ids=ids)
    return []


async def undo_joined(write: Write, undo: ActiveUndo, joined: list[Row]) -> list[str]:
    rows = await write("night/undo/undo_join", tenant_id=undo.tenant_id, rows=joined)
    await recompute_weights(write, undo, rows)
    return []


async def undo_set_aside(write: Write, undo: ActiveUndo, set_aside: list[Row]) -> list[str]:
    rows = [{"id": row["id"], "awaits": row.get("awaits")} for row in set_aside]
    await write("night/undo/undo_set_aside", tenant_id=undo.tenant_id, rows=rows)
    return []


async def undo_pruned(write: Write, undo: ActiveUndo, place: int) -> list[str]:
    await write("night/undo/undo_prune", **undo.run_parameters, place=place)
    return []


async def undo_strengthened(write: Write, undo: ActiveUndo, place: int) -> list[str]:
    (row,) = await write("night/undo/undo_strengthen", **undo.run_parameters, place=place)
    return [f"strength of {link['from_id']} {link['type']} {link['to_id']}" for link in row["kept"]]


async def undo_decayed(write: Write, undo: ActiveUndo, place: int) -> list[str]:
    (row,) = await write("night/undo/undo_decay", **undo.run_parameters, place=place)
    return [f"importance of {memory_id}" for memory_id in row["kept"]]


async def undo_archived(write: Write, undo: ActiveUndo, place: int) -> list[str]:
    (row,) = await write("night/undo/undo_archive", **undo.run_parameters, place=place)
    await settle_facts(write, undo, row["archived"])
    return [f"state of {memory_id}" for memory_id in row["kept"]]


async def undo_rescheduled(write: Write, undo: ActiveUndo, place: int) -> list[str]:
    await write(
        "night/undo/restore_schedule",
        **undo.persona_parameters,
        run_id=undo.run_id,
        place=place,
        never=EARLIEST,
    )
    return []


async def settle_facts(write: Write, undo: ActiveUndo, ids: list[str]) -> None:
    """Compute anew until when the facts of these memories hold."""
    await write("memory/facts/settle_facts", tenant_id=undo.tenant_id, memory_ids=ids)


async def recompute_weights(write: Write, undo: ActiveUndo, rows: list[Row]) -> None:
    """Compute anew what flags leave of the weight of memories that have lost sources."""
    ids = sorted({row["memory_id"] for row in rows})
    await write("night/undo/recompute_weights", tenant_id=undo.tenant_id, ids=ids)
    await settle_facts(write, undo, ids)


# By kind of change, for changes stored as JSON with the step.
UNDO_CHANGES: dict[str, UndoChanges] = {
    "set_aside": undo_set_aside,
    "formed": undo_formed,
    "merged": undo_merged,
    "passed_over": undo_passed_over,
    "linked": undo_linked,
    "facts_closed": undo_facts_closed,
    "distilled": undo_distilled,
    "joined": undo_joined,
}
# By kind of step, for steps whose own statement stored the changes as lists.
UNDO_STORED: dict[str, UndoStored] = {
    "strengthened": undo_strengthened,
    "pruned": undo_pruned,
    "decayed": undo_decayed,
    "archived": undo_archived,
    "rescheduled": undo_rescheduled,
}
