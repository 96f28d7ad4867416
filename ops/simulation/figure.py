"""Draws a picture of simulated lives: what became of all memories, and of five of them.

The only module that imports matplotlib, which is the extra `plots`. Colours are of middle lightness
and the SVG has no background, so that it can be read on light and on dark pages.
"""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.dates
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec, GridSpecFromSubplotSpec

from ops.simulation.chronicle import Event, Happening
from ops.simulation.picture import Panel, Picture
from ops.simulation.stories import Strand, times

dates: Any = matplotlib.dates  # has no annotations

INK, QUIET, LIVING = "#6a8295", "#8497a5", "#839aac"
MINIMIZED, ARCHIVED, SHAPED = "#c08a6a", "#839aac", "#8d7ba6"
PAPER = "#fcfbf8"
# Marks of what happens to a memory: colour and shape.
MARKS = {
    Happening.RECALLED: ("#6b93a8", "|"),
    Happening.SAID_AGAIN: ("#6b93a8", "+"),
    Happening.FORGOTTEN: ("#c0714f", "v"),
    Happening.TAKEN_BACK: ("#6e9c78", "^"),
    Happening.ENDED: ("#8d7ba6", "s"),
    Happening.ARCHIVED: ("#8497a5", "o"),
}
# The rare ones have a name beside their mark.
LABELS = {
    Happening.FORGOTTEN: "forgotten",
    Happening.TAKEN_BACK: "taken back",
    Happening.ENDED: "no longer true",
    Happening.ARCHIVED: "archived",
}
STYLE: Any = {
    "font.family": "STIXGeneral",
    "font.size": 11.5,
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": QUIET,
    "svg.fonttype": "path",  # the same on every machine, whatever fonts it has
    "svg.hashsalt": "pentimento",  # the same file for the same life
}
WIDTH, SHARED_WIDTH, HEIGHT = 10.4, 7.6, 9.8  # inches: alone, and of each of several
DPI = 170
STRONGEST = 0.8  # strength at the top of a lane; daily use brings a memory hardly farther


def draw(picture: Picture, folder: Path, *, name: str = "life") -> list[Path]:
    """Draw a picture as PNG and SVG into a folder. Returns the files."""
    with mpl.rc_context(STYLE):
        figure = compose(picture)
        png, svg = folder / f"{name}.png", folder / f"{name}.svg"
        figure.savefig(png, dpi=DPI, facecolor=PAPER, metadata={"Software": None})
        figure.savefig(svg, transparent=True, metadata={"Date": None, "Title": picture.title})
    return [png, svg]


def compose(picture: Picture) -> Figure:
    """The whole figure: a column for each policy, all counts above, the five memories below."""
    columns, rows = len(picture.panels), len(picture.panels[0].strands)
    alone = columns == 1
    left, right, top = (0.065, 0.86, 0.885) if alone else (0.05, 0.905, 0.865)
    figure = Figure(figsize=(WIDTH if alone else SHARED_WIDTH * columns, HEIGHT))
    grid = GridSpec(2, columns, figure=figure, height_ratios=[1.0, 1.9])
    grid.update(left=left, right=right, top=top, bottom=0.05, hspace=0.16, wspace=0.32)
    highest = max(counts.kept for panel in picture.panels for counts in panel.counts)
    deepest = max(sunk(counts) for panel in picture.panels for counts in panel.counts)
    for column, panel in enumerate(picture.panels):
        above = figure.add_subplot(grid[0, column])
        draw_counts(above, picture.days, panel, top=highest, depth=deepest)
        if not alone:
            above.set_title(panel.policy, loc="left", fontsize=15, style="italic", pad=9)
        lanes = GridSpecFromSubplotSpec(rows, 1, subplot_spec=grid[1, column], hspace=0.78)
        for row, strand in enumerate(panel.strands):
            lane = figure.add_subplot(lanes[row])
            draw_strand(lane, picture.days, strand)
            if strand and alone:  # beside another policy there is no room for it
                above_lane(lane, 1, strand.reason, fontsize=11, color=QUIET, ha="right")
            if row < rows - 1:
                lane.set_xticklabels([])
    figure.text(left, 0.955, picture.title, fontsize=21)
    figure.text(left, 0.925, subtitle(picture), fontsize=12, color=QUIET)
    return figure


def subtitle(picture: Picture) -> str:
    first, last = picture.days[0], picture.days[-1]
    return (
        f"{picture.messages} messages, {day(first)} to {day(last)}. Above the line: what is kept."
        " Beneath it: what was turned down, and what faded."
    )


# ── All memories ─────────────────────────────────────────────────────────────────────────────────


