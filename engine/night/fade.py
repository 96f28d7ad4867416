"""Fading: used links grow stronger; unused links and memories weaken and are archived.

Each stage runs one statement over batches. The statements store how to undo them.
"""

from collections.abc import Sequence
from typing import Any

from engine.memory import MAX_LOGGED_IDS
from engine.models import EARLIEST
from engine.night.steps import ActiveRun, Step
from engine.store import Write

STRENGTHEN_BATCH = 2_500  # memories whose links are strengthened in one step: about 10,000 links
FADE_BATCH = 10_000  # memories that are rescheduled, decay or are archived in one step
PRUNE_BATCH = 5_000  # memories whose weak links are looked at in one step
CHANGED_LIMIT = MAX_LOGGED_IDS + 1  # ids a statement returns: one more than the log keeps


async def strengthen(run: ActiveRun) -> dict[str, int]:
    """Strengthen the links of memories used since the last night."""

    async def strengthen_batch(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/strengthen_links",
            **step_parameters(run, place),
            since=run.slept_at or EARLIEST,
            limit=STRENGTHEN_BATCH,
            changed_limit=CHANGED_LIMIT,
            figures=run.policy.as_parameter(),
        )
        did = {"strengthened": row["links"]}
        return step_over(row["memories"], STRENGTHEN_BATCH, did, row["changed_ids"])

    while await run.step("strengthen", strengthen_batch):
        pass
    return {}


async def reschedule(run: ActiveRun) -> dict[str, int]:
    """After a change of policy, make every memory due now, so that decay and prune look at it."""
    if run.policy_version == run.rescheduled_version:
        return {}
    last_id, last_ids = "", list[str]()

    async def reschedule_batch(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/reschedule",
            **step_parameters(run, place),
            as_of=run.as_of,
            after=last_id,
            limit=FADE_BATCH,
            never=EARLIEST,
        )
        if row["memories"]:
            last_ids.append(row["last"])
            return Step({"rescheduled": row["memories"]})
        await write(
            "night/fading/set_rescheduled_version",
            **run.persona_parameters,
            version=run.policy_version,
        )
        return None

    while await run.step("reschedule", reschedule_batch):
        last_id = last_ids[-1]  # only now is the batch committed; a step may be retried
    return {}


async def prune(run: ActiveRun) -> dict[str, int]:
    """Delete weak links that were long unused. Returns how many a pin has kept, if any."""
    pinned: dict[int, int] = {}  # by the place of the step, since a step may be retried

    async def prune_batch(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/prune_links",
            **step_parameters(run, place),
            as_of=run.as_of,
            limit=PRUNE_BATCH,
            changed_limit=CHANGED_LIMIT,
            figures=run.policy.as_parameter(),
        )
        pinned[place] = row["pinned"]
        did = {"pruned": row["pruned"]}
        return step_over(row["memories"], PRUNE_BATCH, did, row["changed_ids"])

    while await run.step("prune", prune_batch):
        pass
    kept = sum(pinned.values())
    return {"pinned": kept} if kept else {}


async def decay(run: ActiveRun) -> dict[str, int]:
    """Lower the importance of memories that were unused for a period."""

    async def decay_batch(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/decay_importance",
            **step_parameters(run, place),
            as_of=run.as_of,
            limit=FADE_BATCH,
            changed_limit=CHANGED_LIMIT,
            figures=run.policy.as_parameter(),
        )
        did = {"decayed": row["decayed"]}
        return step_over(row["memories"], FADE_BATCH, did, row["changed_ids"])

    while await run.step("decay", decay_batch):
        pass
    return {}


async def archive(run: ActiveRun) -> dict[str, int]:
    """Archive memories of least importance that were long unused."""

    async def archive_batch(write: Write, place: int) -> Step | None:
        (row,) = await write(
            "night/fading/archive_memories",
            **step_parameters(run, place),
            as_of=run.as_of,
            limit=FADE_BATCH,
        )
        archived_ids = row["archived"]
        # A fact that an archived one had closed holds again.
        settled = await write(
            "memory/facts/settle_facts", tenant_id=run.tenant_id, memory_ids=archived_ids
        )
        changed_ids = [*archived_ids, *(fact["id"] for fact in settled)]
        did = {"archived": len(archived_ids)}
        return step_over(row["memories"], FADE_BATCH, did, changed_ids)

    while await run.step("archive", archive_batch):
        pass
    return {}


def step_parameters(run: ActiveRun, place: int) -> dict[str, Any]:
    """The parameters that name a step in a statement."""
    return {**run.persona_parameters, "run_id": run.id, "place": place}


def step_over(
    memories: int, limit: int, did: dict[str, int], changed_ids: Sequence[str]
) -> Step | None:
    """A step over so many memories; None when there were none."""
    return Step(did, changed_ids=changed_ids, more=memories == limit) if memories else None
