"""The forgetting policy: every figure of the night, and how it is chosen for one memory.

One object. A deployment sets some figures by its settings; a tenant and a persona may change any,
for everything, a memory type or a category. What is nearer to the memory wins: persona before
tenant before deployment, category before type.
"""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from engine.errors import Invalid, PersonaNotFound
from engine.models import MemoryType, Row
from engine.policy.hours import same_night
from engine.settings import Settings
from engine.store import OPERATOR, Graph, audit_record

NIGHTS_AT_ONCE = 1_000  # personas whose nights are moved in one statement

Share = Annotated[float, Meta(ge=0, le=1)]
Days = Annotated[float, Meta(gt=0, le=36_500)]
Count = Annotated[int, Meta(ge=1, le=100)]
TimeOfDay = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d$(?!\n)")]
Curve = Literal["linear", "exponential", "power", "none"]


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """What the night does to one kind of memory, in numbers."""

    # Integrate and link.
    merge_threshold: Share = 0.92  # cosine from which a candidate is the memory that is there
    feeling_hours: Days = 3.0  # told again later than this, a feeling is another one
    relate_threshold: Share = 0.5  # cosine from which two memories are related
    relate_limit: Annotated[int, Meta(ge=0, le=50)] = 5  # related memories that a new one looks for
    sequence_hours: Days = 12.0  # episodes farther apart do not precede each other
    link_strength: Share = 0.5
    # Distil.
    distil_threshold: Share = 0.55  # cosine from which episodes may be of one theme
    distil_episodes: Annotated[int, Meta(ge=2, le=100)] = 3
    # Strengthen and prune.
    strengthen_rate: Share = 0.05
    strengthen_below: Share = 0.95
    strengthen_hours: Days = 24.0
    coactivate_rate: Share = 0.1
    prune_below: Share = 0.1
    prune_days: Days = 60.0
    # Decay and archive: importance.
    decay_curve: Curve = "linear"
    decay_days: Days = 30.0  # one period without an access
    decay_step: Annotated[int, Meta(ge=1, le=9)] = 1  # linear: lost in each period
    decay_rate: Share = 0.2  # exponential: the share lost in each period
    decay_exponent: Annotated[float, Meta(ge=0, le=5)] = 0.5  # power: (1 + periods) ^ -exponent
    archive_importance: Annotated[int, Meta(ge=0, le=10)] = 1
    archive_days: Days = 90.0
    # Salience: homeostasis.
    salience_gain: Share = 0.1  # of what is missing to 1, at the first use of a day
    salience_repeat: Share = 0.5  # each further use of the same day counts this much of the last
    salience_mean: Share = 0.5
    salience_pull: Share = 0.1  # of what stands above the mean, lost each day
    salience_fade: Share = 0.005  # lost each day at the mean, along `decay_curve`
    # "Forget This": what one act leaves of the weight of a memory.
    minimize_factor: Annotated[float, Meta(ge=0, lt=1)] = 0.2
    # Of a persona as a whole, so not for a type or a category alone.
    editing_window_hours: Annotated[float, Meta(gt=0, le=24 * 365)] = 24.0
    consolidate_at: TimeOfDay = "03:00"  # in the persona's time zone
    ledger_days: Days = (
        30.0  # then the steps of a run are folded to counts, and it cannot be undone
    )
    # Recall: what is flagged comes up when nothing else is near, with a share of its confidence.
    forget_fallback_threshold: Share = 0.55
    fallback_confidence_factor: Share = 0.4
    involuntary_recall_rate: Share = 0.05  # of hydrations, those in which something faded comes up


# What an operator can set for a whole deployment.
FROM_SETTINGS = (
    "minimize_factor",
    "editing_window_hours",
    "consolidate_at",
    "forget_fallback_threshold",
    "fallback_confidence_factor",
    "involuntary_recall_rate",
)
OF_THE_PERSONA = frozenset(
    {
        "editing_window_hours",
        "consolidate_at",
        "ledger_days",
        "forget_fallback_threshold",
        "fallback_confidence_factor",
        "involuntary_recall_rate",
    }
)


class Layer(Struct, frozen=True, forbid_unknown_fields=True):
    """What one tenant or persona changes: for everything, for a type, for a category."""

    figures: dict[str, Any] = {}
    types: dict[MemoryType, dict[str, Any]] = {}
    categories: dict[Annotated[str, Meta(min_length=1, max_length=100)], dict[str, Any]] = {}


