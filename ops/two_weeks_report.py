"""Prints the simulated two weeks: each day while it runs, then a summary of all."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from rich.console import Console
from rich.markup import escape

from engine.memory import Link, Memory, list_links
from engine.text import fingerprint
from ops.two_weeks import Day, Life, MessageOutcome, read_memories

BARS = "▁▂▃▄▅▆▇█"
MERGES_SHOWN = 15
LINKS_SHOWN = 5
EXAMPLES = 2
EXAMPLE_CHARACTERS, LINK_CHARACTERS = 40, 48  # of a text in a list of several
GRAPH_STYLE = "ops/browser/pentimento.grass"


@dataclass(frozen=True, slots=True)
class Story:
    """The result of the two weeks: their days, and what the persona remembers at the end."""

    days: list[Day]
    memories: dict[str, Memory]  # by id
    links: list[Link]  # of memories that were used, the strongest first

    @property
    def messages(self) -> list[MessageOutcome]:
        return [message for day in self.days for message in day.messages]

    def changes(self, kind: str) -> list[dict[str, Any]]:
        return [change.change for day in self.days for change in day.changes if change.kind == kind]


async def read_story(life: Life, days: list[Day]) -> Story:
    """Read the memories at the end, and the links of those that were used."""
    at_the_end = await read_memories(life, days[-1].night.as_of)
    known = {memory.memory_id: memory for memory in at_the_end}
    links = {
        (link.from_id, link.type, link.to_id): link
        for memory in known.values()
        if memory.access_count
        for link in await list_links(life.graph, life.caller, memory.memory_id)
        if link.from_id in known and link.to_id in known
    }
    strongest_first = sorted(links.values(), key=lambda link: (-link.strength, link.from_id))
    return Story(days, known, strongest_first)


# ── While it runs ────────────────────────────────────────────────────────────────────────────────


def show_day(console: Console, day: Day) -> None:
    """Print two lines: the day's messages, and what its night did with those of earlier days."""
    drawn = Counter(kind for message in day.messages for kind in message.drawn)
    left_out = Counter(reason for message in day.messages for reason in message.left_out)
    parts = [f"{len(day.messages)} messages" if day.messages else "no messages"]
    if drawn:
        parts.append(f"candidates: {counted(drawn)}")
    if left_out:
        parts.append(f"left out: {counted(left_out)}")
    date = f"{day.on:%a} {day.on.day:>2} {day.on:%b}"
    print_line(console, f"[bold]{date}[/bold]  {'; '.join(parts)}")
    changed = "; ".join(night_parts(day)) or "nothing is old enough yet"
    print_line(console, f"  [dim]night[/dim]     {changed}")


