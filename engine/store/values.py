"""Conversion of values between Python and the Neo4j driver."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from neo4j import Record
from neo4j._codec.hydration.bolt.v2 import temporal as driver_temporal
from neo4j._codec.packstream import Structure
from neo4j.graph import Entity
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from engine.models import Row

# Types that need no conversion: most of the values that are ever read.
PYTHON_TYPES = {str, int, float, bool, bytes, type(None), datetime}
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # Neo4j counts seconds from here
EPOCH_UTC = EPOCH.replace(tzinfo=UTC)
PYTHON_SECONDS = range(-62_135_596_800, 253_402_300_800)  # since the epoch, years 1 to 9999

driver_hydrate_datetime: Callable[..., Any] = driver_temporal.hydrate_datetime
driver_dehydrate_datetime: Callable[[Any], Structure] = driver_temporal.dehydrate_datetime


def to_parameter(value: Any) -> Any:
    """A parameter as the driver takes it: vectors as 32-bit floats, which are faster than lists."""
    if isinstance(value, np.ndarray):
        return Vector.from_numpy(value)
    if isinstance(value, dict):
        return {key: to_parameter(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_parameter(item) for item in value]
    return value


def to_row(record: Record) -> Row:
    """A record as a dictionary of Python values."""
    # Not the record's own data(), which looks at every byte of bytes.
    return {key: to_python(record[key]) for key in record.keys()}  # noqa: SIM118  # no dict


def to_python(value: Any) -> Any:
    """A value of the driver as a Python value; date-times with a zone are in UTC."""
    if type(value) in PYTHON_TYPES:
        return value
    if isinstance(value, DateTime):
        native = value.to_native()
        return native.astimezone(UTC) if native.tzinfo else native
    if isinstance(value, Date | Time):
        return value.to_native()
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, Vector):
        return value.to_numpy()
    if isinstance(value, dict | Entity):
        is_python = type(value) is dict and PYTHON_TYPES.issuperset(map(type, value.values()))
        return value if is_python else {key: to_python(item) for key, item in value.items()}
    if isinstance(value, list):
        is_python = PYTHON_TYPES.issuperset(map(type, value))
        return value if is_python else [to_python(item) for item in value]
    return value


def hydrate_datetime(seconds: int, nanoseconds: int, zone: int | str | None = None) -> Any:
    """A date-time of Neo4j as a Python datetime, in UTC when it has a zone.

    The driver takes forty times as long, by way of a type of its own: a page of messages held the
    event loop for 0.1 s. A date-time outside Python's range stays the driver's.
    """
    if seconds not in PYTHON_SECONDS:
        return driver_hydrate_datetime(seconds, nanoseconds, zone)
    since_epoch = timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    return (EPOCH if zone is None else EPOCH_UTC) + since_epoch


def dehydrate_datetime(value: Any) -> Structure:
    """A datetime as Neo4j takes it. Those in UTC, nearly all, are packed without the driver."""
    if type(value) is not datetime or value.tzinfo is not UTC:
        return driver_dehydrate_datetime(value)
    since_epoch = value - EPOCH_UTC
    return Structure(
        b"I",
        since_epoch.days * 86_400 + since_epoch.seconds,
        since_epoch.microseconds * 1000,
        0,
    )


# The driver looks these two up whenever it opens a connection.
driver_temporal.hydrate_datetime = hydrate_datetime
driver_temporal.dehydrate_datetime = dehydrate_datetime
