"""Taking a run back: its steps in reverse, each as one transaction."""

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from engine.access import PERSONA_LEASE_SECONDS
from engine.errors import NightUnderWay, RunFolded, RunNotFound, RunsAfter
from engine.ids import new_id
from engine.memory import decode_changes
from engine.models import EARLIEST, Row
from engine.store import Graph, Write

Where = dict[str, Any]
Undo = Callable[[Write, Where, Any], Coroutine[Any, Any, list[str]]]


async def undo_run(
    graph: Graph, tenant_id: str, run_id: str, *, now: datetime, undone_by: str
) -> list[str]:
    """Take back the newest run of a persona, whole. Returns what has changed since and was kept.

    One that stopped half-way is gone on with; one that is taken back already stays so.
    """
    worker = new_id()
    found = await graph.write(
        "night/undo/begin_undo",
        tenant_id=tenant_id,
        run_id=run_id,
        worker=worker,
        seconds=PERSONA_LEASE_SECONDS,
    )
    if not found:
        raise RunNotFound(run_id)
    (state,) = found
    if state["state"] == "undone":
        return []
    if state["busy"]:
        raise NightUnderWay(state["persona_id"])
    if state["folded"]:
        raise RunFolded(run_id)
    if state["newer"]:
        raise RunsAfter(run_id, state["newer"])

    where = {"tenant_id": tenant_id, "persona_id": state["persona_id"], "run_id": run_id}
    kept: list[str] = []
    while (left := await graph.write_with(step_back(where, worker, now), name="undo")) is not None:
        kept += left
    finished = await graph.write(
        "night/undo/finish_undo", **where, worker=worker, as_of=now, undone_by=undone_by
    )
    if not finished:
        raise NightUnderWay(state["persona_id"])
    return kept


def step_back(
    where: Where, worker: str, now: datetime
) -> Callable[[Write], Coroutine[Any, Any, list[str] | None]]:
    async def work(write: Write) -> list[str] | None:
        """Take back the last step that is left; None when there is none."""
        held = await write(
            "night/runs/renew_run", **where, worker=worker, seconds=PERSONA_LEASE_SECONDS, over=[]
        )
        if not held:
            raise NightUnderWay(where["persona_id"])
        place = {"tenant_id": where["tenant_id"], "run_id": where["run_id"]}
        steps = await write("night/undo/find_next_step", **place)
        if not steps:
            return None
        (step,) = steps
        place["place"] = step["place"]
        kept: list[str] = []
        if step["kind"]:
            kept += await KEPT_BY_THEMSELVES[step["kind"]](write, where, place)
        for kind, changes in reversed(decode_changes(step["changes"] or "{}").items()):
            kept += await UNDO[kind](write, {**where, "as_of": now}, changes)
        await write("night/undo/record_undone_step", **place, as_of=now, kept=kept)
        return kept

    return work


async def unform(write: Write, where: Where, formed: list[Row]) -> list[str]:
    ids = [row["id"] for row in formed]
    rows = await write("night/undo/undo_form", **whose(where), ids=ids)
    await settle_facts(write, where, ids)
    return [
        f"{row['links']} links of {row['id']} made since are gone" for row in rows if row["links"]
    ]


async def unmerge(write: Write, where: Where, merged: list[Row]) -> list[str]:
    given = [
        {**row, "candidate_ids": [candidate["id"] for candidate in row["candidates"]]}
        for row in merged
    ]
    rows = await write("night/undo/undo_merge", tenant_id=where["tenant_id"], rows=given)
    await reweigh(write, where, rows)
    return [f"salience of {row['memory_id']}" for row in rows if row["kept"]]


async def unpass(write: Write, where: Where, passed: list[Row]) -> list[str]:
    ids = [row["id"] for row in passed]
    await write("night/undo/undo_pass_over", tenant_id=where["tenant_id"], ids=ids)
    await write(
        "talk/events/add_effect_events",
        tenant_id=where["tenant_id"],
        ids=ids,
        event={"id": new_id(), "action": "waiting_again", "by": "engine", "at": where["as_of"]},
        of_flags=True,
    )
    return []


async def unlink(write: Write, where: Where, linked: list[Row]) -> list[str]:
    await write("night/undo/undo_link", tenant_id=where["tenant_id"], rows=linked)
    return []


async def reopen(write: Write, where: Where, closed: list[Row]) -> list[str]:
    """Until when a fact holds follows from those that stand, and not from what was written down."""
    await settle_facts(write, where, [row["id"] for row in closed])
    return []


async def settle_facts(write: Write, where: Where, ids: list[str]) -> None:
    await write("memory/facts/settle_facts", tenant_id=where["tenant_id"], memory_ids=ids)


async def undistil(write: Write, where: Where, distilled: list[Row]) -> list[str]:
    ids = [row["id"] for row in distilled]
    await write("night/undo/undo_distil", tenant_id=where["tenant_id"], ids=ids)
    return []


async def unjoin(write: Write, where: Where, joined: list[Row]) -> list[str]:
    await reweigh(
        write, where, await write("night/undo/undo_join", tenant_id=where["tenant_id"], rows=joined)
    )
    return []


async def reweigh(write: Write, where: Where, rows: list[Row]) -> None:
    """A flag on a message that is no source of a memory any more turns it down no longer."""
    ids = sorted({row["memory_id"] for row in rows})
    await write("night/undo/recompute_weights", tenant_id=where["tenant_id"], ids=ids)
    await settle_facts(write, where, ids)


async def relink(write: Write, where: Where, place: Where) -> list[str]:
    await write("night/undo/undo_prune", **place)
    return []


async def unstrengthen(write: Write, where: Where, place: Where) -> list[str]:
    (row,) = await write("night/undo/undo_strengthen", **place)
    return [f"strength of {it['from_id']} {it['type']} {it['to_id']}" for it in row["kept"]]


async def undecay(write: Write, where: Where, place: Where) -> list[str]:
    (row,) = await write("night/undo/undo_decay", **place)
    return [f"importance of {it}" for it in row["kept"]]


async def unarchive(write: Write, where: Where, place: Where) -> list[str]:
    (row,) = await write("night/undo/undo_archive", **place)
    await settle_facts(write, where, row["archived"])
    return [f"state of {it}" for it in row["kept"]]


async def restore_schedule(write: Write, where: Where, place: Where) -> list[str]:
    await write(
        "night/undo/restore_schedule", **whose(where), **without_tenant(place), never=EARLIEST
    )
    return []


def whose(where: Where) -> Where:
    return {name: where[name] for name in ("tenant_id", "persona_id")}


def without_tenant(place: Where) -> Where:
    return {name: place[name] for name in ("run_id", "place")}


async def unset_aside(write: Write, where: Where, aside: list[Row]) -> list[str]:
    rows = [{"id": row["id"], "awaits": row.get("awaits")} for row in aside]
    await write("night/undo/undo_set_aside", tenant_id=where["tenant_id"], rows=rows)
    return []


# What a step told of, by kind.
UNDO: dict[str, Undo] = {
    "set_aside": unset_aside,
    "formed": unform,
    "merged": unmerge,
    "passed_over": unpass,
    "linked": unlink,
    "facts_closed": reopen,
    "distilled": undistil,
    "joined": unjoin,
}
# What a step's own statement wrote down, in lists.
KEPT_BY_THEMSELVES: dict[str, Undo] = {
    "strengthened": unstrengthen,
    "pruned": relink,
    "decayed": undecay,
    "archived": unarchive,
    "rescheduled": restore_schedule,
}
