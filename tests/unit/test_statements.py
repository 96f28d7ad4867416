import re
from pathlib import Path

import pytest

import cypher
from engine.store.graph import Graph
from tests.plans import explained, parts

PROJECT = cypher.HERE.parent
MIGRATIONS = cypher.names("store/migrations")
FRAGMENTS = cypher.names("fragments")
NAMES = [
    name
    for file in sorted(cypher.HERE.rglob("*.cypher"))
    if (name := str(file.relative_to(cypher.HERE).with_suffix(""))) not in {*MIGRATIONS, *FRAGMENTS}
]
FILES = [cypher.HERE / f"{name}.cypher" for name in NAMES]
# The one that runs in the system database, which explains nothing, is run by every start.
EXPLAINED = [name for name in NAMES if name != "store/setup/set_first_password"]


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
def test_a_header_says_what_a_statement_returns(file: Path) -> None:
    returns = any(line.startswith("RETURN") for line in body(file))

    assert returns == ("\n// Returns " in file.read_text())


@pytest.mark.parametrize("name", NAMES)
def test_sections_are_those_of_the_table_of_contents(name: str) -> None:
    text = cypher.statement(name)

    contents = re.findall(r"^//   (\d .+)$", text, re.M)
    assert re.findall(r"^// ── (\d .+?) ─+$", text, re.M) == contents


@pytest.mark.parametrize("name", MIGRATIONS)
def test_every_statement_of_a_migration_may_run_twice(name: str) -> None:
    assert cypher.statement(name).startswith("// ")
    assert all("IF NOT EXISTS" in statement for statement in cypher.statements(name))


def test_every_statement_is_called_by_its_name_somewhere() -> None:
    code = "\n".join(
        file.read_text()
        for folder in ("engine", "api", "tasks", "ops")
        for file in (PROJECT / folder).rglob("*.py")
    )
    called = {name for name in NAMES if f'"{name}"' in code}

    assert set(NAMES) - called == set()


# These say who is a member; what they show or change is not limited by it.
MEMBERSHIP = {"access/instances/put_member", "access/instances/remove_member"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in MEMBERSHIP])
def test_what_is_limited_to_members_is_limited_to_what_a_token_is_narrowed_to(name: str) -> None:
    statement = "\n".join(body(cypher.HERE / f"{name}.cypher"))

    if "MEMBER_OF" in statement and "$user_id" in statement:
        assert "$instance_ids" in statement


# These do look at every tenant's: all there are of a label is what they ask for.
LOOKS_AT_ALL = {"night/runs/list_due_personas", "access/tenants/list_tenants"}


@pytest.mark.parametrize("name", EXPLAINED)
async def test_neo4j_takes_every_file_as_it_is(graph: Graph, name: str) -> None:
    """As pasted into Browser: the comments stay in, and nothing in it is deprecated."""
    summary = await explained(graph, name)

    assert [n.gql_status for n in summary.gql_status_objects if "deprecat" in str(n)] == []
    if not name.startswith("store/") and name not in LOOKS_AT_ALL:
        assert [kind for kind, _ in parts(summary.plan) if "LabelScan" in kind] == []


async def test_a_copy_is_looked_up_by_what_it_was_copied_from(graph: Graph) -> None:
    """Even where nothing was ever copied, and all against all would seem to cost nothing."""
    plan = (await explained(graph, "memory/duplicates/copy_links")).plan

    looked_up = [details for _, details in parts(plan) if "copied_from" in details]
    assert len(looked_up) == 2
    assert all("copied_from = " in details for details in looked_up)


@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("memory/items/list_newest_of_tenant", ["tenant_id, said_at, id"] * 2),
        ("memory/items/list_oldest_of_tenant", ["tenant_id, said_at, id"] * 2),
        (
            "memory/items/list_newest_of_personas",
            ["tenant_id, persona_id, state, said_at", "tenant_id, persona_id, state, said_at, id"],
        ),
        (
            "memory/items/list_oldest_of_personas",
            ["tenant_id, persona_id, state, said_at", "tenant_id, persona_id, state, said_at, id"],
        ),
        ("memory/items/list_by_importance", ["tenant_id, persona_id, state, importance, id"] * 2),
        ("memory/items/list_by_salience", ["tenant_id, persona_id, state, salience, id"] * 2),
        ("memory/history/list_audit", ["tenant_id, written_at, id"]),
    ],
)
async def test_a_listing_reads_an_index_in_its_order_and_no_farther(
    graph: Graph, name: str, indexes: list[str]
) -> None:
    plan = list(parts((await explained(graph, name)).plan))

    sought = [re.search(r"\((.*?)\)", details) for kind, details in plan if kind == "NodeIndexSeek"]
    assert [match[1] for match in sought if match] == indexes
    bounded = [kind for kind, _ in plan if kind in ("Limit", "PartialTop")]
    assert len(bounded) == len(indexes)
