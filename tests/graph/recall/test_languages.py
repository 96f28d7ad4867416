"""What works in which language, with the default encoder. docs/languages.md tells the figures."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.embedding import Embedder, open_embedder
from engine.extraction.gate import gate
from engine.extraction.rule_based import ExtractionInput, extract
from engine.models import MemoryType
from engine.recall.recall import Recall
from engine.settings import Settings
from engine.store.graph import Graph
from tests.lives import BORN, FIRST_NIGHT, Life
from tests.servers import INSTALLED

TALKS = Path(__file__).parents[2] / "languages"
TABLE = Path(__file__).parents[3] / "docs" / "languages.md"
TOP = 5


@dataclass(frozen=True)
class Floor:
    """What a language must give at least."""

    facts: int  # semantic items of the thirty messages
    feelings: int  # somatic items
    answered: int  # questions of twelve whose message is among the first five hits


FLOORS = {
    "english": Floor(facts=12, feelings=2, answered=12),
    "german": Floor(facts=11, feelings=0, answered=10),
    "spanish": Floor(facts=12, feelings=0, answered=10),
    "japanese": Floor(facts=0, feelings=0, answered=10),
    "arabic": Floor(facts=0, feelings=0, answered=10),
}


def read_talk(language: str) -> dict[str, Any]:
    return tomllib.loads((TALKS / f"{language}.toml").read_text())


def kinds_of(messages: list[str]) -> Counter[MemoryType]:
    """How many items of each type the messages give."""
    inputs = [ExtractionInput("m", "Sam", "user", message, BORN, "") for message in messages]
    return Counter(item.memory_type for said in inputs for item in extract(said).items)


@pytest.fixture(scope="module")
def encoder() -> Iterator[Embedder]:
    embedder = open_embedder(Settings(_env_file=None, home=INSTALLED))
    yield embedder
    embedder.close()


@pytest.mark.parametrize("language", FLOORS)
def test_the_gate_and_the_rules_give_what_the_table_says(language: str) -> None:
    talk, floor = read_talk(language), FLOORS[language]

    kinds = kinds_of(talk["messages"])

    assert kinds[MemoryType.EPISODIC] == len(talk["messages"]) == 30
    assert [gate(message).content for message in talk["junk"]] == ["", "", ""]
    assert kinds[MemoryType.SEMANTIC] >= floor.facts
    assert kinds[MemoryType.SOMATIC] >= floor.feelings


@pytest.mark.parametrize("language", FLOORS)
async def test_questions_find_the_message_that_answers_them(
    graph: Graph, tenant_id: str, encoder: Embedder, language: str
) -> None:
    talk = read_talk(language)
    life = await Life(graph, tenant_id, encoder).begin()
    ids = await life.say(*talk["messages"])
    await life.night(FIRST_NIGHT)
    recall = Recall(graph, encoder, seconds=60)

    missed = []
    for asked, number in talk["questions"]:
        result = await recall.recall(
            tenant_id, "ada", asked, now=FIRST_NIGHT, limit=TOP, asked_by="Sam"
        )
        if ids[number - 1] not in [hit.source_message_id for hit in result.hits]:
            missed.append(asked)
    answered = len(talk["questions"]) - len(missed)

    print(f"{language}: recall@{TOP} {answered} of {len(talk['questions'])}; missed {missed}")
    assert answered >= FLOORS[language].answered


def test_the_table_tells_the_figures_that_are_held_here() -> None:
    rows = re.findall(
        r"^\| (\w+) \| (\d+) \| (\d+) \|.* (\d+) of 12 \|$", TABLE.read_text(), re.MULTILINE
    )

    told = {
        language.lower(): Floor(*map(int, (facts, feelings, answered)))
        for language, facts, feelings, answered in rows
    }
    assert told == FLOORS