class Policy(Struct, frozen=True):
    """The policy a persona lives under, worked out."""

    figures: Figures
    types: dict[str, Figures]
    categories: dict[str, dict[str, Figures]]  # by category, then by type

    def of(self, memory_type: str, category: str | None = None) -> Figures:
        return self.categories.get(category or "", self.types)[memory_type]

    def every(self) -> list[Figures]:
        """The figures of every type and category, in no order."""
        return [
            *self.types.values(),
            *(figures for types in self.categories.values() for figures in types.values()),
        ]

    def as_parameter(self) -> dict[str, dict[str, Any]]:
        """For a statement: looked up by `type/category`, then by `type`."""
        by_type = {name: msgspec.to_builtins(figures) for name, figures in self.types.items()}
        narrower = {
            f"{name}/{category}": msgspec.to_builtins(figures)
            for category, types in self.categories.items()
            for name, figures in types.items()
        }
        return by_type | narrower


class PersonaPolicy(Struct, frozen=True):
    """The policy that holds for a persona, and what of it is its own."""

    effective: Policy
    own: Layer


def check_layer(layer: Layer) -> Layer:
    """The layer itself, when every figure in it exists and is in its range."""
    named = (
        ({"figures": layer.figures}, "for everything"),
        (layer.types, "for a type"),
        (layer.categories, "for a category"),
    )
    for changes, where in named:
        for name, figures in changes.items():
            if where != "for everything" and (wider := sorted(OF_THE_PERSONA & figures.keys())):
                raise Invalid(f"{wider[0]!r} holds for a whole persona, not {where} ({name}).")
            try:
                msgspec.convert(msgspec.to_builtins(Figures()) | figures, Figures)
            except msgspec.ValidationError as error:
                raise Invalid(f"The policy {where} ({name}) is wrong: {error}.") from error
    return layer


def merge_layers(*layers: Layer) -> Policy:
    """One policy of several layers, the later ones nearer to the memory."""
    categories = sorted({name for layer in layers for name in layer.categories})

    def figures(memory_type: MemoryType | None, category: str | None) -> Figures:
        chosen: dict[str, Any] = {}
        for layer in layers:
            chosen |= layer.figures
            chosen |= layer.types.get(memory_type, {}) if memory_type else {}
            chosen |= layer.categories.get(category, {}) if category else {}
        return msgspec.convert(chosen, Figures)

    return Policy(
        figures=figures(None, None),
        types={kind.value: figures(kind, None) for kind in MemoryType},
        categories={
            name: {kind.value: figures(kind, name) for kind in MemoryType} for name in categories
        },
    )


def as_policy(row: Row) -> PersonaPolicy:
    """The policy of a row with the layers of a deployment, a tenant and one of its personas."""
    deployment, tenant, own = (as_layer(row[name]) for name in ("deployment", "tenant", "persona"))
    return PersonaPolicy(merge_layers(deployment, tenant, own), own)


def deployment_layer(settings: Settings) -> Layer:
    """What the operator's settings change of the policy, under every tenant."""
    defaults = msgspec.to_builtins(Figures())
    figures = {name: getattr(settings, name) for name in FROM_SETTINGS}
    return Layer({name: value for name, value in figures.items() if value != defaults[name]})


async def set_deployment_policy(graph: Graph, settings: Settings) -> None:
    """Keep the operator's figures in the graph, where every process reads policies from."""
    await graph.write("policy/set_deployment_layer", policy=as_text(deployment_layer(settings)))


async def read_policies_of(
    graph: Graph, whose: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], PersonaPolicy]:
    """The policies that hold now for some personas, by tenant and id: those that are there."""
    personas = [{"tenant_id": tenant_id, "persona_id": id_} for tenant_id, id_ in whose]
    found = await graph.read("policy/read_layers", personas=personas)
    return {(row["tenant_id"], row["persona_id"]): as_policy(row) for row in found}


async def read_persona_policy(graph: Graph, tenant_id: str, persona_id: str) -> PersonaPolicy:
    """The policy that holds for a persona now, and its own part in it."""
    whose = (tenant_id, persona_id)
    found = await read_policies_of(graph, [whose])
    if whose not in found:
        raise PersonaNotFound(persona_id)
    return found[whose]


