"""Pieces of Cypher that several statements need, each written once in a file of this folder.

Statements stay whole, so that each can be pasted into Neo4j Browser. A statement holds a copy of
the piece between two marks, and `python -m cypher.fragments` writes every copy again:

    // fragment: visible_item (item → memory)
    …
    // end: visible_item

In brackets stand the names that this copy has instead of the fragment's. An `AND` or a comma after
the last line belongs to the statement and stays. A list of relationship types has no end mark: it
stands in the line below its mark. A fragment may hold copies of others, without their marks.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
MARK = re.compile(r"( *)// fragment: (\w+)(?: \((.+)\))?")
TYPE_LIST = re.compile(r"[A-Z_]+(?:\|[A-Z_]+)+")
CONNECTIVE = re.compile(r"(?: AND|,)?$")


@cache
def fragment(name: str) -> str:
    """The text of a fragment, without its header and with nested fragments filled in."""
    _, _, text = (HERE / f"{name}.cypher").read_text().partition("\n\n")
    marked = rewrite(text.rstrip("\n"))
    lines = marked.splitlines()
    return "\n".join(line for line in lines if not re.match(r" *// (fragment|end): ", line))


def rewrite(text: str) -> str:
    """The text with every marked copy replaced by its fragment as it is now."""
    return "\n".join(rewritten_lines(iter(text.split("\n"))))


def rewritten_lines(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line
        if not (mark := MARK.fullmatch(line)):
            continue
        indent, name, renames = mark.groups()
        piece = renamed(fragment(name), renames or "")
        if TYPE_LIST.fullmatch(piece):
            yield TYPE_LIST.sub(piece, next(lines), count=1)
            continue
        end, last = f"{indent}// end: {name}", ""
        while (copied := next(lines, None)) != end:
            if copied is None:
                raise ValueError(f"No line {end!r}.")
            last = copied
        connective = CONNECTIVE.search(last)
        yield from (indent + part if part else part for part in piece.split("\n")[:-1])
        yield indent + piece.split("\n")[-1] + (connective[0] if connective else "")
        yield end


def renamed(piece: str, renames: str) -> str:
    """The piece with other variables or parameters, given as `item → memory, $now → $as_of`."""
    names = dict(pair.split(" → ") for pair in renames.split(", ") if pair)
    if not names:
        return piece
    either = "|".join(re.escape(name) for name in names)
    return re.sub(rf"(?<![\w$.])(?:{either})(?!\w)", lambda found: names[found[0]], piece)
