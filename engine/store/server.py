"""Work on the Neo4j server itself, before or beside an open `Graph`. Blocking; for the command."""

from dataclasses import dataclass
from typing import Any

from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

import cypher
from engine.errors import GraphUnavailable


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of a database, as far as Neo4j reports it."""

    answers: bool  # Neo4j accepts connections
    is_open: bool = False  # the database runs statements
    message: str = ""  # Neo4j's reason for the database being closed, or the error's name
    failed_indexes: tuple[str, ...] = ()


def inspect_store(uri: str, user: str, password: str, database: str) -> StoreState:
    """The state of a database, asked through the system database.

    Works also when the database has met a critical error or does not open.
    """
    options: dict[str, Any] = {"connection_timeout": 5.0, "max_transaction_retry_time": 0}
    try:
        with GraphDatabase.driver(uri, auth=(user, password), **options) as driver:
            with driver.session(database="system") as session:
                result = session.run(cypher.statement("store/setup/show_database"), name=database)
                record = result.single()
            try:
                with driver.session(database=database) as session:
                    result = session.run(cypher.statement("store/setup/list_failed_indexes"))
                    failed_indexes = tuple(result.value())
            except (DriverError, Neo4jError):
                return StoreState(True, message=record["message"] if record else "it is not there")
            return StoreState(True, True, failed_indexes=failed_indexes)
    except (DriverError, Neo4jError) as error:
        return StoreState(False, message=type(error).__name__)


def set_first_password(uri: str, user: str, password: str) -> bool:
    """Set the password of a new Neo4j. True once it works, False while Neo4j does not answer."""
    options: dict[str, Any] = {
        "connection_timeout": 1.0,
        "connection_acquisition_timeout": 2.0,  # another program on the port may say nothing
        "max_transaction_retry_time": 0,
    }
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
            statement = cypher.statement("store/setup/set_first_password")
            session.run(statement, password=password).consume()
            return True
    except AuthError as error:
        raise GraphUnavailable("it refused the user name or password") from error
    except (DriverError, Neo4jError):
        return False
