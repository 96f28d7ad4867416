import re
from pathlib import Path
from typing import Any

import pytest

import cypher
from engine.graph import Graph

FILES = sorted(cypher.HERE.rglob("*.cypher"))
NAMES = [str(file.relative_to(cypher.HERE).with_suffix("")) for file in FILES]
PROJECT = cypher.HERE.parent
# The one that runs in the system database, which explains nothing, is run by every start.
EXPLAINED = [name for name in NAMES if name != "setup/set_first_password"]


def body(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.lstrip().startswith("//")]


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_header_lists_exactly_the_parameters_in_use(file: Path) -> None:
    listed = re.findall(r"^// \$(\w+)", file.read_text(), re.M)
    used = {name for line in body(file) for name in re.findall(r"\$(\w+)", line)}

    assert len(listed) == len(set(listed))
    assert set(listed) == used


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_file_opens_with_a_sentence_and_holds_one_cypher_25_statement(file: Path) -> None:
    first, *_ = file.read_text().splitlines()
    statement = "\n".join(body(file)).strip()

    assert re.match(r"// [A-Z].*", first)
    assert statement.startswith("CYPHER 25\n")
    assert ";" not in statement


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_what_a_statement_returns_is_told_in_its_header(file: Path) -> None:
    returns = any(line.startswith("RETURN") for line in body(file))

    assert returns == ("\n// Returns " in file.read_text())


def test_every_statement_is_called_by_its_name_somewhere() -> None:
    code = "\n".join(
        file.read_text()
        for folder in ("engine", "api", "tasks", "ops")
        for file in (PROJECT / folder).rglob("*.py")
    )
    called = {name for name in NAMES if f'"{name}"' in code}

    assert set(NAMES) - called == set(cypher.names("migrations"))


# These do look at every tenant's: all there are of a label is what they ask for.
LOOKS_AT_ALL = {"runs/list_due_personas", "tenants/list_tenants"}


def scans(plan: dict[str, Any]) -> list[str]:
    """The parts of a plan that read every node of a label, whoever's it is."""
    here = [plan["operatorType"]] if "LabelScan" in plan["operatorType"] else []
    return here + [it for part in plan.get("children", []) for it in scans(part)]


@pytest.mark.parametrize("name", EXPLAINED)
async def test_neo4j_takes_every_file_as_it_is(graph: Graph, name: str) -> None:
    """As pasted into Browser: the comments stay in, and nothing in it is on its way out."""
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run(f"EXPLAIN {cypher.statement(name)}")
        summary = await result.consume()

    assert [n.gql_status for n in summary.gql_status_objects if "deprecat" in str(n)] == []
    if not name.startswith(("migrations/", "setup/")) and name not in LOOKS_AT_ALL:
        assert scans(summary.plan or {"operatorType": ""}) == []


def details(plan: dict[str, Any]) -> list[str]:
    here = [str(plan.get("args", {}).get("Details", ""))]
    return here + [it for part in plan.get("children", []) for it in details(part)]


async def test_a_copy_is_looked_up_by_what_it_was_copied_from(graph: Graph) -> None:
    """Even where nothing was ever copied, and all against all would seem to cost nothing."""
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run(f"EXPLAIN {cypher.statement('duplicate/copy_links')}")
        plan = (await result.consume()).plan

    looked_up = [it for it in details(plan or {}) if "copied_from" in it]
    assert len(looked_up) == 2
    assert all("copied_from = " in it for it in looked_up)
