"""Episodes that keep returning to one theme yield a semantic memory of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.candidates import as_text
from engine.embedding import about_tokens, unit
from engine.facets import Facets, shelf
from engine.graph import Row, Write
from engine.models import id_from
from engine.night.integrate import content_of, period
from engine.night.steps import RunInHand, Step
from engine.night.themes import is_about, listed, one_theme

AT_ONCE = 100  # episodes in one step
CATEGORY = "pattern"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a batch of new episodes comes to."""

    themes: list[Row]
    joins: list[Row]


async def distil(run: RunInHand) -> dict[str, int]:
    while await run.step("distil", lambda write, _: distil_some(run, write)):
        pass
    return {}


async def distil_some(run: RunInHand, write: Write) -> Step | None:
    figures = run.policy.types["episodic"]
    rows = await write(
        "distil/list_new", **run.whose, limit=AT_ONCE, similarity=figures.distil_threshold
    )
    if not rows:
        return None
    plan = plan_themes(rows, run)
    distilled = await write("distil/form_theme", **run.whose, rows=plan.themes, as_of=run.as_of)
    joined = await write(
        "distil/join_theme", tenant_id=run.tenant_id, rows=plan.joins, as_of=run.as_of
    )
    await write(
        "link/settle",
        tenant_id=run.tenant_id,
        ids=[row["episode"]["id"] for row in rows],
        awaits={},
    )
    return Step(
        {"distilled": len(distilled), "joined": len(joined), "memories": len(rows)},
        {"distilled": distilled, "joined": joined},
        more=len(rows) == AT_ONCE,
    )


def plan_themes(rows: Sequence[Row], run: RunInHand) -> Plan:
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
        theme = next((it for it in known if speaks_of(episode, it)), None)
        if theme:
            theme_of[episode["id"]] = theme
            plan.joins.append(
                {"theme_id": theme["id"], "episode_id": episode["id"], "strength": strength}
            )
            continue
        free = [episode, *(it for it in near if it["id"] not in theme_of)]
        places, terms = one_theme([said_in(it) for it in free], least=least)
        group = [free[place] for place in places]
        days = {it["said_at"].date() for it in group}
        if len(days) > 1 and terms:
            founded = theme_row(run, group, terms, strength)
            plan.themes.append(founded)
            theme_of |= dict.fromkeys((it["id"] for it in group), founded)
    return plan


def said_in(episode: Row) -> str:
    return str(content_of(episode).get("said", ""))


def speaks_of(episode: Row, theme: Row) -> bool:
    """Whether an episode says the first thing that a theme is named by."""
    terms = content_of(theme).get("terms") or [""]
    return bool(terms[0]) and is_about(said_in(episode), terms[0])


def theme_row(run: RunInHand, group: Sequence[Row], terms: Sequence[str], strength: float) -> Row:
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
    text = f"{about or 'Somebody'} keeps coming back to {listed(terms)}."
    meaning = unit(np.mean([it["embedding"] for it in group], axis=0))
    return {
        "id": id_from(run.persona.id, *sorted(it["id"] for it in group)),
        "text": text,
        "token_estimate": about_tokens(text),
        "content": as_text(content),
        "about": about,
        "category": CATEGORY,
        "said_at": last,
        "valid_from": first,
        "fades_at": run.as_of + period(run.policy, "semantic", CATEGORY),
        "strength": strength,
        "embedding": meaning,
        "facets": Facets(meaning).pack(),
        "shelf": shelf(run.tenant_id, run.persona.id),
        "episode_ids": [it["id"] for it in group],
    }