def night_parts(day: Day) -> Iterable[str]:
    """What a night changed, as short phrases."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for change in day.changes:
        by_kind.setdefault(change.kind, []).append(change.change)
    if formed := by_kind.get("formed"):
        yield f"{len(formed)} formed"
    if merged := sum(len(change["candidates"]) for change in by_kind.get("merged", [])):
        yield f"{merged} merged"
    if linked := Counter(change["type"].lower() for change in by_kind.get("linked", [])):
        yield f"linked: {counted(linked)}"
    for kind, noun, verb in (
        ("facts_closed", "fact", "closed"),
        ("distilled", "theme", "distilled"),
        ("joined", "episode", "joined a theme"),
        ("strengthened", "link", "stronger"),
    ):
        if kind in by_kind:
            yield f"{plural(len(by_kind[kind]), noun)} {verb}"


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
    drawn = sum(len(message.drawn) for message in story.messages)
    without = sum(not message.drawn for message in story.messages)
    memories = [memory for memory in story.memories.values() if not memory.distilled]
    kept = Counter(memory.memory_type.value for memory in memories)
    linked = Counter(str(link["type"]).lower() for link in story.changes("linked"))
    title(console, "What became memory")
    for line in (
        f"{len(story.messages)} messages gave {drawn} candidates; {without} of them gave none.",
        f"{kept.total()} candidates became memories: {counted(kept)}.",
        f"{len(merges(story))} merged into an existing memory.",
        f"{linked.total()} links: {counted(linked)}.",
        f"{plural(len(story.changes('facts_closed')), 'fact')} closed, "
        f"{plural(len(story.changes('distilled')), 'theme')} distilled; "
        f"{len(story.changes('strengthened'))} times a night made a link stronger.",
    ):
        print_line(console, f"  {line}")


def show_left_out(console: Console, story: Story) -> None:
    title(console, "What was left out, and why: whole messages, and parts of messages")
    for reason, (whole, part) in left_out(story).items():
        quotes = "  ".join(quoted(text, EXAMPLE_CHARACTERS) for text in examples([*whole, *part]))
        name = reason.replace("_", " ")
        print_line(console, f"  {name:<14} {len(whole):>3} {len(part):>3}   {escape(quotes)}")


def examples(messages: Iterable[MessageOutcome]) -> list[str]:
    """Some of these messages, none twice; those with the fewest other reasons first."""
    plainest = sorted(messages, key=lambda message: len(message.left_out) + len(message.drawn))
    texts: dict[str, str] = {}
    for message in plainest:
        texts.setdefault(fingerprint(message.content), message.content)
    return list(texts.values())[:EXAMPLES]


def left_out(story: Story) -> dict[str, tuple[list[MessageOutcome], list[MessageOutcome]]]:
    """By reason, messages that were left out whole, and those that lost a part; most first."""
    by_reason: dict[str, tuple[list[MessageOutcome], list[MessageOutcome]]] = {}
    for message in story.messages:
        for reason in message.left_out:
            whole, part = by_reason.setdefault(reason, ([], []))
            (part if message.drawn else whole).append(message)
    return dict(sorted(by_reason.items(), key=lambda entry: -len(entry[1][0])))


def merges(story: Story) -> list[tuple[str, str]]:
    """Pairs of a candidate's text and the text of the memory it was merged into."""
    return [
        (candidate["text"], str(change["text"]))
        for change in story.changes("merged")
        for candidate in change["candidates"]
    ]


def show_merges(console: Console, story: Story) -> None:
    pairs = merges(story)
    # Pairs of identical sentences are the least interesting.
    shown = sorted(pairs, key=lambda pair: pair[0] == pair[1])[:MERGES_SHOWN]
    title(console, f"What merged: {len(pairs)}" + (f", {len(shown)} of them" * (pairs != shown)))
    for candidate, memory in shown:
        candidate, memory = (escape(quoted(without_speaker(text))) for text in (candidate, memory))
        print_line(console, f"  {candidate} → {memory}")


def show_changed_facts(console: Console, story: Story) -> None:
    title(console, "What is no longer true")
    for link in story.changes("linked"):
        new, old = (story.memories.get(str(link[end])) for end in ("from_id", "to_id"))
        if link["type"] == "CONTRADICTS" and new and old and old.valid_to:
            until = f"{old.valid_to.day} {old.valid_to:%B}"
            old_text, new_text = escape(old.text), escape(new.text)
            print_line(console, f"  {old_text} [dim]until {until}[/dim] → {new_text}")


def episodes_of_themes(story: Story) -> Counter[str]:
    """The number of episodes of each theme, by its id."""
    episodes = Counter(
        {str(theme["id"]): len(theme["episode_ids"]) for theme in story.changes("distilled")}
    )
    episodes.update(str(joined["theme_id"]) for joined in story.changes("joined"))
    return episodes


def show_themes(console: Console, story: Story) -> None:
    title(console, "What keeps coming back, in how many episodes")
    by_speaker: dict[str, list[str]] = {}
    for theme_id, count in episodes_of_themes(story).most_common():
        theme = story.memories.get(theme_id)
        if theme:
            terms = f"{' / '.join(theme.content['terms'])} ({count})"
            by_speaker.setdefault(str(theme.content["subject"]), []).append(terms)
    for speaker, themes in by_speaker.items():
        lines = fill(
            f"{speaker}: {', '.join(themes)}",
            width=min(console.width, 100),
            initial_indent="  ",
            subsequent_indent=" " * (len(speaker) + 4),
        )
        print_line(console, escape(lines))


def show_links(console: Console, story: Story) -> None:
    title(console, "The strongest links")
    for link in story.links[:LINKS_SHOWN]:
        texts = (story.memories[end].text for end in (link.from_id, link.to_id))
        source, target = (escape(quoted(without_speaker(text), LINK_CHARACTERS)) for text in texts)
        used = f"[dim]used {link.coactivations} times[/dim]"
        type_ = link.type.value.lower()
        print_line(console, f"  {link.strength:.2f} {used}  {source} {type_} {target}")


