"""Times as statements return them for ranking: microseconds since 1970."""

from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def moment(microseconds: int) -> datetime:
    """The time that a statement returns as microseconds since 1970."""
    return EPOCH + microseconds * MICROSECOND


def microseconds(at: datetime) -> float:
    """A time as statements return it."""
    value: Any = (at - EPOCH) / MICROSECOND
    return float(value)
