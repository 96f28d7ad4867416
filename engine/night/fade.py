"""Links that are used grow stronger; what is not used fades. In batches, by statements."""

from typing import Any

from engine.models import EARLIEST
from engine.night.steps import ActiveRun, Step
from engine.store import Write

AT_ONCE = 2_500  # memories whose links are strengthened in one step: about 10,000 links
FADING_AT_ONCE = 10_000  # memories that decay in one step
PRUNED_AT_ONCE = 5_000  # memories whose weak links are looked at in one step


async def reschedule(run: ActiveRun) -> dict[str, int]:
    """After a change of policy, make every memory due now, so that decay and prune look at it."""
    if run.policy_version == run.rescheduled_version:
        return {}
    last, reached = "", list[str]()

    async def put_some(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/reschedule",
            **run.whose,
            run_id=run.id,
            place=place,
            as_of=run.as_of,
            after=last,
            limit=FADING_AT_ONCE,
            never=EARLIEST,
        )
        if row["memories"]:
            reached.append(row["last"])
            return Step({"rescheduled": row["memories"]})
        await write("night/fading/set_rescheduled_version", **run.whose, version=run.policy_version)
        return None

    while await run.step("reschedule", put_some):
        last = reached[-1]
    return {}


async def strengthen(run: ActiveRun) -> dict[str, int]:
    async def some(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/strengthen_links",
            **in_step(run, place),
            since=run.slept_at or EARLIEST,
            limit=AT_ONCE,
            figures=run.policy.as_parameter(),
        )
        return found(row["memories"], AT_ONCE, {"strengthened": row["links"]})

    while await run.step("strengthen", some):
        pass
    return {}


async def prune(run: ActiveRun) -> dict[str, int]:
    pinned: dict[int, int] = {}  # by step, since one may be tried twice

    async def some(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/prune_links",
            **in_step(run, place),
            as_of=run.as_of,
            limit=PRUNED_AT_ONCE,
            figures=run.policy.as_parameter(),
        )
        pinned[place] = row["pinned"]
        return found(row["memories"], PRUNED_AT_ONCE, {"pruned": row["pruned"]})

    while await run.step("prune", some):
        pass
    kept = sum(pinned.values())
    return {"pinned": kept} if kept else {}


async def decay(run: ActiveRun) -> dict[str, int]:
    async def some(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/decay_importance",
            **in_step(run, place),
            as_of=run.as_of,
            limit=FADING_AT_ONCE,
            figures=run.policy.as_parameter(),
        )
        return found(row["memories"], FADING_AT_ONCE, {"decayed": row["decayed"]})

    while await run.step("decay", some):
        pass
    return {}


async def archive(run: ActiveRun) -> dict[str, int]:
    async def some(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/archive_memories",
            **in_step(run, place),
            as_of=run.as_of,
            limit=FADING_AT_ONCE,
        )
        archived = row["archived"]
        # What an archived fact has closed holds again.
        await write("memory/facts/settle_facts", tenant_id=run.tenant_id, memory_ids=archived)
        return found(row["memories"], FADING_AT_ONCE, {"archived": len(archived)})

    while await run.step("archive", some):
        pass
    return {}


def in_step(run: ActiveRun, place: int) -> dict[str, Any]:
    return {**run.whose, "run_id": run.id, "place": place}


def found(memories: int, limit: int, did: dict[str, int]) -> Step | None:
    """A step over so many memories; none when there were none."""
    return Step(did, more=memories == limit) if memories else None
