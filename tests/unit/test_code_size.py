"""Code stays small enough to be read at one sitting."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
FOLDERS = ("api", "bench", "cypher", "engine", "ops", "tasks")
MODULES = sorted(file for folder in FOLDERS for file in (PROJECT / folder).rglob("*.py"))
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 50
SHORT_FUNCTION_LINES = 25
MAX_REPEATED_LINES = 9
WIRING = {"create_app"}  # one call after another, nothing to decide


def functions(module: Path) -> list[tuple[str, int]]:
    """Name and number of lines of every function of a module."""
    return [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def named(module: Path) -> str:
    return str(module.relative_to(PROJECT))


@pytest.mark.parametrize("module", MODULES, ids=named)
def test_a_module_has_at_most_400_lines_and_its_functions_50(module: Path) -> None:
    long = [it for it in functions(module) if it[1] > MAX_FUNCTION_LINES and it[0] not in WIRING]

    assert len(module.read_text().splitlines()) <= MAX_MODULE_LINES
    assert long == []


def test_nine_functions_in_ten_have_less_than_25_lines() -> None:
    sizes = [lines for module in MODULES for _, lines in functions(module)]

    assert sum(lines < SHORT_FUNCTION_LINES for lines in sizes) >= 0.9 * len(sizes)


def test_no_run_of_ten_lines_stands_twice() -> None:
    """Imports, blank lines and lines of brackets alone aside."""
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for module in MODULES:
        lines = [
            (number, line.strip())
            for number, line in enumerate(module.read_text().splitlines(), 1)
            if any(letter.isalnum() for letter in line)
            and not line.startswith(("from ", "import ", "    from "))
        ]
        for start in range(len(lines) - MAX_REPEATED_LINES):
            run = tuple(text for _, text in lines[start : start + MAX_REPEATED_LINES + 1])
            places[run].append(f"{named(module)}:{lines[start][0]}")

    assert [where for where in places.values() if len(where) > 1] == []
