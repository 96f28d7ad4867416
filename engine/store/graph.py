"""Access to Neo4j: runs named statements and returns rows of plain Python values.

Every statement runs as one transaction of one round trip. It is retried while Neo4j is away,
restarting or in a deadlock, so every statement is idempotent.
"""

import asyncio
import contextlib
import copy
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import Any, Protocol, Self, TypeVar

from neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncResult,
    AsyncSession,
    AsyncTransaction,
    Bookmarks,
    Query,
)
from neo4j.exceptions import AuthError, ClientError, ConstraintError, DriverError, Neo4jError
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
from engine.store.values import to_parameter, to_row

T = TypeVar("T")


class Write(Protocol):
    """Runs one statement inside an open transaction and returns its rows."""

    async def __call__(self, name: str, /, **parameters: Any) -> list[Row]: ...


PARAMETER_MAP = "given"  # the one parameter that Neo4j sees: a map of the statement's parameters
PARAMETER = re.compile(r"\$(\w+)")
BATCH_ROWS = 10_000  # measured best for link updates, both 1,000 and 50,000 are slower
GRACE_SECONDS = 2.0  # the last attempt may take this long after patience has run out
FIRST_DELAY, MAX_DELAY = 0.05, 0.5  # seconds between two attempts: doubling, with jitter
ROWS_BEFORE_YIELD = 100  # rows read before other tasks of the event loop may run

