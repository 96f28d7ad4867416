"""The one place that talks to Neo4j: named statements in, plain Python values out.

Every statement runs as one transaction of one round trip. It is tried again while Neo4j is away,
restarting or in a deadlock, so statements are written to be the same once and twice.
"""

import asyncio
import contextlib
import copy
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncResult,
    AsyncSession,
    AsyncTransaction,
    Bookmarks,
    GraphDatabase,
    Query,
    Record,
)
from neo4j._codec.hydration.bolt.v2 import temporal as driver_times
from neo4j._codec.packstream import Structure
from neo4j.exceptions import AuthError, ClientError, ConstraintError, DriverError, Neo4jError
from neo4j.graph import Entity
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector
from prometheus_client import Counter, Histogram

import cypher
from engine.errors import (
    Conflict,
    EngineError,
    GraphTooSlow,
    GraphUnavailable,
    Invalid,
    StatementFailed,
)
from engine.models import Row
from engine.settings import Settings

T = TypeVar("T")


class Write(Protocol):
    """Runs one statement of a transaction that is open."""

    async def __call__(self, name: str, /, **parameters: Any) -> list[Row]: ...


ALL = "given"  # the one parameter that Neo4j sees, with those of a statement in it
PARAMETER = re.compile(r"\$(\w+)")
BATCH = 10_000  # rows; measured best for link updates, both 1,000 and 50,000 are slower
GRACE = 2.0  # seconds a last try may take after patience has run out
FIRST_DELAY, LONGEST_DELAY = 0.05, 0.5  # seconds between two tries: doubling, with jitter

