"""The two weeks, told at the terminal: day by day while they pass, and what has come of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from rich.console import Console
from rich.markup import escape

from engine.memory import Link, Memory, list_links
from engine.text import fingerprint
from ops.two_weeks import Day, Heard, Life, memories

BARS = "▁▂▃▄▅▆▇█"
MERGES_SHOWN = 15
LINKS_SHOWN = 5
EXAMPLES = 2
EXAMPLE, LINKED = 40, 48  # characters of a text in a list of several
STYLE = "ops/browser/pentimento.grass"


@dataclass(frozen=True, slots=True)
class Story:
    """What has come of the two weeks."""

    days: list[Day]
    memories: dict[str, Memory]
    links: list[Link]  # of what was used, the strongest first

    def changes(self, kind: str) -> list[dict[str, Any]]:
        return [it.change for day in self.days for it in day.changes if it.kind == kind]


async def story_of(life: Life, days: list[Day]) -> Story:
    known = {it.memory_id: it for it in await memories(life, days[-1].night.as_of)}
    links = {
        (link.from_id, link.type, link.to_id): link
        for memory in known.values()
        if memory.access_count
        for link in await list_links(life.graph, life.caller, memory.memory_id)
        if link.from_id in known and link.to_id in known
    }
    return Story(days, known, sorted(links.values(), key=lambda it: (-it.strength, it.from_id)))


# ── While it runs ────────────────────────────────────────────────────────────────────────────────


def show_day(console: Console, day: Day) -> None:
    """Two lines: what was said, and what the night did with what was said before."""
    drawn = Counter(kind for it in day.heard for kind in it.drawn)
    left_out = Counter(reason for it in day.heard for reason in it.left_out)
    said = [f"{len(day.heard)} messages" if day.heard else "nothing is said"]
    if drawn:
        said.append(f"drawn: {counted(drawn)}")
    if left_out:
        said.append(f"left out: {counted(left_out)}")
    date = f"{day.on:%a} {day.on.day:>2} {day.on:%b}"
    say(console, f"[bold]{date}[/bold]  {'; '.join(said)}")
    say(console, f"  [dim]night[/dim]     {'; '.join(night_parts(day)) or 'nothing is due yet'}")


def night_parts(day: Day) -> Iterable[str]:
    kinds = Counter(it.kind for it in day.changes)
    if formed := kinds["formed"]:
        yield f"{formed} formed"
    if merged := sum(len(it.change["candidates"]) for it in day.changes if it.kind == "merged"):
        yield f"{merged} merged"
    linked = Counter(it.change["type"].lower() for it in day.changes if it.kind == "linked")
    if linked:
        yield f"linked: {counted(linked)}"
    for kind, one, told in (
        ("facts_closed", "fact", "closed"),
        ("distilled", "theme", "distilled"),
        ("joined", "episode", "joined a theme"),
        ("strengthened", "link", "stronger"),
    ):
        if kinds[kind]:
            yield f"{several(kinds[kind], one)} {told}"


# ── At the end ───────────────────────────────────────────────────────────────────────────────────


def show_story(console: Console, story: Story) -> None:
    show_totals(console, story)
    show_left_out(console, story)
    show_merges(console, story)
    show_changed_facts(console, story)
    show_themes(console, story)
    show_links(console, story)
    show_feelings(console, story.days)


def show_totals(console: Console, story: Story) -> None:
    heard = [it for day in story.days for it in day.heard]
    drawn = sum(len(it.drawn) for it in heard)
    kept = Counter(it.memory_type.value for it in story.memories.values() if not it.distilled)
    linked = Counter(str(it["type"]).lower() for it in story.changes("linked"))
    title(console, "What became memory")
    whole = sum(not it.drawn for it in heard)
    for line in (
        f"{len(heard)} messages gave {drawn} candidates; {whole} of them gave none.",
        f"{kept.total()} candidates became memories: {counted(kept)}.",
        f"{len(merges(story))} merged into a memory that was there.",
        f"{linked.total()} links: {counted(linked)}.",
        f"{several(len(story.changes('facts_closed')), 'fact')} closed, "
        f"{several(len(story.changes('distilled')), 'theme')} distilled; "
        f"{len(story.changes('strengthened'))} times a night made a link stronger.",
    ):
        say(console, f"  {line}")


def show_left_out(console: Console, story: Story) -> None:
    title(console, "What was left out, and why: whole messages, and parts of messages")
    for reason, (whole, part) in left_out(story).items():
        such_as = "  ".join(quoted(it, EXAMPLE) for it in examples([*whole, *part]))
        name = reason.replace("_", " ")
        say(console, f"  {name:<14} {len(whole):>3} {len(part):>3}   {escape(such_as)}")


def examples(heard: Iterable[Heard]) -> list[str]:
    """Some of these messages, first those that had no other reason, none twice."""
    plainest = sorted(heard, key=lambda it: len(it.left_out) + len(it.drawn))
    told: dict[str, str] = {}
    for it in plainest:
        told.setdefault(fingerprint(it.content), it.content)
    return list(told.values())[:EXAMPLES]


def left_out(story: Story) -> dict[str, tuple[list[Heard], list[Heard]]]:
    """By reason, the messages that were left out whole, and those that lost a part."""
    found: dict[str, tuple[list[Heard], list[Heard]]] = {}
    for it in (it for day in story.days for it in day.heard):
        for reason in it.left_out:
            whole, part = found.setdefault(reason, ([], []))
            (part if it.drawn else whole).append(it)
    return dict(sorted(found.items(), key=lambda it: -len(it[1][0])))


def merges(story: Story) -> list[tuple[str, str]]:
    """The words that came again, and the memory that was there."""
    return [
        (again["text"], str(it["text"]))
        for it in story.changes("merged")
        for again in it["candidates"]
    ]


def show_merges(console: Console, story: Story) -> None:
    found = merges(story)
    # The same sentence twice shows least.
    shown = sorted(found, key=lambda it: it[0] == it[1])[:MERGES_SHOWN]
    title(console, f"What merged: {len(found)}" + (f", {len(shown)} of them" * (found != shown)))
    for again, there in shown:
        say(console, f"  {escape(quoted(words_of(again)))} → {escape(quoted(words_of(there)))}")


def show_changed_facts(console: Console, story: Story) -> None:
    title(console, "What is not so any more")
    for it in story.changes("linked"):
        new, old = (story.memories.get(str(it[end])) for end in ("from_id", "to_id"))
        if it["type"] == "CONTRADICTS" and new and old and old.valid_to:
            until = f"{old.valid_to.day} {old.valid_to:%B}"
            say(console, f"  {escape(old.text)} [dim]until {until}[/dim] → {escape(new.text)}")


def episodes_of_themes(story: Story) -> Counter[str]:
    """By the id of a theme, how many episodes it has."""
    found = Counter({str(it["id"]): len(it["episode_ids"]) for it in story.changes("distilled")})
    found.update(str(it["theme_id"]) for it in story.changes("joined"))
    return found


def show_themes(console: Console, story: Story) -> None:
    title(console, "What keeps coming back, in how many episodes")
    by_speaker: dict[str, list[str]] = {}
    for theme_id, count in episodes_of_themes(story).most_common():
        theme = story.memories.get(theme_id)
        if theme:
            named = f"{' / '.join(theme.content['terms'])} ({count})"
            by_speaker.setdefault(str(theme.content["subject"]), []).append(named)
    for speaker, themes in by_speaker.items():
        lines = fill(
            f"{speaker}: {', '.join(themes)}",
            width=min(console.width, 100),
            initial_indent="  ",
            subsequent_indent=" " * (len(speaker) + 4),
        )
        say(console, escape(lines))


def show_links(console: Console, story: Story) -> None:
    title(console, "The strongest links")
    for link in story.links[:LINKS_SHOWN]:
        ends = (story.memories[end].text for end in (link.from_id, link.to_id))
        one, other = (escape(quoted(words_of(text), LINKED)) for text in ends)
        used = f"[dim]used {link.coactivations} times[/dim]"
        say(console, f"  {link.strength:.2f} {used}  {one} {link.type.value.lower()} {other}")


def show_feelings(console: Console, days: Sequence[Day]) -> None:
    """Valence by the day it was felt, from -1 to 1."""
    felt = feelings(days)
    title(console, "How it felt, from -1 to 1")
    bars = (" " * 4 + "·" if it is None else bar(it) for _, it in felt)
    say(console, "  " + "".join(f"[dim]{day.on.day:>5}[/dim]" for day, _ in felt))
    say(console, "  " + "".join(bars))
    say(console, "  " + "".join(" " * 5 if it is None else f"{it:>+5.1f}" for _, it in felt))


def feelings(days: Sequence[Day]) -> list[tuple[Day, float | None]]:
    """Each day, and the mean valence of the memories that the night formed once it had its 24 h.

    A snapshot tells of everything held; what two have between them is of one day.
    """
    found: list[tuple[Day, float | None]] = []
    held = [(it.night.snapshot or {}).get("feeling", {}) for it in days]
    count = [it.get("memories") or 0 for it in held]
    total = [(it.get("valence") or 0) * n for it, n in zip(held, count, strict=True)]
    for place, day in enumerate(days[:-1]):
        more = count[place + 1] - count[place]
        found.append((day, (total[place + 1] - total[place]) / more if more else None))
    return found


def bar(valence: float) -> str:
    place = round((valence + 1) / 2 * (len(BARS) - 1))
    shown = BARS[max(0, min(place, len(BARS) - 1))]
    return f"    [{'green' if valence > 0 else 'red'}]{shown}[/]"


def show_way_in(console: Console, story: Story, life: Life, browser_url: str | None) -> None:
    """Where to look at it, and what to paste there."""
    title(console, "Look at it")
    where = browser_url or "the Browser of your own Neo4j"
    user = life.settings.neo4j_user
    say(console, f"  {where}, user {user}; `.venv/bin/pentimento status` shows the password.")
    say(console, f"  Drop {STYLE} onto the page, so that nodes show their words, and paste:")
    for told, query in queries(story, life).items():
        say(console, f"\n[dim]// {told}[/dim]\n{escape(query)}")


def queries(story: Story, life: Life) -> dict[str, str]:
    """What to paste into Neo4j Browser, each by what it shows."""
    whose = f"tenant_id: '{life.tenant_id}', persona_id: '{life.persona_id}'"
    found = {
        "What was said on one day, in its order": f"""\
