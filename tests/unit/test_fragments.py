"""What stands in several statements is the same in all of them; see `cypher.fragments`."""

import re

import pytest

import cypher
from cypher.fragments import CONNECTIVE, MARK, fragment, renamed, rewrite

STATEMENTS = {
    name: cypher.statement(name)
    for file in sorted(cypher.HERE.rglob("*.cypher"))
    if not (name := str(file.relative_to(cypher.HERE).with_suffix(""))).startswith(
        ("fragments/", "store/migrations/")
    )
}
FRAGMENTS = [name.partition("/")[2] for name in cypher.names("fragments")]
LINK_TYPES = fragment("link_types").split("|")
# These change memberships; the others ask for them to decide what a caller may see.
MEMBERSHIP = {
    "access/instances/put_member",
    "access/instances/remove_member",
    "talk/conversations/bind_speakers",
}


def marks(text: str) -> list[str]:
    """The names of the fragments that a text holds copies of."""
    return [mark[2] for line in text.splitlines() if (mark := MARK.fullmatch(line))]


def unmarked(text: str) -> str:
    """What is left of a statement without its comments and its copies of fragments."""
    kept, inside = [], ""
    for line in text.splitlines():
        if mark := MARK.fullmatch(line):
            inside = mark[2]
        elif not inside and not line.lstrip().startswith("//"):
            kept.append(line)
        elif line.strip() == f"// end: {inside}" or inside.startswith("link_types"):
            inside = ""
    return "\n".join(kept)


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_copy_is_its_fragment(name: str) -> None:
    """If not: `python -m cypher.fragments` writes every copy again."""
    assert rewrite(STATEMENTS[name]) == STATEMENTS[name]


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_fragment_opens_with_a_sentence_and_is_used_more_than_once(name: str) -> None:
    text = cypher.statement(f"fragments/{name}")
    users = sum(
        marks(other).count(name)
        for other in (
            *STATEMENTS.values(),
            *(cypher.statement(f"fragments/{n}") for n in FRAGMENTS),
        )
    )

    assert re.match(r"// [A-Z]", text)
    assert rewrite(text) == text
    assert users > 1 or name == "link_types_without_order"


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_copy_stands_without_its_mark(name: str) -> None:
    left = unmarked(STATEMENTS[name])

    for types in re.findall(r"[A-Z_]+(?:\|[A-Z_]+)+", left):
        assert len(set(LINK_TYPES) & set(types.split("|"))) < 3
    if name not in MEMBERSHIP:
        assert not ("MEMBER_OF" in left and "$user_id" in left)
    for telling in (
        "flag.factors",
        "salience_pull",
        "fact_stance <>",
        "stale_at:",
        "RETURN DISTINCT flag.act",
    ):
        assert telling not in left


def test_the_shorter_list_of_link_types_leaves_out_only_order() -> None:
    others = [name for name in LINK_TYPES if name != "PRECEDES"]

    assert fragment("link_types_without_order") == "|".join(others)


def test_a_copy_may_have_other_names_and_go_on_after_its_last_line() -> None:
    piece = "(item)-[:DRAWN_FROM]->({at: $now, x: other.item})"

    assert renamed(piece, "item → memory, $now → $act.at") == (
        "(memory)-[:DRAWN_FROM]->({at: $act.at, x: other.item})"
    )
    text = "  // fragment: visible_instance\n  old AND\n  // end: visible_instance\n"
    assert rewrite(text).splitlines()[-2].endswith("$instance_ids))) AND")
    assert rewrite(rewrite(text)) == rewrite(text)
    assert CONNECTIVE.search("a,") is not None


def test_a_mark_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="end: visible_item"):
        rewrite("// fragment: visible_item\nold")
