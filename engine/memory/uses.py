"""Uses of memories: counting that some were used together strengthens the links between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.access import Caller
from engine.errors import MemoryNotFound, PersonaNotFound
from engine.ids import new_id
from engine.memory.links import link_from_row
from engine.memory.models import Coactivation
from engine.models import Row
from engine.policy import PersonaPolicy, read_policies_of
from engine.store import Graph, Write

MAX_MEMORIES_PER_USE = 100  # of more, the first by id are counted


@dataclass(frozen=True, slots=True)
class Use:
    """Memories of one persona that were used together, and when."""

    id: str
    tenant_id: str
    persona_id: str
    memory_ids: tuple[str, ...]
    at: datetime

    @property
    def persona_key(self) -> tuple[str, str]:
        return self.tenant_id, self.persona_id


async def coactivate(
    graph: Graph,
    caller: Caller,
    persona_id: str,
    memory_ids: Sequence[str],
    *,
    use_id: str | None = None,
    now: datetime,
) -> Coactivation:
    """Count that memories were used together. The same `use_id` given again counts nothing."""
    use = Use(use_id or new_id(), caller.tenant_id, persona_id, tuple(memory_ids), now)
    (row,) = await count_uses(graph, [use], whole=True, seen_by=caller)
    if row["missing"]:
        raise MemoryNotFound(row["missing"][0])
    return Coactivation(use.id, row["counted"], [link_from_row(link) for link in row["links"]])


async def count_uses(
    graph: Graph, uses: Sequence[Use], *, whole: bool, seen_by: Caller | None = None
) -> list[Row]:
    """Count uses, in their order and as one transaction. One that is given again counts nothing.

    With `whole`, a use counts only if all its memories exist, and the links between them are
    returned; with `seen_by`, a memory that this caller may not see counts as missing. Without
    `whole`, uses of personas that do not exist are left out.
    """
    persona_keys = sorted({use.persona_key for use in uses})
    policies = await read_policies_of(graph, persona_keys)
    if whole and len(policies) < len(persona_keys):
        missing = next(key for key in persona_keys if key not in policies)
        raise PersonaNotFound(missing[1])
    return await write_uses(graph.write, uses, policies, whole=whole, seen_by=seen_by)


async def write_uses(
    write: Write,
    uses: Sequence[Use],
    policies: Mapping[tuple[str, str], PersonaPolicy],
    *,
    whole: bool,
    seen_by: Caller | None = None,
) -> list[Row]:
    """Count uses, as `count_uses` does, in the transaction of `write`."""
    figures = {key: policy.effective.as_parameter() for key, policy in policies.items()}
    rows = [
        {
            "id": use.id,
            "tenant_id": use.tenant_id,
            "persona_id": use.persona_id,
            "memory_ids": sorted(set(use.memory_ids))[:MAX_MEMORIES_PER_USE],
            "at": use.at,
            "figures": figures[use.persona_key],
            "whole": whole,
            **(seen_by.visibility if seen_by else {}),
        }
        for use in uses
        if use.persona_key in figures
    ]
    return await write("memory/memories/count_uses", uses=rows)
