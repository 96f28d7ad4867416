"""Every Cypher statement the engine runs, one per file, found by name."""

import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def statement(name: str) -> str:
    """The text of `cypher/<name>.cypher`, as it can be pasted into Neo4j Browser."""
    return (HERE / f"{name}.cypher").read_text()


def statements(name: str) -> list[str]:
    """The statements of a file that holds several, each ended by a line with a semicolon."""
    return [text for text in re.split(r";$", statement(name), flags=re.M) if text.strip()]


def names(folder: str) -> list[str]:
    """The statements of one folder, in the order of their file names."""
    return sorted(f"{folder}/{file.stem}" for file in (HERE / folder).glob("*.cypher"))