STATEMENT_SECONDS = Histogram(
    "pentimento_statement_seconds",
    "How long a named statement took, retries included.",
    ["statement", "outcome"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)

FAILED_ATTEMPTS = Counter(
    "pentimento_failed_tries_total",
    "Tries of a statement that Neo4j failed, by its code, and whether another one followed.",
    ["statement", "code", "outcome"],
)

_bookmarks: ContextVar[set[str] | None] = ContextVar("bookmarks", default=None)
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextlib.contextmanager
def answer_within(seconds: float) -> Iterator[None]:
    """Put all statements inside under one deadline, that of the request which waits for them."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@contextlib.contextmanager
def causal_chain(bookmarks: Sequence[str] = ()) -> Iterator[set[str]]:
    """Make every read inside see the writes of these bookmarks, and the writes made inside.

    The set that is yielded always holds the newest bookmarks. Whoever must see the same writes, in
    another process or on another machine, passes them to its own `causal_chain`.
    """
    newest = set(bookmarks)
    token = _bookmarks.set(newest)
    try:
        yield newest
    finally:
        _bookmarks.reset(token)


class Graph:
    """A pool of connections to one database. Belongs to the event loop that opened it."""

    def __init__(self, driver: AsyncDriver, *, database: str, patience: float) -> None:
        self._driver = driver
        self._database = database
        self._patience = patience
        self._limit = patience + GRACE_SECONDS
        self._bookmark_manager = AsyncGraphDatabase.bookmark_manager()

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """A graph with the limits of the settings. Connects only when the first statement runs."""
        if not settings.neo4j_uri:
            raise GraphUnavailable("no PENTIMENTO_NEO4J_URI is set and no local stack is running")
        driver = AsyncGraphDatabase.driver(
            settings.neo4j_uri,
            auth=(settings.neo4j_user, settings.neo4j_password.get_secret_value()),
            max_connection_pool_size=settings.neo4j_pool_size,
            connection_timeout=2.0,
            connection_acquisition_timeout=settings.neo4j_patience,
            max_transaction_retry_time=0,  # `_retry` does it, for reads and writes alike
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="pentimento",
        )
        graph = cls(driver, database=settings.neo4j_database, patience=settings.neo4j_patience)
        graph._limit = settings.answer_seconds
        return graph

    def with_limit(self, seconds: float) -> Self:
        """The same graph with another time limit for one statement, retries included."""
        graph = copy.copy(self)
        graph._limit = seconds
        return graph

    async def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a statement that changes nothing; a cluster sends it to a replica."""
        return await self._run(name, parameters, "READ")

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run a statement that may change the graph, as one transaction."""
        return await self._run(name, parameters, "WRITE")

    async def write_if(
        self, accept: Callable[[list[Row]], T], name: str, /, **parameters: Any
    ) -> T:
        """Run a statement and commit it only if `accept` returns; its result is returned.

        For what can only be checked once it is written. When `accept` raises, all is rolled back.
        """

        async def work(write: Write) -> T:
            return accept(await write(name, **parameters))

        return await self.write_with(work, name=name)

    async def write_with(
        self, work: Callable[[Write], Awaitable[T]], *, name: str = "transaction"
    ) -> T:
        """Run all statements of `work` as one transaction.

        For statements whose parameters depend on the rows of others. A retry runs `work` again from
        its start, so it must change nothing but the graph. When it raises, all is rolled back.
        """

        async def commit(session: AsyncSession) -> T:
            async with await session.begin_transaction(timeout=self._limit) as transaction:
                result = await work(statement_runner(transaction))
                await transaction.commit()
            return result

        return await self._run_within_limit(name, "WRITE", commit)

    async def preview(self, work: Callable[["Graph"], Awaitable[T]]) -> T:
        """Run `work` on a graph whose changes are all rolled back at the end.

        One transaction with the same limits and retries as any other. Vector indexes do not show
        what it has changed.
        """

        async def roll_back(session: AsyncSession) -> T:
            async with await session.begin_transaction(timeout=self._limit) as transaction:
                result = await work(PreviewGraph(self, transaction))
                await transaction.rollback()
            return result

        return await self._run_within_limit("preview", "WRITE", roll_back)

    async def write_batches(
        self, name: str, /, rows: Sequence[Any], *, size: int = BATCH_ROWS, **parameters: Any
    ) -> AsyncIterator[list[Row]]:
        """Run a statement over `$rows` a batch at a time, each batch a transaction of its own."""
        remaining = iter(rows)
        while batch := list(islice(remaining, size)):
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
        query = Query(with_parameter_map(text), timeout=self._limit)
        parameter_map = to_parameter_map(parameters)

        async def run(session: AsyncSession) -> list[Row]:
            result = await session.run(query, parameter_map)
            return await read_rows(result)

        return await self._run_within_limit(name, access, run)

    async def _run_within_limit(
        self, name: str, access: str, work: Callable[[AsyncSession], Awaitable[T]]
    ) -> T:
        """Run `work` with retries until the limit or the caller's deadline, and measure it."""
        started = time.perf_counter()
        deadline = _deadline.get()
        remaining = max(0.0, deadline - time.monotonic()) if deadline else self._limit
        outcome = "error"
        try:
            async with asyncio.timeout(min(self._limit, remaining)):
                result = await self._retry(name, access, work)
            outcome = "ok"
            return result
        except TimeoutError as error:
            raise GraphTooSlow from error
        finally:
            STATEMENT_SECONDS.labels(name, outcome).observe(time.perf_counter() - started)

    async def _retry(
        self, name: str, access: str, work: Callable[[AsyncSession], Awaitable[T]]
    ) -> T:
        """Run `work` in a new session until it succeeds or its error cannot be retried any more."""
        started = time.monotonic()
        delay = FIRST_DELAY
        while True:
            try:
                return await self._run_in_session(access, work)
            except (DriverError, Neo4jError) as error:
                # While Neo4j answers, retry until the limit: a deadlock passes, and the caller has
                # waited already. Only when it does not answer is patience shorter.
                patience = self._limit if isinstance(error, Neo4jError) else self._patience
                gives_up = not error.is_retryable() or time.monotonic() + delay > started + patience
                code = getattr(error, "code", None) or type(error).__name__
                FAILED_ATTEMPTS.labels(name, code, "given up" if gives_up else "tried again").inc()
                if gives_up:
                    translated = translate_error(error)
                    # Neo4j's message may quote what people wrote, and StatementFailed is logged.
                    cause = None if isinstance(translated, StatementFailed) else error
                    raise translated from cause
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311
            delay = min(delay * 2, MAX_DELAY)

    async def _run_in_session(self, access: str, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run `work` after the writes of the causal chain, and add its own writes to the chain."""
        chain = _bookmarks.get()
        async with self._driver.session(
            database=self._database,
            default_access_mode=access,
            bookmarks=Bookmarks.from_raw_values(chain) if chain else None,
            bookmark_manager=self._bookmark_manager,
        ) as session:
            result = await work(session)
            if chain is not None and access == "WRITE":
                chain.clear()
                chain.update((await session.last_bookmarks()).raw_values)
            return result


class PreviewGraph(Graph):
    """A graph inside one open transaction. `Graph.preview` opens it and handles its errors."""

    def __init__(self, graph: Graph, transaction: AsyncTransaction) -> None:
        super().__init__(graph._driver, database=graph._database, patience=graph._patience)
        self._limit = graph._limit
        self._write = statement_runner(transaction)

    async def _run(self, name: str, parameters: Row, access: str) -> list[Row]:
        return await self._write(name, **parameters)

    async def write_with(
        self, work: Callable[[Write], Awaitable[T]], *, name: str = "transaction"
    ) -> T:
        return await work(self._write)


def statement_runner(transaction: AsyncTransaction) -> Write:
    """A function that runs named statements inside the transaction."""

    async def write(name: str, /, **parameters: Any) -> list[Row]:
        statement = with_parameter_map(cypher.statement(name))
        result = await transaction.run(statement, to_parameter_map(parameters))
        return await read_rows(result)

    return write


@cache
def with_parameter_map(statement: str) -> str:
    """The statement, reading its parameters from one map called PARAMETER_MAP.

    Neo4j plans a statement anew for each combination of types and sizes of its parameters, null
    among them, which takes up to seconds while somebody waits. A map is always a map.
    """
    return PARAMETER.sub(rf"${PARAMETER_MAP}.\1", statement)


def to_parameter_map(parameters: Row) -> Row:
    """Parameters for a statement made by `with_parameter_map`."""
    return {PARAMETER_MAP: to_parameter(parameters)}


async def read_rows(result: AsyncResult) -> list[Row]:
    """All rows of a result.

    Lets other tasks run every ROWS_BEFORE_YIELD rows: the driver never waits while it has rows at
    hand, and would hold the event loop.
    """
    rows: list[Row] = []
    async for record in result:
        rows.append(to_row(record))
        if len(rows) % ROWS_BEFORE_YIELD == 0:
            await asyncio.sleep(0)
    return rows


# Of Neo4j's database errors, those that follow from the statement and its parameters, such as a
# value that is too long for an index: the same call would always fail the same way.
STATEMENT_ERRORS = ("Neo.DatabaseError.Statement.", "Neo.DatabaseError.Schema.")
CRITICAL_ERROR = "Neo.DatabaseError.Transaction.TransactionStartFailed"


def translate_error(error: DriverError | Neo4jError) -> EngineError:
    """The engine's error for an error of the driver.

    Neo4j's own message is left out: it may quote what people wrote.
    """
    code = getattr(error, "code", None) or ""
    already_exists = isinstance(error, ClientError) and "AlreadyExists" in code
    if isinstance(error, ConstraintError) or already_exists:
        return Conflict("Something with this identity exists already.")
    if isinstance(error, AuthError):
        return GraphUnavailable("it refused the user name or password")
    if isinstance(error, ClientError) and "Bookmark" in code:
        return Invalid("The bookmark is not one this graph gave out.")
    if isinstance(error, ClientError):
        return GraphTooSlow() if "Timed" in code else StatementFailed(code)
    if code.startswith(STATEMENT_ERRORS):
        return StatementFailed(code)
    if code == CRITICAL_ERROR:
        return GraphUnavailable("it met a critical error; `pentimento doctor` says what to do")
    return GraphUnavailable(type(error).__name__)
