"""What a persona tends to lose, in figures and in sentences. Pure functions.

Nothing here says more than shapes do already: themes are theirs, and a category is named only if
living memories use it too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations

from engine.memory.rumours import RUMOUR
from engine.memory.shapes import Shape
from engine.models import Row

THEMES = "THEMES"  # the type of an edge between shapes that have themes in common
MAX_EDGES = 1_000  # by themes, the strongest
MIN_LIVING = 3  # living memories of a category, before it may be named
OTHER = "other"  # what has no category, or one that may not be named
MAX_LISTED = 20  # themes, categories, months
MAX_THEMES_READ = 20  # of one shape: those that are added by hand may have hundreds


@dataclass(frozen=True, slots=True)
class ShapeEdge:
    """What is between two shapes: one became part of the other, or they have themes in common."""

    from_id: str
    to_id: str
    type: str  # SHAPED_INTO, or THEMES, which has no direction
    themes: list[str] = field(default_factory=list)  # in common
    weight: float = 1.0  # of themes: those in common as a share of all that the two have


@dataclass(frozen=True, slots=True)
class Loss:
    """How many memories of one kind are archived, and how many there are."""

    name: str
    lost: int
    of: int
    share: float


@dataclass(frozen=True, slots=True)
class ThemeLoss:
    """A theme of shapes of memories."""

    theme: str
    shapes: int
    memories: int  # that these shapes stand for


@dataclass(frozen=True, slots=True)
class MonthLoss:
    """How many of the memories of a month are archived."""

    month: str
    lost: int


@dataclass(frozen=True, slots=True)
class LossReport:
    """What a persona tends to lose. Flagged memories are counted nowhere."""

    lost: int
    of: int
    share: float
    by_theme: list[ThemeLoss]
    by_type: list[Loss]
    by_category: list[Loss]
    by_tone: list[Loss]  # of what has a feeling
    by_month: list[MonthLoss]  # when it was said, the months that have lost most
    sentences: list[str]


def themes_of(shape: Shape) -> list[str]:
    """The themes of a shape, one by one, the first of them."""
    parts = (part.strip() for part in shape.connected_themes.split(","))
    return list(dict.fromkeys(part for part in parts if part))[:MAX_THEMES_READ]


def theme_edges(shapes: Sequence[Shape]) -> list[ShapeEdge]:
    """Which shapes have themes in common, the strongest first."""
    themes = {shape.shape_id: themes_of(shape) for shape in shapes}
    holders: dict[str, list[str]] = {}
    for shape_id, names in themes.items():
        for name in names:
            holders.setdefault(name, []).append(shape_id)
    pairs = {pair for ids in holders.values() for pair in combinations(ids, 2)}
    edges = [
        ShapeEdge(
            one,
            other,
            THEMES,
            common := [name for name in themes[one] if name in themes[other]],
            round(len(common) / len({*themes[one], *themes[other]}), 4),
        )
        for one, other in pairs
    ]
    return sorted(edges, key=lambda edge: (-edge.weight, edge.from_id, edge.to_id))[:MAX_EDGES]


def loss_report(groups: Sequence[Row], shapes: Iterable[tuple[Sequence[str], Shape]]) -> LossReport:
    """The report over groups of memories, and over shapes with their themes."""
    totals = losses(groups, lambda _: "all")
    total = totals[0] if totals else Loss("all", 0, 0, 0.0)
    by_type = losses(groups, lambda group: group["memory_type"])
    by_tone = losses([group for group in groups if group["tone"]], lambda group: group["tone"])
    by_month = months(groups)
    by_theme = theme_losses(shapes)
    return LossReport(
        total.lost,
        total.of,
        total.share,
        by_theme,
        by_type,
        category_losses(groups),
        by_tone,
        by_month,
        report_sentences(total, by_type, by_tone, by_month, by_theme),
    )


def losses(groups: Iterable[Row], name_of: Callable[[Row], str]) -> list[Loss]:
    """How much of each kind is lost, what has lost most first."""
    lost, all_ = Counter[str](), Counter[str]()
    for group in groups:
        name = name_of(group)
        all_[name] += group["memories"]
        lost[name] += group["memories"] if group["state"] == "archived" else 0
    found = [Loss(name, lost[name], of, round(lost[name] / of, 4)) for name, of in all_.items()]
    return sorted(found, key=lambda loss: (-loss.lost, -loss.share, loss.name))


def category_losses(groups: Sequence[Row]) -> list[Loss]:
    """How much of each category is lost. A category that few living memories have is not named."""
    living = Counter[str]()
    for group in groups:
        if group["state"] == "active" and group["category"]:
            living[group["category"]] += group["memories"]
    named = {name for name, count in living.items() if count >= MIN_LIVING}

    def name_of(group: Row) -> str:
        return group["category"] if group["category"] in named else OTHER

    found = losses(groups, name_of)
    return [loss for loss in found if loss.lost][:MAX_LISTED]


def months(groups: Iterable[Row]) -> list[MonthLoss]:
    """The months of which most is lost, most first."""
    lost = Counter[str]()
    for group in groups:
        if group["month"]:
            lost[group["month"]] += group["memories"]
    return [
        MonthLoss(month, count)
        for month, count in sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    ][:MAX_LISTED]


def theme_losses(shapes: Iterable[tuple[Sequence[str], Shape]]) -> list[ThemeLoss]:
    """The themes of shapes of memories, most memories first.

    Shapes of shapes would count the same memories again, and a rumour is what others have lost.
    """
    count, memories = Counter[str](), Counter[str]()
    for themes, shape in shapes:
        if shape.depth > 1 or shape.drawn_by == RUMOUR:
            continue
        for theme in themes:
            count[theme] += 1
            memories[theme] += shape.relearnable
    order = sorted(count, key=lambda theme: (-memories[theme], -count[theme], theme))
    return [ThemeLoss(theme, count[theme], memories[theme]) for theme in order][:MAX_LISTED]


def report_sentences(
    total: Loss,
    by_type: Sequence[Loss],
    by_tone: Sequence[Loss],
    by_month: Sequence[MonthLoss],
    by_theme: Sequence[ThemeLoss],
) -> list[str]:
    """A few sentences that say the figures. A superlative only where nothing comes as near."""
    if not total.lost:
        return ["Nothing is lost."]
    said = [f"{total.lost} of {total.of} memories are lost ({total.share:.0%})."]
    if kind := most_lost(by_type):
        said.append(f"Of {kind.name} memories the largest share is lost: {of_all(kind)}.")
    if tone := most_lost(by_tone):
        said.append(f"Of what felt {tone.name} the largest share is lost: {of_all(tone)}.")
    if len(by_month) == 1 or (by_month and by_month[0].lost > by_month[1].lost):
        month = f"{datetime.fromisoformat(by_month[0].month + '-01'):%B %Y}"
        said.append(f"More of {month} is lost than of any other month: {by_month[0].lost}.")
    if by_theme:
        first = by_theme[0]
        noun = "shape names" if first.shapes == 1 else "shapes name"
        said.append(f"{first.shapes} {noun} {first.theme!r} among what is gone.")
    return said


def most_lost(kinds: Sequence[Loss]) -> Loss | None:
    """The kind of which the largest share is lost; None if another comes as near."""
    ordered = sorted(kinds, key=lambda kind: -kind.share)
    if len(ordered) < 2 or ordered[0].share == ordered[1].share:
        return None
    return ordered[0]


def of_all(loss: Loss) -> str:
    return f"{loss.lost} of {loss.of} ({loss.share:.0%})"
