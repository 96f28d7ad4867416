"""Callers pass the parameters that a statement takes: Neo4j ignores one too many, and fails late
on one too few."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cypher

PROJECT = cypher.HERE.parent
MODULES = [
    file for folder in ("engine", "api", "ops") for file in sorted((PROJECT / folder).rglob("*.py"))
]
RUNS = {"read", "write", "write_if", "write_batches"}
OF_THE_CALL = {"write_batches": {"size"}}  # parameters of the method itself


def calls(module: Path) -> Iterator[tuple[str, str, set[str], bool]]:
    """Method, statement, keywords, and whether more come as `**` or positionally."""
    for node in ast.walk(ast.parse(module.read_text())):
        if not isinstance(node, ast.Call):
            continue
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        method = node.func.id if isinstance(node.func, ast.Name) else method
        names = [it.value for it in node.args if isinstance(it, ast.Constant)]
        statement = next((it for it in names if isinstance(it, str) and "/" in it), None)
        if method in RUNS and statement:
            keywords = {it.arg for it in node.keywords if it.arg}
            open_ended = any(it.arg is None for it in node.keywords) or method == "write_batches"
            yield method, statement, keywords, open_ended


CALLS = [
    pytest.param(*call, id=f"{module.stem}-{call[1]}")
    for module in MODULES
    for call in calls(module)
]


@pytest.mark.parametrize(("method", "statement", "keywords", "open_ended"), CALLS)
def test_a_call_passes_what_its_statement_takes(
    method: str, statement: str, keywords: set[str], open_ended: bool
) -> None:
    text = re.sub(r"//.*", "", cypher.statement(statement))
    taken = set(re.findall(r"\$(\w+)", text))

    assert keywords - taken - OF_THE_CALL.get(method, set()) == set()
    assert open_ended or taken - keywords == set()


def test_calls_are_found() -> None:
    assert len(CALLS) > 120