def show_feelings(console: Console, days: Sequence[Day]) -> None:
    """Print the mean valence of each day, from -1 to 1."""
    title(console, "How it felt, from -1 to 1")
    rows = ["  ", "  ", "  "]
    for day, valence in feelings(days):
        rows[0] += f"[dim]{day.on.day:>5}[/dim]"
        rows[1] += " " * 4 + "·" if valence is None else bar(valence)
        rows[2] += " " * 5 if valence is None else f"{valence:>+5.1f}"
    for row in rows:
        print_line(console, row)


def feelings(days: Sequence[Day]) -> list[tuple[Day, float | None]]:
    """Each day with the mean valence of its memories, which are formed in the night after next.

    A night's snapshot has the mean over all memories; the difference of two is that of one day.
    """
    snapshots = [(day.night.snapshot or {}).get("feeling", {}) for day in days]
    counts = [feeling.get("memories") or 0 for feeling in snapshots]
    sums = [
        (feeling.get("valence") or 0) * count
        for feeling, count in zip(snapshots, counts, strict=True)
    ]
    result: list[tuple[Day, float | None]] = []
    for index, day in enumerate(days[:-1]):
        formed = counts[index + 1] - counts[index]
        result.append((day, (sums[index + 1] - sums[index]) / formed if formed else None))
    return result


def bar(valence: float) -> str:
    level = round((valence + 1) / 2 * (len(BARS) - 1))
    shown = BARS[max(0, min(level, len(BARS) - 1))]
    return f"    [{'green' if valence > 0 else 'red'}]{shown}[/]"


def show_next_steps(
    console: Console, story: Story, life: Life, browser_url: str | None, command: str
) -> None:
    """Print how to ask this persona something, and what to paste into Neo4j Browser."""
    title(console, "Ask her")
    url = f"$API/personas/{life.persona_id}/recall"
    body = '{"query": "Where does Sam live?"}'
    print_line(console, f'  eval "$({command} env)"')
    print_line(console, escape(f"""  curl -s -H "Authorization: Bearer $KEY" -d '{body}' {url}"""))
    title(console, "Look at the graph")
    browser = browser_url or "the Browser of your own Neo4j"
    user = life.settings.neo4j_user
    print_line(console, f"  {browser}, user {user}; `{command} status` shows the password.")
    print_line(
        console, f"  Drop {GRAPH_STYLE} onto the page, so that nodes show their texts. Paste:"
    )
    for shows, query in queries(story, life).items():
        print_line(console, f"\n[dim]// {shows}[/dim]\n{escape(query)}")


def queries(story: Story, life: Life) -> dict[str, str]:
    """Cypher for Neo4j Browser, by what it shows."""
    of_persona = f"tenant_id: '{life.tenant_id}', persona_id: '{life.persona_id}'"
    by_purpose = {
        "The memories of one day, in their order": f"""\
MATCH path = (one:Episodic {{{of_persona}}})-[:PRECEDES]->(:Episodic)
WHERE date(one.said_at) = date('{story.days[0].on}')
RETURN path LIMIT 40""",
        "What is no longer true, and the messages that say so": f"""\
MATCH path = (:Message)<-[:DRAWN_FROM]-(:Semantic {{{of_persona}}})
  -[:CONTRADICTS]->(:Semantic)-[:DRAWN_FROM]->(:Message)
RETURN path LIMIT 20""",
    }
    for theme_id, _ in episodes_of_themes(story).most_common(1):
        by_purpose["The most frequent theme, its episodes and their messages"] = f"""\
MATCH path = (:Semantic {{tenant_id: '{life.tenant_id}', id: '{theme_id}'}})
  -[:EXTENDS]->(:Episodic)-[:DRAWN_FROM]->(:Message)
RETURN path LIMIT 40"""
    return by_purpose


def title(console: Console, text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def print_line(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True, highlight=False)


def counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.most_common())


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def without_speaker(text: str) -> str:
    """A memory's text without the name of its speaker."""
    return text.removeprefix("Sam: ").removeprefix("Ada: ")


def quoted(text: str, max_characters: int = 70) -> str:
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= max_characters else f'"{line[: max_characters - 1]}…"'
