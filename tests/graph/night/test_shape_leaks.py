"""Nothing that was forgotten can be read off a shape: not its words, not its vector.

With FORGET_TALKS naming a file of conversations, one JSON object a line, whole ones are forgotten
as well; they are not ours to keep beside the tests.
"""

import json
import os
import re
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.embedding import Embedder, open_embedder
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.conversations import add_conversation
from engine.talk.models import Conversation
from engine.text.everyday_words import EVERYDAY_WORDS
from tests.lives import BORN, RULES, Life

DAY = timedelta(days=1)
TALKS = os.environ.get("FORGET_TALKS", "")
MOST_TALKS = int(os.environ.get("FORGET_TALKS_MOST", "2"))
GROUPS = (1, 2, 3, 5, 8, 20, 60, 10_000)  # memories archived on each of the days
OURS = [
    f"{who} {what} {where} {extra}."
    for who, what in (
        ("I went for a run with Ottilie", "along the river"),
        ("My sister Wilhelmina baked a cake", "for the garden party"),
        ("We watched a movie about Zanzibar", "at home"),
        ("I practised the guitar piece Recuerdos", "before dinner"),
        ("The dog chased 17 pigeons", "through the park"),
        ("I fixed the kiln of the Brimstone studio", "after work"),
    )
    for where, extra in (
        ("in Tavira", "and it rained"),
        ("near Lagos", "while the kids slept"),
        ("in the old town", "until my knee hurt"),
        ("by the beach", "with a thermos of quince tea"),
    )
]


def talks() -> list[tuple[str, list[tuple[str, str]]]]:
    """Conversations by name: who said what."""
    if not TALKS:
        return [("ours", [("Sam", text) for text in OURS])]
    lines = Path(TALKS).read_text().splitlines()[:MOST_TALKS]
    return [
        (talk["conversation"], [(turn["speaker"], turn["utterance"]) for turn in talk["turns"]])
        for talk in map(json.loads, lines)
    ]


@pytest.fixture
async def real(graph: Graph, tenant_id: str, settings: Settings) -> AsyncIterator[Life]:
    """Ada, with the embedder that the engine is shipped with."""
    embedder: Embedder = open_embedder(settings)
    yield await Life(graph, tenant_id, embedder).begin()
    embedder.close()


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def triples(text: str) -> set[tuple[str, ...]]:
    said = words(text)
    return {tuple(said[place : place + 3]) for place in range(len(said) - 2)}


def telling_words(flagged: list[str], everything: list[str]) -> set[str]:
    """Names, numbers and rare words of what was flagged."""
    used = Counter(word for text in everything for word in set(words(text)))
    names = {
        name.lower() for text in flagged for name in re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", text)
    }
    numbers = {word for text in flagged for word in words(text) if re.search(r"\d", word)}
    rare = {word for text in flagged for word in words(text) if used[word] < 3}
    return names | numbers | (rare - EVERYDAY_WORDS)


@pytest.mark.timeout(3600)
@pytest.mark.spec("SHAPE-03", "SHAPE-04")
async def test_nothing_can_be_read_off_a_shape(real: Life) -> None:
    flagged: list[str] = []
    everything: list[str] = []
    for name, turns in talks():
        await add_conversation(
            real.graph, real.caller, Conversation(name, "studio", ["ada"], BORN, name)
        )
        for place, (speaker, text) in enumerate(turns):
            everything.append(text)
            (said,) = await real.say(
                text, at=BORN + timedelta(seconds=place), speaker=speaker, where=name
            )
            if place % 10 == 3:
                flagged.append(text)
                await flag_message(
                    real.graph, Templates(), real.caller, said, RULES, now=BORN + timedelta(hours=9)
                )
    now = BORN + timedelta(days=3)
    await real.night(now)
    for size in GROUPS:
        await forget_some(real, size)
        now += DAY
        await real.night(now)

    shapes = await real.ask(
        """
        MATCH (s:ForgottenShape {tenant_id: $t, state: 'active'})-[:FELT_AS]->(e)
        RETURN s.text AS text, s.embedding AS vector, e.connected_themes AS themes,
          e.felt_absence AS absence, e.temporal_marker AS marker,
          [(m)-[:SHAPED_INTO]->(s) | m {.text, .embedding}] AS sources"""
    )
    texts = [memory.text for memory in await real.memories()]
    assert shapes
    telling = telling_words(flagged, everything)
    for shape in shapes:
        check_words(shape, telling)
        check_vector(shape)
    assert any(shape["themes"] for shape in shapes)
    assert texts or not TALKS
    for shape in shapes:
        print(len(shape["sources"]), shape["text"])


async def forget_some(life: Life, most: int) -> None:
    """Archive memories as the night would, in an order of no meaning; half of all are left."""
    await life.ask(
        """
        MATCH (m:Memory {tenant_id: $t, state: 'active'})
        WHERE NOT m:ForgottenShape AND m.id < '8'
        WITH m ORDER BY m.id LIMIT $most
        SET m.state = 'archived', m.archived_at = datetime(), m.importance = 1
        REMOVE m.fades_at""",
        most=most,
    )


def check_words(shape: dict[str, Any], telling: set[str]) -> None:
    themes = shape["themes"]
    assert not set(words(themes)) & telling, themes
    said = triples(f"{themes} . {shape['text']}") | triples(shape["absence"])
    theme_words = set(words(themes))
    for source in shape["sources"]:
        # What the template says of every shape gives nothing away.
        shared = {triple for triple in said & triples(source["text"]) if theme_words & {*triple}}
        assert not shared, (shape["text"], source["text"])


def check_vector(shape: dict[str, Any]) -> None:
    vector = np.asarray(shape["vector"])
    cosines = [
        float(vector @ np.asarray(source["embedding"]))
        / float(np.linalg.norm(vector) * np.linalg.norm(source["embedding"]))
        for source in shape["sources"]
    ]
    assert max(cosines) < 0.8, (shape["text"], max(cosines))


def test_the_words_of_what_was_flagged_are_told_apart() -> None:
    told = telling_words(["I met Ottilie on day 17 with a thermos"], ["I met him on day one"] * 3)

    assert {"ottilie", "17", "thermos"} <= told
    assert "met" not in told
