"""Checkpoints: messages that are in no checkpoint yet are put into one."""

from engine.night.steps import ActiveRun, Step
from engine.store import Write
from engine.talk import make_checkpoints

BATCH_SIZE = 100  # conversations


async def checkpoints(run: ActiveRun) -> dict[str, int]:
    """Cover the messages that the jobs of the day left uncovered. An undo keeps the checkpoints."""
    done_ids: set[str] = set()
    covered = 0
    while True:
        rows = await run.graph.read(
            "talk/checkpoints/list_uncovered_conversations",
            **run.persona_parameters,
            before=run.as_of,
            without=sorted(done_ids),
            limit=BATCH_SIZE,
        )
        if not rows:
            break
        for row in rows:
            conversation_id = row["conversation_id"]
            done_ids.add(conversation_id)
            covered += await make_checkpoints(
                run.graph, run.tenant_id, conversation_id, now=run.as_of
            )

    async def record_count(write: Write, place: int) -> Step | None:
        return Step({"covered": covered}, {})

    if covered:
        await run.step("checkpoints", record_count)
    return {}
