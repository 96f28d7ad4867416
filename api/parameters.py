"""Path and query parameters that several routes share, and how times are read."""

from datetime import UTC, datetime
from typing import Annotated

from litestar.params import PathParameter, QueryParameter

from engine import bounds
from engine.bounds import ID_PATTERN
from engine.errors import Invalid

PathId = Annotated[str, PathParameter(max_length=bounds.ID)]
NewUserId = Annotated[str, PathParameter(max_length=bounds.ID, pattern=ID_PATTERN)]
QueryId = Annotated[str | None, QueryParameter(max_length=bounds.ID)]
Limit = Annotated[int, QueryParameter(ge=1, le=500, description="The most items on one page.")]
Cursor = Annotated[
    str | None,
    QueryParameter(
        max_length=bounds.CURSOR,
        description="`next_cursor` of the previous page; none for the first.",
    ),
]
AsOf = Annotated[
    str | None,
    QueryParameter(
        max_length=40,
        format="date-time",
        description="Only what was held to be true at this time.",
    ),
]

MIN_YEAR, MAX_YEAR = 1900, 9000  # exclusive; a message was said between them


def in_utc(moment: datetime | None) -> datetime | None:
    """The same moment in UTC, as the graph stores it. Any offset is accepted."""
    try:
        return moment.astimezone(UTC) if moment else None
    except OverflowError as error:
        raise Invalid("That time is out of the calendar.") from error


def message_time(moment: datetime) -> datetime:
    """The time of a message in UTC. Refuses years in which nobody can have said it."""
    utc = in_utc(moment)
    if utc is None or not MIN_YEAR < utc.year < MAX_YEAR:
        raise Invalid(f"A message is said between the years {MIN_YEAR} and {MAX_YEAR}.")
    return utc


def parse_time(text: str | None) -> datetime | None:
    """A time from a query string, in UTC.

    Litestar would also read a plain number as a time; here it is refused.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Invalid(f"{text!r} is not a time such as 2027-01-01T03:00:00Z.") from error
    if moment.tzinfo is None:
        raise Invalid("A time needs its offset, such as the Z in 2027-01-01T03:00:00Z.")
    return in_utc(moment)