MATCH path = (one:Episodic {{{whose}}})-[:PRECEDES]->(:Episodic)
WHERE date(one.said_at) = date('{story.days[0].on}')
RETURN path LIMIT 40""",
        "What is not so any more, and who said so": f"""\
MATCH path = (:Message)<-[:DRAWN_FROM]-(:Semantic {{{whose}}})
  -[:CONTRADICTS]->(:Semantic)-[:DRAWN_FROM]->(:Message)
RETURN path LIMIT 20""",
    }
    for theme_id, _ in episodes_of_themes(story).most_common(1):
        found["What keeps coming back, its episodes, and the words they were drawn from"] = f"""\
MATCH path = (:Semantic {{tenant_id: '{life.tenant_id}', id: '{theme_id}'}})
  -[:EXTENDS]->(:Episodic)-[:DRAWN_FROM]->(:Message)
RETURN path LIMIT 40"""
    return found


def title(console: Console, text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def say(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True, highlight=False)


def counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.most_common())


def several(count: int, one: str) -> str:
    return f"{count} {one}" if count == 1 else f"{count} {one}s"


def words_of(text: str) -> str:
    """A memory's text without the name of who said it."""
    return text.removeprefix("Sam: ").removeprefix("Ada: ")


def quoted(text: str, longest: int = 70) -> str:
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= longest else f'"{line[: longest - 1]}…"'