STATEMENT_SECONDS = Histogram(
    "pentimento_statement_seconds",
    "How long a named statement took, retries included.",
    ["statement", "outcome"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)

FAILED_TRIES = Counter(
    "pentimento_failed_tries_total",
    "Tries of a statement that Neo4j failed, by its code, and whether another one followed.",
    ["statement", "code", "outcome"],
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
        opened = cls(driver, database=settings.neo4j_database, patience=settings.neo4j_patience)
        opened._limit = settings.answer_seconds
        return opened

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

    async def preview(self, work: Callable[["Graph"], Awaitable[T]]) -> T:
        """Run `work` on a graph to which everything can be done, and undo all of it.

        One transaction, rolled back at the end, in the limits of any other, and tried again.
        Vector indexes do not show what it has changed.
        """

        async def inside(session: AsyncSession) -> T:
            async with await session.begin_transaction(timeout=self._limit) as transaction:
                done = await work(PreviewGraph(self, transaction))
                await transaction.rollback()
            return done

        return await self._try("rehearsal", "WRITE", inside)

    async def write_batches(
        self, name: str, /, rows: Sequence[Any], *, size: int = BATCH, **parameters: Any
    ) -> AsyncIterator[list[Row]]:
        """Run a statement over `$rows` a batch at a time, each batch a transaction of its own."""
        pending = iter(rows)
        while batch := list(islice(pending, size)):
            yield await self.write(name, rows=batch, **parameters)

    async def write_each(self, name: str, /) -> AsyncIterator[None]:
        """Run the statements of a migration in order, each a transaction of its own.

        Yields after each of them.
        """
        for text in cypher.statements(name):
            await self._run_text(name, text, {}, "WRITE")
            yield

    async def close(self) -> None:
        await self._driver.close()

    async def _run(self, name: str, parameters: Row, access: str) -> list[Row]:
        return await self._run_text(name, cypher.statement(name), parameters, access)

    async def _run_text(self, name: str, text: str, parameters: Row, access: str) -> list[Row]:
        query = Query(as_sent(text), timeout=self._limit)
        given = as_given(parameters)

        async def work(session: AsyncSession) -> list[Row]:
            result = await session.run(query, given)
            return await rows_of(result)

        return await self._try(name, access, work)

    async def _try(self, name: str, access: str, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        started = time.perf_counter()
        deadline = _deadline.get()
        left = max(0.0, deadline - time.monotonic()) if deadline else self._limit
        outcome = "error"
        try:
            async with asyncio.timeout(min(self._limit, left)):
                answer = await self._try_again(name, access, work)
            outcome = "ok"
            return answer
        except TimeoutError as error:
            raise GraphTooSlow from error
        finally:
            STATEMENT_SECONDS.labels(name, outcome).observe(time.perf_counter() - started)

    async def _try_again(
        self, name: str, access: str, work: Callable[[AsyncSession], Awaitable[T]]
    ) -> T:
        started = time.monotonic()
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
                # A Neo4j that answers is tried until time is up: a deadlock passes, and whoever
                # asks has waited already. Only one that is away is given up sooner.
                patience = self._limit if isinstance(error, Neo4jError) else self._patience
                over = not error.is_retryable() or time.monotonic() + delay > started + patience
                code = getattr(error, "code", None) or type(error).__name__
                FAILED_TRIES.labels(name, code, "given up" if over else "tried again").inc()
                if over:
                    refused = refusal(error)
                    # Neo4j's message may quote what people wrote, and a mistake of ours is logged.
                    raise refused from None if isinstance(refused, StatementFailed) else error
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311
            delay = min(delay * 2, LONGEST_DELAY)


class PreviewGraph(Graph):
    """A graph inside one open transaction; see `Graph.preview`, which judges its errors."""

    def __init__(self, graph: Graph, transaction: AsyncTransaction) -> None:
        super().__init__(graph._driver, database=graph._database, patience=graph._patience)
        self._limit = graph._limit
        self._write = writer(transaction)

    async def _run(self, name: str, parameters: Row, access: str) -> list[Row]:
        return await self._write(name, **parameters)

    async def write_with(
        self, work: Callable[[Write], Awaitable[T]], *, name: str = "transaction"
    ) -> T:
        return await work(self._write)


def writer(transaction: AsyncTransaction) -> Write:
    async def write(name: str, /, **parameters: Any) -> list[Row]:
        given = as_given(parameters)
        result = await transaction.run(as_sent(cypher.statement(name)), given)
        return await rows_of(result)

    return write


@cache
def as_sent(statement: str) -> str:
    """A statement that takes its parameters as one map, under the name of ALL.

    Neo4j plans a statement anew for each combination of types and sizes of its parameters, null
    among them, which takes up to seconds while somebody waits. A map is always a map.
    """
    return PARAMETER.sub(rf"${ALL}.\1", statement)


def as_given(parameters: Row) -> Row:
    """Parameters as `as_sent` makes statements take them."""
    return {ALL: as_stored(parameters)}


async def rows_of(result: AsyncResult) -> list[Row]:
    """All rows of an answer. Between them others have their turn: the driver itself never waits
    while it has rows at hand."""
    rows: list[Row] = []
    async for record in result:
        rows.append(as_row(record))
        if len(rows) % 100 == 0:
            await asyncio.sleep(0)
    return rows


# Of Neo4j's own errors, those that follow from the statement and its parameters, such as a value
# that is too long for an index: the same call would fail the same way for ever.
OURS = ("Neo.DatabaseError.Statement.", "Neo.DatabaseError.Schema.")
PANICKED = "Neo.DatabaseError.Transaction.TransactionStartFailed"


def refusal(error: DriverError | Neo4jError) -> EngineError:
    """What a driver's error means to a caller: a conflict, unavailability, or a mistake of ours.

    Neo4j's own message is left out: it may quote what people wrote.
    """
    code = getattr(error, "code", None) or ""
    is_there = isinstance(error, ClientError) and "AlreadyExists" in code
    if isinstance(error, ConstraintError) or is_there:
        return Conflict("Something with this identity exists already.")
    if isinstance(error, AuthError):
        return GraphUnavailable("it refused the user name or password")
    if isinstance(error, ClientError) and "Bookmark" in code:
        return Invalid("The bookmark is not one this graph gave out.")
    if isinstance(error, ClientError):
        return GraphTooSlow() if "Timed" in code else StatementFailed(code)
    if code.startswith(OURS):
        return StatementFailed(code)
    if code == PANICKED:
        return GraphUnavailable("it met a critical error; `pentimento doctor` says what to do")
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


PLAIN = {str, int, float, bool, bytes, type(None), datetime}  # most of what is ever read
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # of what Neo4j counts seconds from
EPOCH_UTC = EPOCH.replace(tzinfo=UTC)
IN_PYTHON = range(-62_135_596_800, 253_402_300_800)  # seconds from the year 1 to the year 9999
read_time: Callable[..., Any] = driver_times.hydrate_datetime
write_time: Callable[[Any], Structure] = driver_times.dehydrate_datetime


def as_datetime(seconds: int, nanoseconds: int, zone: int | str | None = None) -> Any:
    """A time of Neo4j as Python's own, in UTC when it has a zone.

    The driver takes forty times as long, by way of a type of its own: a page of messages held the
    event loop for 0.1 s. A time that Python cannot hold stays the driver's.
    """
    if seconds not in IN_PYTHON:
        return read_time(seconds, nanoseconds, zone)
    since = timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    return (EPOCH if zone is None else EPOCH_UTC) + since


def from_datetime(value: Any) -> Structure:
    """A time as Neo4j takes it; those in UTC, which are nearly all, without the driver's detour."""
    if type(value) is not datetime or value.tzinfo is not UTC:
        return write_time(value)
    since = value - EPOCH_UTC
    return Structure(b"I", since.days * 86_400 + since.seconds, since.microseconds * 1000, 0)


# Looked up by the driver whenever it opens a connection.
driver_times.hydrate_datetime = as_datetime
driver_times.dehydrate_datetime = from_datetime


def as_native(value: Any) -> Any:
    """A value as Python knows it."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, DateTime):
        told = value.to_native()
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


@dataclass(frozen=True, slots=True)
class StoreState:
    """How the store of a database is, as far as Neo4j says."""

    answers: bool  # Neo4j itself
    is_open: bool = False  # the database serves statements
    message: str = ""  # what it met
    failed_indexes: tuple[str, ...] = ()


def inspect_store(uri: str, user: str, password: str, database: str) -> StoreState:
    """Look at a database from beside it: also when it has met a critical error or does not open."""
    options: dict[str, Any] = {"connection_timeout": 5.0, "max_transaction_retry_time": 0}
    try:
        with GraphDatabase.driver(uri, auth=(user, password), **options) as driver:
            with driver.session(database="system") as session:
                shown = session.run(cypher.statement("store/setup/show_database"), name=database)
                record = shown.single()
            try:
                with driver.session(database=database) as session:
                    failed = session.run(
                        cypher.statement("store/setup/list_failed_indexes")
                    ).value()
            except (DriverError, Neo4jError):
                return StoreState(True, message=record["message"] if record else "it is not there")
            return StoreState(True, True, failed_indexes=tuple(failed))
    except (DriverError, Neo4jError) as error:
        return StoreState(False, message=type(error).__name__)


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
            change = cypher.statement("store/setup/set_first_password")
            session.run(change, password=password).consume()
            return True
    except AuthError as error:
        raise GraphUnavailable("it refused the user name or password") from error
    except (DriverError, Neo4jError):
        return False
