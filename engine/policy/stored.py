"""Reading and writing policies in the graph: a layer each of deployment, tenant and persona."""

import json
from collections.abc import Iterable
from datetime import datetime

import msgspec

from engine.errors import PersonaNotFound
from engine.models import Row
from engine.policy.hours import same_night
from engine.policy.policy import (
    Figures,
    Layer,
    PersonaPolicy,
    Policy,
    check_layer,
    deployment_layer,
    merge_layers,
)
from engine.settings import Settings
from engine.store import OPERATOR, Graph, audit_record

BATCH_SIZE = 1_000  # personas whose nights are moved in one statement


async def set_deployment_policy(graph: Graph, settings: Settings) -> None:
    """Store the operator's figures in the graph, where every process reads policies from."""
    layer = encode_layer(deployment_layer(settings))
    await graph.write("policy/set_deployment_layer", policy=layer)


async def read_policies_of(
    graph: Graph, persona_keys: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], PersonaPolicy]:
    """The policies of some personas, by tenant id and persona id. Leaves out unknown personas."""
    personas = [
        {"tenant_id": tenant_id, "persona_id": persona_id} for tenant_id, persona_id in persona_keys
    ]
    rows = await graph.read("policy/read_layers", personas=personas)
    return {(row["tenant_id"], row["persona_id"]): as_policy(row) for row in rows}


async def read_persona_policy(graph: Graph, tenant_id: str, persona_id: str) -> PersonaPolicy:
    """The policy that applies to a persona now, and its own layer."""
    persona_key = (tenant_id, persona_id)
    policies = await read_policies_of(graph, [persona_key])
    if persona_key not in policies:
        raise PersonaNotFound(persona_id)
    return policies[persona_key]


async def read_policy(graph: Graph, tenant_id: str, persona_id: str) -> Policy:
    """The policy that applies to a persona now."""
    return (await read_persona_policy(graph, tenant_id, persona_id)).effective


async def set_persona_policy(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    layer: Layer,
    *,
    by: str = OPERATOR,
    now: datetime | None = None,
) -> PersonaPolicy:
    """Replace the layer of a persona. Its next night looks at every memory once."""
    rows = await graph.write(
        "policy/set_persona_layer",
        tenant_id=tenant_id,
        persona_id=persona_id,
        policy=encode_layer(check_layer(layer)),
        event=audit_record("persona_policy_set", by=by, now=now),
    )
    if not rows:
        raise PersonaNotFound(persona_id)
    await move_nights(graph, tenant_id, persona_id=persona_id)
    return await read_persona_policy(graph, tenant_id, persona_id)


async def set_tenant_policy(
    graph: Graph,
    tenant_id: str,
    layer: Layer,
    *,
    by: str = OPERATOR,
    now: datetime | None = None,
) -> Layer:
    """Replace the layer of a tenant, which applies to all its personas."""
    await graph.write(
        "policy/set_tenant_layer",
        tenant_id=tenant_id,
        policy=encode_layer(check_layer(layer)),
        event=audit_record("tenant_policy_set", by=by, now=now),
    )
    await move_nights(graph, tenant_id)
    return layer


async def read_tenant_figures(graph: Graph, tenant_id: str) -> Figures:
    """The figures of a tenant's personas without a layer; the defaults for an unknown tenant."""
    rows = await graph.read("policy/read_tenant_layer", tenant_id=tenant_id)
    layers = [decode_layer(row[name]) for row in rows for name in ("deployment", "policy")]
    return merge_layers(*layers).figures


async def read_tenant_policy(graph: Graph, tenant_id: str) -> Layer:
    """The layer of a tenant."""
    (row,) = await graph.read("policy/read_tenant_layer", tenant_id=tenant_id)
    return decode_layer(row["policy"])


async def move_nights(graph: Graph, tenant_id: str, *, persona_id: str | None = None) -> None:
    """Move the next night of a persona, or of all of a tenant, to the hour of its policy.

    The day stays the same: each day has one night.
    """
    last_id = ""
    while rows := await graph.read(
        "policy/list_nights",
        tenant_id=tenant_id,
        persona_id=persona_id,
        after=last_id,
        limit=BATCH_SIZE,
    ):
        last_id = rows[-1]["persona_id"]
        nights = [
            {"persona_id": row["persona_id"], "before": row["next_night_at"], "after": moved_to}
            for row in rows
            if (moved_to := night_by_policy(row)) != row["next_night_at"]
        ]
        await graph.write("policy/move_nights", tenant_id=tenant_id, nights=nights)


def night_by_policy(row: Row) -> datetime:
    """The persona's next night, on the same day, at the hour of its policy."""
    hour = as_policy(row).effective.figures.consolidate_at
    return same_night(row["next_night_at"], row["time_zone"], hour)


def as_policy(row: Row) -> PersonaPolicy:
    """The policy of a persona from a row with the stored layers of deployment, tenant, persona."""
    deployment, tenant, own = (
        decode_layer(row[name]) for name in ("deployment", "tenant", "persona")
    )
    return PersonaPolicy(merge_layers(deployment, tenant, own), own)


def encode_layer(layer: Layer) -> str:
    return json.dumps(msgspec.to_builtins(layer), sort_keys=True)


def decode_layer(text: str | None) -> Layer:
    return msgspec.json.decode(text, type=Layer) if text else Layer()
