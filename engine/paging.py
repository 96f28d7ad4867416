"""Listings by cursor: the last id of a page, made opaque so that nobody builds on what is in it."""

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from engine.errors import Invalid
from engine.models import Page

T = TypeVar("T")

EARLIEST = datetime(1, 1, 2, tzinfo=UTC)  # before everything anybody said


def after(cursor: str | None) -> str:
    """The id a page starts after; '' comes before every id."""
    if cursor is None:
        return ""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise Invalid("The cursor is not one that a listing gave out.") from error


def moment(at: datetime, id_: str) -> str:
    """What a listing by time gives out: ids tell apart what was at the same time."""
    return f"{at.isoformat()}|{id_}"


def after_moment(cursor: str | None) -> tuple[datetime, str]:
    """The time and the id that a page of a listing by time starts after."""
    at, _, id_ = after(cursor).partition("|")
    try:
        last = datetime.fromisoformat(at) if at else EARLIEST
    except ValueError as error:
        raise Invalid("The cursor is not one that a listing gave out.") from error
    return last if last.tzinfo else EARLIEST, id_


def page(found: Sequence[T], limit: int, id_of: Callable[[T], str]) -> Page[T]:
    """The page of `limit` items, given one more than that when there are more."""
    items = list(found[:limit])
    if len(found) <= limit:
        return Page(items, None)
    last = id_of(items[-1]).encode()
    return Page(items, base64.urlsafe_b64encode(last).decode().rstrip("="))
