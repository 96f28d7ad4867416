"""The forgetting policy: every figure of the night, and how it is chosen for one memory.

A deployment sets some figures by its settings; a tenant and a persona may change any, for all
memories, a memory type or a category. Persona goes before tenant before deployment, and within each
of them category before type before all memories.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from engine.errors import Invalid
from engine.models import MemoryType
from engine.settings import Settings

Share = Annotated[float, Meta(ge=0, le=1)]
Days = Annotated[float, Meta(gt=0, le=36_500)]
Count = Annotated[int, Meta(ge=1, le=100)]
TimeOfDay = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d\Z")]
Curve = Literal["linear", "exponential", "power", "none"]


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """The figures that apply to one kind of memory."""

    # Integrate and link.
    merge_threshold: Share = 0.92  # cosine from which a candidate is merged into a memory
    feeling_hours: Days = 3.0  # a feeling expressed later than this is a new one
    relate_threshold: Share = 0.5  # cosine from which two memories are related
    relate_limit: Annotated[int, Meta(ge=0, le=50)] = 5  # links of a new memory to related ones
    sequence_hours: Days = 12.0  # episodes farther apart get no PRECEDES link
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
    decay_days: Days = 30.0  # one period: importance falls when it passes without an access
    decay_step: Annotated[int, Meta(ge=1, le=9)] = 1  # linear: subtracted in each period
    decay_rate: Share = 0.2  # exponential: the share lost in each period
    decay_exponent: Annotated[float, Meta(ge=0, le=5)] = 0.5  # power: (1 + periods) ^ -exponent
    archive_importance: Annotated[int, Meta(ge=0, le=10)] = 1
    archive_days: Days = 90.0
    # Salience: homeostasis.
    salience_gain: Share = 0.1  # share of what is missing to 1 that the first use of a day adds
    salience_repeat: Share = 0.5  # each further use of a day counts this share of the one before
    salience_mean: Share = 0.5
    salience_pull: Share = 0.1  # share of what is above the mean that is lost each day
    salience_fade: Share = 0.005  # lost each day at the mean, along `decay_curve`
    # "Forget This": the share of its weight that a memory keeps after one flag.
    minimize_factor: Annotated[float, Meta(ge=0, lt=1)] = 0.2
    # For a persona as a whole: PERSONA_FIGURES. Not to be set for a type or a category.
    editing_window_hours: Annotated[float, Meta(gt=0, le=24 * 365)] = 24.0
    consolidate_at: TimeOfDay = "03:00"  # in the persona's time zone
    # After this the steps of a run are folded to counts, and it can no longer be undone.
    ledger_days: Days = 30.0
    # Recall: a flagged memory is found when nothing else is near, with a share of its confidence.
    forget_fallback_threshold: Share = 0.55
    fallback_confidence_factor: Share = 0.4
    involuntary_recall_rate: Share = 0.05  # share of hydrations that bring up a faded memory


# The figures that an operator can set for a whole deployment, by settings of the same names.
DEPLOYMENT_FIGURES = (
    "minimize_factor",
    "editing_window_hours",
    "consolidate_at",
    "forget_fallback_threshold",
    "fallback_confidence_factor",
    "involuntary_recall_rate",
)
PERSONA_FIGURES = frozenset(
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
    """The figures that a tenant or persona changes: for all memories, a type, a category."""

    figures: dict[str, Any] = {}
    types: dict[MemoryType, dict[str, Any]] = {}
    categories: dict[Annotated[str, Meta(min_length=1, max_length=100)], dict[str, Any]] = {}


class Policy(Struct, frozen=True):
    """The figures that apply to a persona, after all layers are merged."""

    figures: Figures
    types: dict[str, Figures]
    categories: dict[str, dict[str, Figures]]  # by category, then by type

    def of(self, memory_type: str, category: str | None = None) -> Figures:
        """The figures of a memory: those of its category if it has any, else of its type."""
        return self.categories.get(category or "", self.types)[memory_type]

    def all_figures(self) -> list[Figures]:
        """The figures of every type and category, in no order."""
        return [
            *self.types.values(),
            *(figures for types in self.categories.values() for figures in types.values()),
        ]

    def as_parameter(self) -> dict[str, dict[str, Any]]:
        """The figures as a statement's parameter, by `type/category` and by `type`."""
        by_type = {name: msgspec.to_builtins(figures) for name, figures in self.types.items()}
        by_category = {
            f"{name}/{category}": msgspec.to_builtins(figures)
            for category, types in self.categories.items()
            for name, figures in types.items()
        }
        return by_type | by_category


class PersonaPolicy(Struct, frozen=True):
    """The policy that applies to a persona, and the layer that it sets itself."""

    effective: Policy
    own: Layer


def check_layer(layer: Layer) -> Layer:
    """The layer itself, if every figure in it exists and is in its range."""
    parts = (
        ({"figures": layer.figures}, "for everything"),
        (layer.types, "for a type"),
        (layer.categories, "for a category"),
    )
    for part, scope in parts:
        for name, figures in part.items():
            too_wide = sorted(PERSONA_FIGURES & figures.keys())
            if too_wide and scope != "for everything":
                raise Invalid(f"{too_wide[0]!r} holds for a whole persona, not {scope} ({name}).")
            try:
                msgspec.convert(msgspec.to_builtins(Figures()) | figures, Figures)
            except msgspec.ValidationError as error:
                raise Invalid(f"The policy {scope} ({name}) is wrong: {error}.") from error
    return layer


def merge_layers(*layers: Layer) -> Policy:
    """One policy from several layers; a later layer overrides those before it."""
    categories = sorted({name for layer in layers for name in layer.categories})

    def figures(memory_type: MemoryType | None, category: str | None) -> Figures:
        merged: dict[str, Any] = {}
        for layer in layers:
            merged |= layer.figures
            merged |= layer.types.get(memory_type, {}) if memory_type else {}
            merged |= layer.categories.get(category, {}) if category else {}
        return msgspec.convert(merged, Figures)

    return Policy(
        figures=figures(None, None),
        types={kind.value: figures(kind, None) for kind in MemoryType},
        categories={
            name: {kind.value: figures(kind, name) for kind in MemoryType} for name in categories
        },
    )


def deployment_layer(settings: Settings) -> Layer:
    """The figures that the operator's settings change, below those of every tenant."""
    defaults = msgspec.to_builtins(Figures())
    figures = {name: getattr(settings, name) for name in DEPLOYMENT_FIGURES}
    return Layer({name: value for name, value in figures.items() if value != defaults[name]})


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