def draw_counts(axes: Axes, on: Sequence[date], panel: Panel, *, top: int, depth: int) -> None:
    """Areas of memories: what is kept above the line, what is minimized and archived below."""
    days = dates.date2num(on)
    kept = [counts.kept for counts in panel.counts]
    edges = [
        [0.0 for _ in panel.counts],
        [-float(counts.minimized) for counts in panel.counts],
        [-float(counts.minimized + counts.archived) for counts in panel.counts],
        [-float(sunk(counts)) for counts in panel.counts],
    ]
    axes.fill_between(days, 0, kept, color=LIVING, alpha=0.8, linewidth=0)
    styles = ((MINIMIZED, 0.9), (ARCHIVED, 0.3), (SHAPED, 0.7))
    for (upper, lower), (color, alpha) in zip(pairwise(edges), styles, strict=True):
        axes.fill_between(days, upper, lower, color=color, alpha=alpha, linewidth=0)
    axes.axhline(0, color=INK, linewidth=0.9)
    axes.set_ylim(-1.04 * max(depth, 1), 1.04 * max(top, 1))
    plain(axes, on)
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(5, integer=True))
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    axes.tick_params(axis="y", length=0, labelsize=10, pad=2)
    last = panel.counts[-1]
    bottoms = [values[-1] for values in edges]
    for number, word, color, low, high in (
        (last.kept, "kept", INK, 0.0, float(last.kept)),
        (last.minimized, "minimized", MINIMIZED, bottoms[0], bottoms[1]),
        (last.archived, "archived", QUIET, bottoms[1], bottoms[2]),
        (last.shaped, "shapes", SHAPED, bottoms[2], bottoms[3]),
    ):
        if number:
            beside(axes, (low + high) / 2, f"{number} {word}", color)


def sunk(counts: Any) -> int:
    """How many memories are below the line."""
    return int(counts.minimized + counts.archived + counts.shaped)


# ── Five memories ────────────────────────────────────────────────────────────────────────────────


def draw_strand(axes: Axes, days: Sequence[date], strand: Strand | None) -> None:
    """The strength of one memory over its life, with what moved it."""
    plain(axes, days)
    axes.set_ylim(0, STRONGEST)
    axes.set_yticks([])
    axes.axhline(0, color=QUIET, linewidth=0.6, alpha=0.6)
    if strand is None:
        axes.text(0, 0.3, "not a memory here", transform=axes.transAxes, color=QUIET)
        return
    places = dates.date2num(days)
    strengths = [float("nan") if value is None else value for value in strand.strengths]
    gone = [bool(strand.archived_on and on >= strand.archived_on) for on in days]
    for hidden, alpha, dashes in ((False, 0.3, "-"), (True, 0.12, (0, (1, 2)))):
        part = [
            value if is_gone is hidden else float("nan")
            for value, is_gone in zip(strengths, gone, strict=True)
        ]
        axes.fill_between(places, 0, part, color=LIVING, alpha=alpha, linewidth=0)
        axes.plot(places, part, color=INK, linewidth=1.3, linestyle=dashes)
    draw_events(axes, days, strengths, strand)
    above_lane(axes, 0, f"“{strand.text}”", fontsize=12.5, style="italic")
    recalled = strand.times(Happening.RECALLED)
    beside(axes, 0.52, f"recalled {times(recalled)}" if recalled else "never recalled", QUIET)
    beside(axes, 0.16, "archived" if strand.archived_on else f"strength {strengths[-1]:.2f}", INK)


def draw_events(
    axes: Axes, days: Sequence[date], strengths: Sequence[float], strand: Strand
) -> None:
    """A mark for each event at the strength it led to; the rare ones with their names."""
    for event in strand.events:
        if event.what not in MARKS or not days[0] <= event.at.date() <= days[-1]:
            continue
        color, shape = MARKS[event.what]
        place = (event.at.date() - days[0]).days
        height = strengths[place]
        height = 0.0 if height != height else height
        at = float(dates.date2num(event.at.date()))
        if event.what not in LABELS:
            axes.plot([at], [0.06], shape, color=color, markersize=6, clip_on=False)
            continue
        axes.plot([at], [height], shape, color=color, markersize=5.5, clip_on=False, zorder=3)
        draw_label(axes, event, at, height, place / len(days), color)


def draw_label(
    axes: Axes, event: Event, at: float, height: float, share: float, color: str
) -> None:
    """The name of an event beside its mark, on the side where there is room."""
    goes_left = share > 0.8
    axes.annotate(
        LABELS[event.what],
        (at, height),
        xytext=(-7 if goes_left else 7, 5),
        textcoords="offset points",
        ha="right" if goes_left else "left",
        fontsize=10.5,
        color=color,
    )


def above_lane(axes: Axes, place: float, text: str, **style: Any) -> None:
    """A text above a lane, from its left (0) or up to its right (1)."""
    axes.text(place, 1.12, text, transform=axes.transAxes, **style)


# ── What both share ──────────────────────────────────────────────────────────────────────────────


def plain(axes: Axes, days: Sequence[date]) -> None:
    """Axes with months along the bottom and nothing around them."""
    for side in axes.spines.values():
        side.set_visible(False)
    axes.patch.set_visible(False)
    first, last = dates.date2num([days[0], days[-1]])
    axes.set_xlim(float(first), float(last))
    axes.xaxis.set_major_locator(dates.MonthLocator(interval=max(1, len(days) // 400 + 1)))
    axes.xaxis.set_major_formatter(dates.DateFormatter("%b"))
    axes.tick_params(axis="x", length=0, labelsize=10.5, pad=4)


def beside(axes: Axes, height: float, text: str, color: str) -> None:
    """A label to the right of the axes, at a height of theirs."""
    axes.annotate(
        text,
        (1, height),
        xycoords=axes.get_yaxis_transform(),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontsize=11.5,
        color=color,
        annotation_clip=False,
    )


def day(on: date) -> str:
    return f"{on.day} {on:%B %Y}"
