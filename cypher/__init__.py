"""Every Cypher statement the engine runs, one per file, found by name."""

from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def statement(name: str) -> str:
    """The text of `cypher/<name>.cypher`, as it can be pasted into Neo4j Browser."""
    return (HERE / f"{name}.cypher").read_text()


def names(folder: str) -> list[str]:
    """The statements of one folder, in the order of their file names."""
    return sorted(f"{folder}/{file.stem}" for file in (HERE / folder).glob("*.cypher"))
