"""The one place that talks to Neo4j: named statements in, plain Python values out.

Every statement runs as one transaction of one round trip. It is tried again while Neo4j is away,
restarting or in a deadlock, so statements are written to be the same once and twice.
"""

import asyncio
import contextlib
import copy
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from datetime import UTC
from itertools import islice
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncSession,
    AsyncTransaction,
    Bookmarks,
    GraphDatabase,
    Query,
    Record,
)
from neo4j.exceptions import AuthError, ClientError, ConstraintError, DriverError, Neo4jError
from neo4j.graph import Entity
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector
from prometheus_client import Histogram

import cypher
from engine.errors import Conflict, GraphUnavailable, Invalid
from engine.settings import Settings

Row = dict[str, Any]
T = TypeVar("T")


class Write(Protocol):
    """Runs one statement of a transaction that is open."""

    async def __call__(self, name: str, /, **parameters: Any) -> list[Row]: ...


BATCH = 10_000  # rows; measured best for link updates, both 1,000 and 50,000 are slower
GRACE = 2.0  # seconds a last try may take after patience has run out
FIRST_DELAY, LONGEST_DELAY = 0.05, 0.5  # seconds between two tries: doubling, with jitter

STATEMENT_SECONDS = Histogram(
    "pentimento_statement_seconds",
    "How long a named statement took, retries included.",
    ["statement", "outcome"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)

_bookmarks: ContextVar[set[str] | None] = ContextVar("bookmarks", default=None)
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextlib.contextmanager
def answer_within(seconds: float) -> Iterator[None]:
    """Inside, all statements together take no longer than this: somebody waits for the answer."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@contextlib.contextmanager
def causal_chain(bookmarks: Sequence[str] = ()) -> Iterator[set[str]]:
    """Inside, every read sees the writes these bookmarks stand for, and those made inside.

    The set that comes back holds the newest bookmarks at any time: hand them to whoever must see
    the same, in another process or on another machine.
    """
    held = set(bookmarks)
    token = _bookmarks.set(held)
    try:
        yield held
    finally:
        _bookmarks.reset(token)


class Graph:
    """An open door to Neo4j. Belongs to the event loop that opened it."""

    def __init__(self, driver: AsyncDriver, *, database: str, patience: float) -> None:
        self._driver = driver
        self._database = database
        self._patience = patience
        self._limit = patience + GRACE
        self._seen = AsyncGraphDatabase.bookmark_manager()

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Nothing is connected yet: the first statement is what finds out."""
        if not settings.neo4j_uri:
            raise GraphUnavailable("no PENTIMENTO_NEO4J_URI is set and no local stack is running")
        driver = AsyncGraphDatabase.driver(
            settings.neo4j_uri,
            auth=(settings.neo4j_user, settings.neo4j_password.get_secret_value()),
            max_connection_pool_size=settings.neo4j_pool_size,
            connection_timeout=2.0,
            connection_acquisition_timeout=settings.neo4j_patience,
            max_transaction_retry_time=0,  # the tries are counted here, for reads and writes alike
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="pentimento",
        )
        return cls(driver, database=settings.neo4j_database, patience=settings.neo4j_patience)

    def with_limit(self, seconds: float) -> Self:
        """The same door for long statements: one may take this long, tries included."""
        patient = copy.copy(self)
        patient._limit = seconds
        return patient

    async def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a statement that changes nothing; a cluster sends it to a replica."""
        return await self._run(name, parameters, "READ")

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a statement that may change the graph, as one transaction."""
        return await self._run(name, parameters, "WRITE")

    async def write_if(
        self, accept: Callable[[list[Row]], T], name: str, /, **parameters: Any
    ) -> T:
        """Run a statement, and keep what it did only if `accept` takes its answer.

        For what can only be judged once it is written: `accept` raises, and nothing has happened.
        """

        async def work(write: Write) -> T:
            return accept(await write(name, **parameters))

        return await self.write_with(work, name=name)

    async def write_with(
        self, work: Callable[[Write], Awaitable[T]], *, name: str = "transaction"
    ) -> T:
        """Run what `work` writes as one transaction: statements whose parameters need answers.

        It is run again from its start when the transaction has to be tried again, so it changes
        nothing but the graph. When it raises, nothing has happened.
        """

        async def inside(session: AsyncSession) -> T:
            async with await session.begin_transaction(timeout=self._limit) as transaction:
                done = await work(writer(transaction))
                await transaction.commit()
            return done

        return await self._try(name, "WRITE", inside)

    @contextlib.asynccontextmanager
    async def rehearsal(self) -> AsyncIterator["Graph"]:
        """A graph to which everything can be done, and where none of it will have happened.

        One transaction, undone at the end. Vector indexes do not show what it has changed.
        """
        async with (
            self._driver.session(database=self._database, bookmark_manager=self._seen) as session,
            await session.begin_transaction(timeout=self._limit) as transaction,
        ):
            yield Rehearsal(self, transaction)
            await transaction.rollback()

    async def write_batches(
        self, name: str, /, rows: Sequence[Any], *, size: int = BATCH, **parameters: Any
    ) -> AsyncIterator[list[Row]]:
        """Run a statement over `$rows` a batch at a time, each batch a transaction of its own."""
        pending = iter(rows)
        while batch := list(islice(pending, size)):
            yield await self.write(name, rows=batch, **parameters)

    async def close(self) -> None:
        await self._driver.close()

    async def _run(self, name: str, parameters: Row, access: str) -> list[Row]:
        query = Query(cypher.statement(name), timeout=self._limit)
        stored = as_stored(parameters)

        async def work(session: AsyncSession) -> list[Row]:
            result = await session.run(query, stored)
            return [as_row(record) async for record in result]

        return await self._try(name, access, work)

    async def _try(self, name: str, access: str, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        started = time.perf_counter()
        deadline = _deadline.get()
        left = max(0.0, deadline - time.monotonic()) if deadline else self._limit
        outcome = "error"
        try:
            async with asyncio.timeout(min(self._limit, left)):
                answer = await self._try_again(access, work)
            outcome = "ok"
            return answer
        except TimeoutError as error:
            raise GraphUnavailable("it did not answer in time") from error
        finally:
            STATEMENT_SECONDS.labels(name, outcome).observe(time.perf_counter() - started)

    async def _try_again(self, access: str, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        give_up_at = time.monotonic() + self._patience
        delay = FIRST_DELAY
        chain = _bookmarks.get()
        while True:
            try:
                async with self._driver.session(
                    database=self._database,
                    default_access_mode=access,
                    bookmarks=Bookmarks.from_raw_values(chain) if chain else None,
                    bookmark_manager=self._seen,
                ) as session:
                    answer = await work(session)
                    if chain is not None and access == "WRITE":
                        chain.clear()
                        chain.update((await session.last_bookmarks()).raw_values)
                    return answer
            except (DriverError, Neo4jError) as error:
                if not error.is_retryable() or time.monotonic() + delay > give_up_at:
                    raise refusal(error) from error
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311
            delay = min(delay * 2, LONGEST_DELAY)


class Rehearsal(Graph):
    """A graph inside one open transaction; see `Graph.rehearsal`."""

    def __init__(self, graph: Graph, transaction: AsyncTransaction) -> None:
        super().__init__(graph._driver, database=graph._database, patience=graph._patience)
        self._limit = graph._limit
        self._write = writer(transaction)

    async def _run(self, name: str, parameters: Row, access: str) -> list[Row]:
        try:
            return await self._write(name, **parameters)
        except (DriverError, Neo4jError) as error:
            raise refusal(error) from error

    async def write_with(
        self, work: Callable[[Write], Awaitable[T]], *, name: str = "transaction"
    ) -> T:
        return await work(self._write)


def writer(transaction: AsyncTransaction) -> Write:
    async def write(name: str, /, **parameters: Any) -> list[Row]:
        result = await transaction.run(cypher.statement(name), as_stored(parameters))
        return [as_row(record) async for record in result]

    return write


def refusal(error: DriverError | Neo4jError) -> Exception:
    """What a driver's error means to a caller; a mistake of ours stays what it is."""
    is_there = isinstance(error, ClientError) and "AlreadyExists" in (error.code or "")
    if isinstance(error, ConstraintError) or is_there:
        return Conflict("Something with this identity exists already.")
    if isinstance(error, AuthError):
        return GraphUnavailable("it refused the user name or password")
    if isinstance(error, ClientError) and "Bookmark" in (error.code or ""):
        return Invalid("The bookmark is not one this graph gave out.")
    if isinstance(error, ClientError) and "Timed" not in (error.code or ""):
        return error
    return GraphUnavailable(type(error).__name__)


def as_stored(value: Any) -> Any:
    """A parameter as the driver takes it: vectors travel as 32-bit floats, not as lists."""
    if isinstance(value, np.ndarray):
        return Vector.from_numpy(value)
    if isinstance(value, dict):
        return {key: as_stored(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_stored(item) for item in value]
    return value


def as_row(record: Record) -> Row:
    # Not the record's own data(), which looks at every byte of bytes.
    return {key: as_native(record[key]) for key in record.keys()}  # noqa: SIM118  # no dict


PLAIN = {str, int, float, bool, bytes, type(None)}  # most of what is ever read


def as_native(value: Any) -> Any:
    """A value as Python knows it; the only place where Neo4j's times are converted."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, DateTime):
        told = value.to_native()
        # The driver names the zone, and sent back a named UTC equals no time that was stored as Z.
        return told.astimezone(UTC) if told.tzinfo else told
    if isinstance(value, Date | Time):
        return value.to_native()
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, Vector):
        return value.to_numpy()
    if isinstance(value, dict | Entity):
        plain = type(value) is dict and PLAIN.issuperset(map(type, value.values()))
        return value if plain else {key: as_native(item) for key, item in value.items()}
    if isinstance(value, list):
        plain = PLAIN.issuperset(map(type, value))
        return value if plain else [as_native(item) for item in value]
    return value


def set_first_password(uri: str, user: str, password: str) -> bool:
    """Give a new Neo4j its password. True once the password is good, False while nobody answers."""
    options: dict[str, Any] = {"connection_timeout": 1.0, "max_transaction_retry_time": 0}
    try:
        with GraphDatabase.driver(uri, auth=(user, password), **options) as driver:
            driver.verify_connectivity()
            return True
    except AuthError:
        pass
    except (DriverError, Neo4jError):
        return False
    try:
        with (
            GraphDatabase.driver(uri, auth=(user, "neo4j"), **options) as driver,
            driver.session(database="system") as session,
        ):
            change = cypher.statement("setup/set_first_password")
            session.run(change, password=password).consume()
            return True
    except AuthError as error:
        raise GraphUnavailable("it refused the user name or password") from error
    except (DriverError, Neo4jError):
        return False
