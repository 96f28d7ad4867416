"""The curves of the policy as the graph computes them, over many values."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cypher.fragments import fragment, renamed
from engine.policy.policy import Figures, salience_after
from engine.store.graph import Graph
from tests.conftest import Statements
from tests.curves import importance_after, salience_used, strengthened
from tests.lives import FIRST_NIGHT, Life

CURVES = ("linear", "exponential", "power", "none")
PERIODS = (*range(13), 40, 500)
SHARES = (0.0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1.0)
STRENGTHS = [(strength, rate) for strength in SHARES for rate in SHARES]


def figures(**changes: Any) -> Figures:
    return msgspec.convert(changes, Figures)


@pytest.mark.spec("CONS-11")
@pytest.mark.parametrize(
    ("curve", "left_of_eight"),
    [
        ("linear", [8, 7, 6, 5, 1]),
        ("exponential", [8, 6, 5, 4, 1]),
        ("power", [8, 6, 5, 4, 2]),
        ("none", [8, 8, 8, 8, 8]),
    ],
)
async def test_importance_falls_along_the_chosen_curve_and_stays_on_its_scale(
    life: Life, curve: str, left_of_eight: list[int]
) -> None:
    chosen = figures(decay_curve=curve)
    cases = [(importance, periods) for importance in range(1, 11) for periods in PERIODS]
    await add_unused_memories(life, cases, chosen)

    await life.graph.write(
        "night/fading/decay_importance",
        tenant_id=life.tenant_id,
        persona_id="ada",
        run_id="run",
        place=1,
        as_of=FIRST_NIGHT,
        limit=1_000,
        figures={"episodic": msgspec.to_builtins(chosen)},
    )

    rows = await life.ask(
        "MATCH (m:Memory {tenant_id: $t}) RETURN m.first AS first, m.periods AS periods, "
        "m.importance AS importance"
    )
    after = {(row["first"], row["periods"]): row["importance"] for row in rows}
    assert after == {case: importance_after(*case, chosen) for case in cases}
    assert [after[8, periods] for periods in (0, 1, 2, 3, 12)] == left_of_eight
    for importance in range(1, 11):
        falling = [after[importance, periods] for periods in PERIODS]
        assert all(1 <= later <= now <= importance for now, later in pairwise(falling))


async def add_unused_memories(life: Life, cases: list[tuple[int, int]], chosen: Figures) -> None:
    """A memory for each case of an importance and how many periods it was not used."""
    await life.ask(
        """
        CREATE (:Run {tenant_id: $t, id: 'run', persona_id: 'ada'})
        WITH 1 AS once
        UNWIND $rows AS row
        CREATE (:Memory {tenant_id: $t, persona_id: 'ada', id: row.id, memory_type: 'episodic',
          state: 'active', pinned: false, access_count: 1, importance: row.importance,
          first: row.importance, periods: row.periods, idle_importance: row.importance,
          idle_since: row.idle_since, formed_at: row.idle_since, fades_at: $now})
        """,
        now=FIRST_NIGHT,
        rows=[
            {
                "id": f"{importance}-{periods}",
                "importance": importance,
                "periods": periods,
                "idle_since": FIRST_NIGHT - timedelta(days=(periods + 0.5) * chosen.decay_days),
            }
            for importance, periods in cases
        ],
    )


rows = st.fixed_dictionaries(
    {
        "salience": st.floats(0, 1),
        "days": st.floats(0, 3650),
        "figures": st.fixed_dictionaries(
            {
                "decay_curve": st.sampled_from(CURVES),
                "salience_mean": st.floats(0, 1),
                "salience_pull": st.floats(0, 1),
                "salience_fade": st.floats(0, 1),
            }
        ),
    }
)


@given(st.lists(rows, min_size=20, max_size=100))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_python_and_cypher_agree_on_what_time_leaves_of_a_salience(
    graph: Graph, statements: Statements, given_rows: list[dict[str, Any]]
) -> None:
    statements(
        current_salience=f"""
        UNWIND range(0, size($rows) - 1) AS place
        WITH place, $rows[place] AS memory, $rows[place].figures AS figures
        {renamed(fragment("current_salience"), "")}
        RETURN faded
        ORDER BY place
        """
    )
    memories = [
        row | {"salience_at": since(row["days"]), "uses_on": None, "uses_today": 0}
        for row in given_rows
    ]

    answer = await graph.read("current_salience", rows=memories, now=FIRST_NIGHT)

    expected = [
        salience_after(
            row["salience"],
            (FIRST_NIGHT - row["salience_at"]) / timedelta(days=1),
            figures(**row["figures"]),
        )
        for row in memories
    ]
    assert [row["faded"] for row in answer] == pytest.approx(expected, abs=1e-9)


def since(days: float) -> datetime:
    """To the millisecond, as the graph counts time here."""
    return FIRST_NIGHT - timedelta(milliseconds=round(days * 86_400_000))


async def test_each_further_use_of_a_day_gives_less(life: Life) -> None:
    cases = [(salience, uses) for salience in SHARES for uses in (*range(10), 100, 1_000)]
    await life.ask(
        """
        UNWIND $rows AS row
        CREATE (:Memory {tenant_id: $t, persona_id: 'ada', id: row.id, memory_type: 'episodic',
          salience: row.salience, salience_at: $now, uses_on: date($now), uses_today: row.uses,
          importance: 5, access_count: 0})
        """,
        now=FIRST_NIGHT,
        rows=[
            {"id": f"{salience}-{uses}", "salience": salience, "uses": uses}
            for salience, uses in cases
        ],
    )

    await count_uses(life, [([f"{salience}-{uses}"], figures()) for salience, uses in cases])

    after = {
        row["id"]: row["salience"]
        for row in await life.ask(
            "MATCH (m:Memory {tenant_id: $t}) RETURN m.id AS id, m.salience AS salience"
        )
    }
    expected = {f"{s}-{uses}": salience_used(s, uses, figures()) for s, uses in cases}
    assert after == pytest.approx(expected)
    for salience in SHARES:
        gains = [after[f"{salience}-{uses}"] for uses in (*range(10), 100, 1_000)]
        assert all(salience <= later <= now <= 1 for now, later in pairwise(gains))


async def test_strengthening_never_leaves_the_scale(life: Life) -> None:
    await life.ask(
        """
        UNWIND $rows AS row
        CREATE (a:Memory {tenant_id: $t, persona_id: 'ada', id: row.id + 'a'})
        CREATE (b:Memory {tenant_id: $t, persona_id: 'ada', id: row.id + 'b'})
        SET a += $properties, b += $properties
        CREATE (a)-[link:ENABLES {strength: row.strength, coactivations: 0}]->(b)
        """,
        properties={
            "memory_type": "episodic",
            "salience": 0.5,
            "salience_at": FIRST_NIGHT,
            "importance": 5,
            "access_count": 0,
        },
        rows=[{"id": f"{place}", "strength": s} for place, (s, _) in enumerate(STRENGTHS)],
    )

    await count_uses(
        life,
        [
            ([f"{place}a", f"{place}b"], figures(coactivate_rate=rate))
            for place, (_, rate) in enumerate(STRENGTHS)
        ],
    )

    rows = await life.ask(
        "MATCH (a:Memory {tenant_id: $t})-[link:ENABLES]->() RETURN a.id AS id, "
        "link.strength AS strength"
    )
    after = {row["id"]: row["strength"] for row in rows}
    for place, (strength, rate) in enumerate(STRENGTHS):
        assert after[f"{place}a"] == pytest.approx(strengthened(strength, rate))
        assert strength <= after[f"{place}a"] + 1e-12 <= 1 + 1e-12


async def count_uses(life: Life, uses: list[tuple[list[str], Figures]]) -> None:
    """Count each use of some memories, under figures of its own."""
    await life.graph.write(
        "memory/memories/count_uses",
        uses=[
            {
                "id": f"use-{place}",
                "tenant_id": life.tenant_id,
                "persona_id": "ada",
                "memory_ids": memory_ids,
                "at": FIRST_NIGHT,
                "figures": {"episodic": msgspec.to_builtins(chosen)},
                "whole": True,
                "user_id": None,
                "instance_ids": None,
            }
            for place, (memory_ids, chosen) in enumerate(uses)
        ],
    )
