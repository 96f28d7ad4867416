"""Distillation: episodes that keep returning to one theme yield a semantic memory of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.embedding import MemoryVectors, estimate_tokens, normalized, search_scope
from engine.ids import id_from
from engine.memory import decode_content, encode_content
from engine.models import Row
from engine.night.integrate import decay_period
from engine.night.steps import ActiveRun, Step, run_in_batches
from engine.store import Write
from engine.text import (
    MAX_READ_CHARACTERS,
    WordForms,
    is_about,
    join_with_and,
    name_theme,
    term_hashes,
)

BATCH_SIZE = 50  # episodes in one step
MIN_NEIGHBOURS = 20  # similar episodes read for each; more if the policy wants large themes
MAX_CACHED_TEXTS = 2_000
CATEGORY = "pattern"


@dataclass(frozen=True, slots=True)
class ThemePlan:
    """The themes that a batch of episodes founds, and the themes that episodes join."""

    themes: list[Row]
    joins: list[Row]


@dataclass(frozen=True, slots=True)
class WordFormsCache:
    """The word forms of episodes by id: each episode is a neighbour of several others."""

    word_forms: dict[str, WordForms] = field(default_factory=dict)

    def of(self, episode: Row) -> WordForms:
        """The word forms of an episode, from the cache if they are in it."""
        if episode["id"] not in self.word_forms:
            while len(self.word_forms) >= MAX_CACHED_TEXTS:
                oldest_id = next(iter(self.word_forms))
                del self.word_forms[oldest_id]
            self.word_forms[episode["id"]] = WordForms.of(text_without_speaker(episode))
        return self.word_forms[episode["id"]]


async def distil(run: ActiveRun) -> dict[str, int]:
    """Find the themes of all episodes that await one. Returns how many were set aside, if any."""
    cache = WordFormsCache()
    set_aside = await run_in_batches(
        run,
        "distil",
        lambda write, limit: distil_batch(run, write, cache, limit),
        batch_size=BATCH_SIZE,
    )
    return {"set_aside": set_aside} if set_aside else {}


async def distil_batch(
    run: ActiveRun, write: Write, cache: WordFormsCache, limit: int
) -> Step | None:
    """Find the themes of up to `limit` episodes."""
    figures = run.policy.types["episodic"]
    rows = await write(
        "night/distillation/list_new_episodes",
        **run.persona_parameters,
        limit=limit,
        near=max(MIN_NEIGHBOURS, 2 * figures.distil_episodes),
        similarity=figures.distil_threshold,
        characters=2 * MAX_READ_CHARACTERS,
    )
    if not rows:
        return None
    plan = await asyncio.to_thread(plan_themes, rows, run, cache)
    distilled = await write(
        "night/distillation/form_theme",
        **run.persona_parameters,
        rows=plan.themes,
        as_of=run.as_of,
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
        changed_ids=[
            *(id_ for row in distilled for id_ in (row["id"], *row["episode_ids"])),
            *(row[end] for row in joined for end in ("theme_id", "episode_id")),
        ],
        adds_items=bool(distilled),
        more=len(rows) == limit,
    )


def plan_themes(rows: Sequence[Row], run: ActiveRun, cache: WordFormsCache) -> ThemePlan:
    """Each episode in turn joins the theme of its nearest neighbour that it names too.

    Without such a theme it founds one, with its neighbours that have none.
    """
    strength = run.policy.figures.link_strength
    theme_of: dict[str, Row] = {}  # by episode id
    plan = ThemePlan([], [])
    for row in rows:
        episode, neighbours = row["episode"], one_of_each_message(row["episode"], row["near"])
        for stored in [episode, *neighbours]:
            if stored["themes"]:
                theme_of.setdefault(stored["id"], stored["themes"][0])
        if episode["id"] in theme_of:
            continue
        themes = (theme_of[near["id"]] for near in neighbours if near["id"] in theme_of)
        word_forms = cache.of(episode)
        theme = next((theme for theme in themes if names_theme(word_forms, theme)), None)
        if theme:
            theme_of[episode["id"]] = theme
            plan.joins.append(
                {"theme_id": theme["id"], "episode_id": episode["id"], "strength": strength}
            )
            continue
        without_theme = [episode, *(near for near in neighbours if near["id"] not in theme_of)]
        if founded := found_theme(run, without_theme, cache):
            plan.themes.append(founded)
            theme_of |= dict.fromkeys(founded["episode_ids"], founded)
    return plan


def one_of_each_message(episode: Row, neighbours: Sequence[Row]) -> list[Row]:
    """The nearest neighbour of each message other than the episode's own, the nearest first.

    A theme keeps returning: what one long message says in several passages is said once.
    """
    nearest: dict[str, Row] = {}
    for near in neighbours:
        nearest.setdefault(near["source_id"] or near["id"], near)
    return [near for source, near in nearest.items() if source != episode["source_id"]]


def found_theme(run: ActiveRun, episodes: Sequence[Row], cache: WordFormsCache) -> Row | None:
    """The theme that enough of the episodes share on more than one day; None without one."""
    min_episodes = run.policy.types["episodic"].distil_episodes
    places, terms = name_theme([cache.of(episode) for episode in episodes], min_texts=min_episodes)
    group = [episodes[place] for place in places]
    days = {episode["said_at"].date() for episode in group}
    return theme_row(run, group, terms) if len(days) > 1 and terms else None


def text_without_speaker(episode: Row) -> str:
    return str(episode["text"]).removeprefix(f"{episode['about']}: ")


def names_theme(word_forms: WordForms, theme: Row) -> bool:
    """Whether a text contains the first term of a theme."""
    terms = decode_content(theme["content"]).get("terms") or [""]
    return bool(terms[0]) and is_about(word_forms, terms[0])


def theme_row(run: ActiveRun, group: Sequence[Row], terms: Sequence[str]) -> Row:
    """A semantic memory of a theme: named by the terms, its vector the mean of its episodes'."""
    about = group[0]["about"]
    first = min(episode["said_at"] for episode in group)
    last = max(episode["said_at"] for episode in group)
    content: dict[str, Any] = {
        "kind": CATEGORY,
        "subject": about,
        "terms": list(terms),
        "episodes": len(group),
        "first": first.isoformat(),
        "last": last.isoformat(),
    }
    text = f"{about or 'Somebody'} keeps coming back to {join_with_and(terms)}."
    vector = normalized(np.mean([episode["embedding"] for episode in group], axis=0))
    return {
        "id": id_from(run.persona.id, *sorted(episode["id"] for episode in group)),
        "text": text,
        "token_estimate": estimate_tokens(text),
        "content": encode_content(content),
        "about": about,
        "category": CATEGORY,
        "said_at": last,
        "valid_from": first,
        "fades_at": run.as_of + decay_period(run.policy, "semantic", CATEGORY),
        "strength": run.policy.figures.link_strength,
        "embedding": vector,
        "packed_vectors": MemoryVectors(vector, terms=term_hashes(text)).pack(),
        "search_scope": search_scope(run.tenant_id, run.persona.id),
        "episode_ids": [episode["id"] for episode in group],
    }
