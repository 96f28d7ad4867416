"""Undoing a run: its steps in reverse order, each as one transaction."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.access import PERSONA_LEASE_SECONDS
from engine.errors import NightUnderWay, RunFolded, RunNotFound, RunsAfter
from engine.ids import new_id
from engine.memory import as_logged, decode_changes, withdraw_shapes
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


@dataclass(slots=True)
class Undone:
    """What undoing a part of a run has kept and changed."""

    # A line for each thing that has changed since the run and keeps its newer value.
    kept: list[str] = field(default_factory=list)
    changed_ids: list[str] = field(default_factory=list)  # items that recall has to read again
    content: bool = False  # whether the text or vectors of one of these are others

    def add(self, other: "Undone") -> None:
        self.kept += other.kept
        self.changed_ids += other.changed_ids
        self.content |= other.content


UndoChanges = Callable[[Write, ActiveUndo, list[Row]], Coroutine[Any, Any, Undone]]
UndoStored = Callable[[Write, ActiveUndo, int], Coroutine[Any, Any, Undone]]  # the step's place


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
        undone = await undo_parts(write, undo, step)
        await write(
            "night/undo/record_undone_step",
            **undo.persona_parameters,
            run_id=undo.run_id,
            place=step["place"],
            as_of=undo.undone_at,
            kept=undone.kept,
            changed_ids=as_logged(undone.changed_ids),
            content=undone.content,
        )
        return undone.kept

    return await graph.write_with(undo_step, name="undo")


async def undo_parts(write: Write, undo: ActiveUndo, step: Row) -> Undone:
    """Undo all that a step did, in reverse order."""
    undone = Undone()
    if step["kind"]:
        undone.add(await UNDO_STORED[step["kind"]](write, undo, step["place"]))
    for kind, changes in reversed(decode_changes(step["changes"] or "{}").items()):
        undone.add(await UNDO_CHANGES[kind](write, undo, changes))
    return undone


async def undo_formed(write: Write, undo: ActiveUndo, formed: list[Row]) -> Undone:
    ids = [row["id"] for row in formed]
    undone = await withdraw(write, undo, ids)
    rows = await write("night/undo/undo_form", **undo.persona_parameters, ids=ids)
    kept = [
        f"{row['links']} links of {row['id']} made since are gone" for row in rows if row["links"]
    ]
    changed_ids = [id_ for row in rows for id_ in (row["id"], *row["linked_ids"])]
    undone.add(Undone(kept, changed_ids + await settle_facts(write, undo, ids)))
    return undone


async def undo_merged(write: Write, undo: ActiveUndo, merged: list[Row]) -> Undone:
    merges = [
        {**row, "candidate_ids": [candidate["id"] for candidate in row["candidates"]]}
        for row in merged
    ]
    rows = await write("night/undo/undo_merge", tenant_id=undo.tenant_id, rows=merges)
    kept = [f"salience of {row['memory_id']}" for row in rows if row["kept"]]
    changed_ids = [
        id_
        for row in rows
        if row["candidate_ids"]
        for id_ in (row["memory_id"], *row["candidate_ids"])
    ]
    return Undone(kept, changed_ids + await recompute_weights(write, undo, rows))


async def undo_passed_over(write: Write, undo: ActiveUndo, passed_over: list[Row]) -> Undone:
    ids = [row["id"] for row in passed_over]
    rows = await write("night/undo/undo_pass_over", tenant_id=undo.tenant_id, ids=ids)
    await write(
        "talk/events/add_effect_events",
        tenant_id=undo.tenant_id,
        ids=ids,
        event={"id": new_id(), "action": "waiting_again", "by": "engine", "at": undo.undone_at},
        of_flags=True,
    )
    return Undone(changed_ids=[row["id"] for row in rows])


async def undo_linked(write: Write, undo: ActiveUndo, linked: list[Row]) -> Undone:
    rows = await write("night/undo/undo_link", tenant_id=undo.tenant_id, rows=linked)
    return Undone(changed_ids=[row[end] for row in rows for end in ("from_id", "to_id")])


async def undo_facts_closed(write: Write, undo: ActiveUndo, closed: list[Row]) -> Undone:
    """Until when a fact holds is computed from the facts that stand, not from what was stored."""
    return Undone(changed_ids=await settle_facts(write, undo, [row["id"] for row in closed]))


async def undo_distilled(write: Write, undo: ActiveUndo, distilled: list[Row]) -> Undone:
    ids = [row["id"] for row in distilled]
    undone = await withdraw(write, undo, ids)
    rows = await write("night/undo/undo_distil", tenant_id=undo.tenant_id, ids=ids)
    undone.changed_ids += [id_ for row in rows for id_ in (row["id"], *row["linked_ids"])]
    return undone


async def undo_joined(write: Write, undo: ActiveUndo, joined: list[Row]) -> Undone:
    rows = await write("night/undo/undo_join", tenant_id=undo.tenant_id, rows=joined)
    changed_ids = [id_ for row in rows for id_ in row["changed_ids"]]
    return Undone(changed_ids=changed_ids + await recompute_weights(write, undo, rows))


async def undo_set_aside(write: Write, undo: ActiveUndo, set_aside: list[Row]) -> Undone:
    rows = [{"id": row["id"], "awaits": row.get("awaits")} for row in set_aside]
    await write("night/undo/undo_set_aside", tenant_id=undo.tenant_id, rows=rows)
    return Undone()


async def undo_pruned(write: Write, undo: ActiveUndo, place: int) -> Undone:
    rows = await write("night/undo/undo_prune", **undo.run_parameters, place=place)
    return Undone(changed_ids=[row["id"] for row in rows])


async def undo_strengthened(write: Write, undo: ActiveUndo, place: int) -> Undone:
    (row,) = await write("night/undo/undo_strengthen", **undo.run_parameters, place=place)
    kept = [f"strength of {link['from_id']} {link['type']} {link['to_id']}" for link in row["kept"]]
    return Undone(kept, row["changed_ids"])


async def undo_decayed(write: Write, undo: ActiveUndo, place: int) -> Undone:
    (row,) = await write("night/undo/undo_decay", **undo.run_parameters, place=place)
    return Undone([f"importance of {memory_id}" for memory_id in row["kept"]], row["changed_ids"])


async def undo_archived(write: Write, undo: ActiveUndo, place: int) -> Undone:
    (row,) = await write("night/undo/undo_archive", **undo.run_parameters, place=place)
    kept = [f"state of {memory_id}" for memory_id in row["kept"]]
    settled_ids = await settle_facts(write, undo, row["archived"])
    undone = await withdraw(write, undo, row["changed_ids"])
    undone.add(Undone(kept, row["changed_ids"] + settled_ids))
    return undone


async def undo_drawn(write: Write, undo: ActiveUndo, drawn: list[Row]) -> Undone:
    """Delete new shapes, and withdraw those that were drawn again, as they were before."""
    undone = Undone()
    for row in reversed(drawn):
        if row["is_new"]:
            rows = await write("night/undo/undo_draw", tenant_id=undo.tenant_id, ids=[row["id"]])
            undone.changed_ids += [
                id_ for deleted in rows for id_ in (deleted["id"], *deleted["linked_ids"])
            ]
            continue
        before = {name: row[name] for name in ("id", "source_ids", "fades_at", "decayed_at")}
        rows = await write("night/undo/undo_redraw", tenant_id=undo.tenant_id, **before)
        for withdrawn in rows:
            undone.changed_ids += withdrawn["shape_ids"] + withdrawn["linked_ids"]
            undone.content |= bool(withdrawn["shape_ids"])
    return undone


async def withdraw(write: Write, undo: ActiveUndo, memory_ids: list[str]) -> Undone:
    """Withdraw the shapes that speak of memories which an undo makes other than archived."""
    shape_ids, linked_ids = await withdraw_shapes(write, undo.tenant_id, memory_ids)
    return Undone(changed_ids=shape_ids + linked_ids, content=bool(shape_ids))


async def undo_rescheduled(write: Write, undo: ActiveUndo, place: int) -> Undone:
    await write(
        "night/undo/restore_schedule",
        **undo.persona_parameters,
        run_id=undo.run_id,
        place=place,
        never=EARLIEST,
    )
    return Undone()


async def settle_facts(write: Write, undo: ActiveUndo, ids: list[str]) -> list[str]:
    """Compute anew until when the facts of these memories hold. Returns the ids that changed."""
    rows = await write("memory/facts/settle_facts", tenant_id=undo.tenant_id, memory_ids=ids)
    return [row["id"] for row in rows]


async def recompute_weights(write: Write, undo: ActiveUndo, rows: list[Row]) -> list[str]:
    """Compute anew what flags leave of the weight of memories that have lost sources.

    Returns the ids of the items that have changed with it.
    """
    ids = sorted({row["memory_id"] for row in rows})
    changed = await write("night/undo/recompute_weights", tenant_id=undo.tenant_id, ids=ids)
    return [row["id"] for row in changed] + await settle_facts(write, undo, ids)


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
    "drawn": undo_drawn,
}
# By kind of step, for steps whose own statement stored the changes as lists.
UNDO_STORED: dict[str, UndoStored] = {
    "strengthened": undo_strengthened,
    "pruned": undo_pruned,
    "decayed": undo_decayed,
    "archived": undo_archived,
    "rescheduled": undo_rescheduled,
}
