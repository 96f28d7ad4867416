"""What was said to a persona and is in no checkpoint yet is put into one."""

from engine.night.steps import ActiveRun, Step
from engine.store import Write
from engine.talk import make_checkpoints

CONVERSATIONS_AT_ONCE = 100


async def checkpoints(run: ActiveRun) -> dict[str, int]:
    """Cover what the jobs of the day have left uncovered. An undo takes nothing of it back."""
    done: set[str] = set()
    covered = 0
    while True:
        rows = await run.graph.read(
            "talk/checkpoints/list_uncovered_conversations",
            **run.whose,
            before=run.as_of,
            without=sorted(done),
            limit=CONVERSATIONS_AT_ONCE,
        )
        if not rows:
            break
        for row in rows:
            conversation_id = row["conversation_id"]
            done.add(conversation_id)
            covered += await make_checkpoints(
                run.graph, run.tenant_id, conversation_id, now=run.as_of
            )

    async def count(write: Write, place: int) -> Step | None:
        return Step({"covered": covered}, {})

    if covered:
        await run.step("checkpoints", count)
    return {}
