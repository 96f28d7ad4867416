"""The documents name files and functions that exist."""

import ast
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
DOCUMENTS = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted(PROJECT.glob("docs/*.md"))]
PLACE = re.compile(r"`((?:api|bench|cypher|engine|ops|tasks|tests|docs)/[\w/.-]+)(?::([\w.]+))?`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
ROOMS = sorted(
    folder.name for folder in (PROJECT / "engine").iterdir() if (folder / "__init__.py").exists()
)


def defined_in(file: Path) -> set[str]:
    """Names of functions, classes and constants of a module, methods as `Class.method`."""
    names: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{it.name}" for it in node.body if hasattr(it, "name")}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_files_and_functions_that_a_document_names_exist(document: Path) -> None:
    missing = [
        f"{path}:{name}" if name else path
        for path, name in PLACE.findall(document.read_text())
        if not (PROJECT / path).exists() or (name and name not in defined_in(PROJECT / path))
    ]

    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    targets = LINK.findall(document.read_text())

    assert [it for it in targets if not (document.parent / it).exists()] == []


def test_the_architecture_tells_of_every_room_and_five_walks() -> None:
    text = (PROJECT / "docs" / "architecture.md").read_text()

    assert [room for room in ROOMS if f"| `engine/{room}` |" not in text] == []
    assert len(re.findall(r"^### ", text, re.M)) == 5
    assert len(PLACE.findall(text)) > 50


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is_for_and_what_others_may_use(room: str) -> None:
    tree = ast.parse((PROJECT / "engine" / room / "__init__.py").read_text())

    assert len(re.findall(r"\.(?=\s|$)", ast.get_docstring(tree) or "")) >= 2  # sentences
    assert any(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__all__"
        for node in tree.body
    )