async def read_policy(graph: Graph, tenant_id: str, persona_id: str) -> Policy:
    """The policy that holds for a persona now."""
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
    """Change the policy of one persona. Its next night looks at every memory once."""
    found = await graph.write(
        "policy/set_persona_layer",
        tenant_id=tenant_id,
        persona_id=persona_id,
        policy=as_text(check_layer(layer)),
        event=audit_record("persona_policy_set", by=by, now=now),
    )
    if not found:
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
    """Change the policy under all personas of a tenant."""
    await graph.write(
        "policy/set_tenant_layer",
        tenant_id=tenant_id,
        policy=as_text(check_layer(layer)),
        event=audit_record("tenant_policy_set", by=by, now=now),
    )
    await move_nights(graph, tenant_id)
    return layer


async def read_tenant_figures(graph: Graph, tenant_id: str) -> Figures:
    """The figures of a persona of a tenant that changes nothing; the defaults of no tenant."""
    found = await graph.read("policy/read_tenant_layer", tenant_id=tenant_id)
    layers = [as_layer(row[name]) for row in found for name in ("deployment", "policy")]
    return merge_layers(*layers).figures


async def move_nights(graph: Graph, tenant_id: str, *, persona_id: str | None = None) -> None:
    """Let the next night of a persona, or of all of a tenant, come at the hour of its policy.

    The day of it stays: each day has one night.
    """
    last = ""
    while rows := await graph.read(
        "policy/list_nights",
        tenant_id=tenant_id,
        persona_id=persona_id,
        after=last,
        limit=NIGHTS_AT_ONCE,
    ):
        last = rows[-1]["persona_id"]
        nights = [
            {"persona_id": row["persona_id"], "before": row["next_night_at"], "after": moved}
            for row in rows
            if (moved := at_hour_of(row)) != row["next_night_at"]
        ]
        await graph.write("policy/move_nights", tenant_id=tenant_id, nights=nights)


def at_hour_of(row: Row) -> datetime:
    hour = as_policy(row).effective.figures.consolidate_at
    return same_night(row["next_night_at"], row["time_zone"], hour)


async def read_tenant_policy(graph: Graph, tenant_id: str) -> Layer:
    (found,) = await graph.read("policy/read_tenant_layer", tenant_id=tenant_id)
    return as_layer(found["policy"])


def as_text(layer: Layer) -> str:
    return json.dumps(msgspec.to_builtins(layer), sort_keys=True)


def as_layer(text: str | None) -> Layer:
    return msgspec.json.decode(text, type=Layer) if text else Layer()


# ── The curves, as values. The statements of the night do the same to whole batches. ─────────────


def importance_after(importance: int, periods: int, figures: Figures) -> int:
    """What is left of an importance after so many periods without an access."""
    left: Mapping[str, float] = {
        "linear": importance - figures.decay_step * periods,
        "exponential": math.floor(importance * (1 - figures.decay_rate) ** periods + 0.5),
        "power": math.floor(importance * (1 + periods) ** -figures.decay_exponent + 0.5),
        "none": importance,
    }
    return min(importance, max(1, int(left[figures.decay_curve])))


def salience_after(salience: float, days: float, figures: Figures) -> float:
    """What is left of a salience after some days: pulled to the mean from above, then faded."""
    mean = figures.salience_mean
    rested = (
        mean + (salience - mean) * math.exp(-figures.salience_pull * days)
        if salience > mean
        else salience
    )
    slope = 2 * figures.salience_fade * days
    left: Mapping[str, float] = {
        "linear": rested - figures.salience_fade * days,
        "exponential": rested * math.exp(-slope),
        "power": rested / (1 + slope),
        "none": rested,
    }
    return max(0.0, left[figures.decay_curve])


def salience_used(salience: float, earlier_today: int, figures: Figures) -> float:
    """A salience after one more use on a day that has seen some."""
    gain = figures.salience_gain * figures.salience_repeat**earlier_today
    return salience + (1 - salience) * gain


def strengthened(strength: float, rate: float) -> float:
    """Hebb's rule, as every strengthening here: towards 1, by a share of what is missing."""
    return min(1.0, strength + (1 - strength) * rate)
