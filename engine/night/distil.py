"""Episodes that keep returning to one theme yield a semantic memory of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.embedding import MemoryVectors, estimate_tokens, normalized, search_scope
from engine.ids import id_from
from engine.memory import decode_content, encode_content
from engine.models import Row
from engine.night.integrate import period
from engine.night.steps import ActiveRun, Step, in_batches
from engine.store import Write
from engine.text import MAX_READ_CHARACTERS, WordForms, is_about, join_with_and, name_theme

AT_ONCE = 50  # episodes in one step
NEAR = 20  # related episodes looked at for each, unless the policy wants more of them for a theme
READINGS_KEPT = 2_000
CATEGORY = "pattern"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a batch of new episodes comes to."""

    themes: list[Row]
    joins: list[Row]


@dataclass(frozen=True, slots=True)
class Readings:
    """What was read of episodes in this run: each is near to several others, and read once."""

    kept: dict[str, WordForms] = field(default_factory=dict)

    def of(self, episode: Row) -> WordForms:
        if episode["id"] not in self.kept:
            while len(self.kept) >= READINGS_KEPT:
                del self.kept[next(iter(self.kept))]  # the one that was read first
            self.kept[episode["id"]] = WordForms.of(said_in(episode))
        return self.kept[episode["id"]]


async def distil(run: ActiveRun) -> dict[str, int]:
    readings = Readings()
    aside = await in_batches(
        run,
        "distil",
        lambda write, limit: distil_some(run, write, readings, limit),
        at_once=AT_ONCE,
    )
    return {"set_aside": aside} if aside else {}


async def distil_some(run: ActiveRun, write: Write, readings: Readings, limit: int) -> Step | None:
    figures = run.policy.types["episodic"]
    rows = await write(
        "night/distillation/list_new_episodes",
        **run.whose,
        limit=limit,
        near=max(NEAR, 2 * figures.distil_episodes),
        similarity=figures.distil_threshold,
        characters=2 * MAX_READ_CHARACTERS,
    )
    if not rows:
        return None
    plan = await asyncio.to_thread(plan_themes, rows, run, readings)
    distilled = await write(
        "night/distillation/form_theme", **run.whose, rows=plan.themes, as_of=run.as_of
    )
    joined = await write(
        "night/distillation/join_theme", tenant_id=run.tenant_id, rows=plan.joins, as_of=run.as_of
    )
    await write(
        "night/linking/set_next_stage",
        tenant_id=run.tenant_id,
        ids=[row["episode"]["id"] for row in rows],
        awaits={},
    )
    return Step(
        {"distilled": len(distilled), "joined": len(joined), "memories": len(rows)},
        {"distilled": distilled, "joined": joined},
        more=len(rows) == limit,
    )


def plan_themes(rows: Sequence[Row], run: ActiveRun, readings: Readings) -> Plan:
    """Each episode in turn joins the theme of the nearest that it speaks of too, or founds one."""
    strength = run.policy.figures.link_strength
    least = run.policy.types["episodic"].distil_episodes
    theme_of: dict[str, Row] = {}
    plan = Plan([], [])
    for row in rows:
        episode, near = row["episode"], row["near"]
        for it in [episode, *near]:
            if it["themes"]:
                theme_of.setdefault(it["id"], it["themes"][0])
        if episode["id"] in theme_of:
            continue
        known = (theme_of[it["id"]] for it in near if it["id"] in theme_of)
        theme = next((it for it in known if speaks_of(readings.of(episode), it)), None)
        if theme:
            theme_of[episode["id"]] = theme
            plan.joins.append(
                {"theme_id": theme["id"], "episode_id": episode["id"], "strength": strength}
            )
            continue
        free = [episode, *(it for it in near if it["id"] not in theme_of)]
        places, terms = name_theme([readings.of(it) for it in free], min_texts=least)
        group = [free[place] for place in places]
        days = {it["said_at"].date() for it in group}
        if len(days) > 1 and terms:
            founded = theme_row(run, group, terms, strength)
            plan.themes.append(founded)
            theme_of |= dict.fromkeys((it["id"] for it in group), founded)
    return plan


def said_in(episode: Row) -> str:
    """What was said, without who said it."""
    return str(episode["text"]).removeprefix(f"{episode['about']}: ")


def speaks_of(reading: WordForms, theme: Row) -> bool:
    """Whether an episode says the first thing that a theme is named by."""
    terms = decode_content(theme["content"]).get("terms") or [""]
    return bool(terms[0]) and is_about(reading, terms[0])


def theme_row(run: ActiveRun, group: Sequence[Row], terms: Sequence[str], strength: float) -> Row:
    """A semantic memory of a theme, named by what its episodes share, in the middle of them."""
    about = group[0]["about"]
    first, last = (pick(it["said_at"] for it in group) for pick in (min, max))
    content: dict[str, Any] = {
        "kind": CATEGORY,
        "subject": about,
        "terms": list(terms),
        "episodes": len(group),
        "first": first.isoformat(),
        "last": last.isoformat(),
    }
    text = f"{about or 'Somebody'} keeps coming back to {join_with_and(terms)}."
    meaning = normalized(np.mean([it["embedding"] for it in group], axis=0))
    return {
        "id": id_from(run.persona.id, *sorted(it["id"] for it in group)),
        "text": text,
        "token_estimate": estimate_tokens(text),
        "content": encode_content(content),
        "about": about,
        "category": CATEGORY,
        "said_at": last,
        "valid_from": first,
        "fades_at": run.as_of + period(run.policy, "semantic", CATEGORY),
        "strength": strength,
        "embedding": meaning,
        "packed_vectors": MemoryVectors(meaning).pack(),
        "search_scope": search_scope(run.tenant_id, run.persona.id),
        "episode_ids": [it["id"] for it in group],
    }
