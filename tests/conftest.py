"""What every test may ask for: a real graph, a real broker, a tenant of its own.

Run in parallel, each worker has a Neo4j and a Redis of its own. The clock, the timetable, the queue
and the stream of uses are one per database, so tests that move them would meet in a shared one.
"""

import os
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Sequence,
)
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.nodeid import coerce_node_id

import cypher
from engine.access.tenants import add_tenant
from engine.embedding import (
    Embedder,
    Encoder,
    Vector,
    claim_model,
    normalized,
    open_embedder,
)
from engine.ids import new_id
from engine.service.clock import MovableClock
from engine.settings import Settings
from engine.store.graph import Graph
from engine.store.migrations import migrate
from ops.servers import own_redis
from tests.java_archive import java_options
from tests.lives import DIMENSIONS, Life, word_embedder
from tests.server_logs import ends_of_logs
from tests.servers import (
    INSTALLED,
    Neo4jServer,
    docker_answers,
    local_neo4j,
    neo4j_in_docker,
    redis_in_docker,
)

GIVEN = {key: os.environ.pop(key) for key in list(os.environ) if key.startswith("PENTIMENTO_")}
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("JDK_JAVA_OPTIONS", java_options())

TESTS = Path(__file__).parent
STARTED = pytest.StashKey[float]()  # when a test began
SLOW_FIRST = ["ops", "faults", "model", "tasks", "graph"]  # folders; the others come after them


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hands the servers that were given to the first worker; they are used by one at a time."""
    node.workerinput["given"] = GIVEN if node.gateway.id == "gw0" else {}


def pytest_configure(config: pytest.Config) -> None:
    GIVEN.update(getattr(config, "workerinput", {}).get("given", {}))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives every test an id of its own, and puts the long ones first.

    Workers know tests by their ids: of several with one id only the first would be run. Those that
    schemathesis makes from the OpenAPI document have one id for all operations.
    """
    for item in items:
        if item.parent and not item.nodeid.endswith(item.name):
            item._id = coerce_node_id(f"{item.parent.nodeid}::{item.name}")
    if len({item.nodeid for item in items}) < len(items):
        raise pytest.UsageError("Two tests have the same id; only one of them would be run.")
    order = {folder: place for place, folder in enumerate(SLOW_FIRST)}
    items.sort(key=lambda item: order.get(item.path.relative_to(TESTS).parts[0], len(order)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to what failed the ends of the logs that servers wrote meanwhile."""
    report = yield
    started = item.stash.setdefault(STARTED, call.start)
    if report.failed:
        folder = item.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        for name, text in ends_of_logs(folder, since=started).items():
            report.sections.append((f"end of {name}", text))
    return report


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    if uri := GIVEN.get("PENTIMENTO_NEO4J_URI"):
        user = GIVEN.get("PENTIMENTO_NEO4J_USER", "neo4j")
        yield Neo4jServer(uri, user, GIVEN.get("PENTIMENTO_NEO4J_PASSWORD", ""))
    elif docker_answers():
        with neo4j_in_docker() as server:
            yield server
    else:
        with local_neo4j(tmp_path_factory.mktemp("neo4j")) as server:
            yield server


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if url := GIVEN.get("PENTIMENTO_REDIS_URL"):
        yield url
    elif docker_answers():
        with redis_in_docker() as url:
            yield url
    else:
        with own_redis(tmp_path_factory.mktemp("redis")) as url:
            yield url


@pytest.fixture(scope="session")
def settings(neo4j_server: Neo4jServer, redis_url: str) -> Settings:
    return Settings(
        _env_file=None,
        home=INSTALLED,
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=neo4j_server.password,
        redis_url=redis_url,
        clock="movable",
        answer_seconds=60,  # a busy machine plans its first statements slowly
        jwks_private_hosts=True,
        rate_limits="off",
    )


@pytest.fixture(scope="session")
async def graph(settings: Settings) -> AsyncIterator[Graph]:
    """The graph of this run, brought to this version. Tests keep to tenants of their own."""
    opened = Graph.open(settings)
    await migrate(opened)
    await claim_model(opened, open_embedder(settings))
    yield opened
    await opened.close()


@pytest.fixture
async def clock(graph: Graph) -> AsyncIterator[MovableClock]:
    """The engine's clock, which every test on this graph lives by: given back afterwards."""
    clock = MovableClock(graph)
    yield clock
    await clock.move(None)


@pytest.fixture
async def new_tenant(graph: Graph, sweep: list[str]) -> Callable[[], Awaitable[str]]:
    """Makes tenants; everything of theirs is gone after the test."""

    async def make() -> str:
        tenant_id = f"test-{new_id()}"
        await add_tenant(graph, tenant_id, name="Test", now=datetime.now(UTC))
        sweep.append(tenant_id)
        return tenant_id

    return make


@pytest.fixture
async def tenant_id(new_tenant: Callable[[], Awaitable[str]]) -> str:
    return await new_tenant()


@pytest.fixture
async def sweep(graph: Graph) -> AsyncIterator[list[str]]:
    """Clears only what the test made, since the database may be somebody's own."""
    made: list[str] = []
    yield made
    await clear(graph, made)


async def clear(graph: Graph, tenants: list[str]) -> None:
    statement = """
        CYPHER 25
        MATCH (n) WHERE n.tenant_id IN $tenants OR (n:Tenant AND n.id IN $tenants)
        DETACH DELETE n"""
    async with graph._driver.session(database=graph._database) as session:
        await (await session.run(statement, tenants=tenants)).consume()


Statements = Callable[..., None]


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    """Gives a test statements of its own, by name, beside the engine's."""

    def add(**texts: str) -> None:
        named = {name: f"CYPHER 25\n{text}" for name, text in texts.items()}
        before = cypher.statement
        monkeypatch.setattr(cypher, "statement", lambda name: named.get(name) or before(name))

    return add


class LetterEncoder(Encoder):
    """Counts letters: no model to load, same words, same vector."""

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        self.encoded += texts
        alphabet = "abcdefghijklmnopqrstuvwxyz"
        counts = np.zeros((len(texts), DIMENSIONS))
        for place, text in enumerate(texts):
            counts[place, : len(alphabet)] = [text.lower().count(letter) for letter in alphabet]
        return [normalized(row) for row in counts]


@pytest.fixture
def letters() -> Iterator[Embedder]:
    embedder = Embedder(LetterEncoder, model="letters", dimensions=DIMENSIONS, cache=10)
    yield embedder
    embedder.close()


@pytest.fixture
async def life(graph: Graph, tenant_id: str) -> AsyncIterator[Life]:
    """Ada, to whom things can be said, and whose nights can come."""
    embedder = word_embedder()
    yield await Life(graph, tenant_id, embedder).begin()
    embedder.close()


@pytest.fixture
def a_home(tmp_path: Path) -> Path:
    """A folder for a stack of its own, over the jars and the model that are installed already."""
    home = tmp_path / "home"
    home.mkdir()
    for part in ("neo4j", "models"):
        (home / part).symlink_to(INSTALLED / part)
    return home
