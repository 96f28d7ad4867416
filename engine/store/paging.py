"""Listings by cursor: where a page stopped, made opaque so that nobody builds on what is in it.

A cursor is what a caller sends back, so each kind of it is read as exactly what it was: an id, a
place, a number and an id, or a time and an id. Everything else is refused.
"""

import base64
import binascii
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

import msgspec

from engine.bounds import CURSOR
from engine.errors import Invalid
from engine.models import EARLIEST

T = TypeVar("T")

MOST_DIGITS = 18  # of a number that Neo4j can hold
DIGITS = 15  # of a place in a listing; more than there will ever be, and exact as a number


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a listing; `next_cursor` asks for the part after it, and is null at the end."""

    items: list[T]
    next_cursor: str | None


def not_ours() -> Invalid:
    return Invalid("The cursor is not one that a listing gave out.")


def decode_id(cursor: str | None) -> str:
    """The id a page starts after; '' comes before every id."""
    if cursor is None:
        return ""
    if len(cursor) > CURSOR:
        raise not_ours()
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise not_ours() from error


def decode_place(cursor: str | None) -> int:
    """The place that a page of a numbered listing starts after; 0 without a cursor."""
    place = decode_id(cursor)
    if not place:
        return 0
    if len(place) > DIGITS or not (place.isascii() and place.isdecimal()):
        raise not_ours()
    return int(place)


def number_key(number: float, id_: str) -> str:
    """What a listing sorted by a number gives out: ids tell apart what has the same one."""
    return msgspec.json.encode((number, id_)).decode()


def decode_number(cursor: str | None) -> tuple[float | None, str]:
    """The number and the id that a page of a listing by number starts after."""
    text = decode_id(cursor)
    if not text:
        return None, ""
    try:
        number, id_ = msgspec.json.decode(text, type=tuple[float, str])
    except msgspec.DecodeError as error:
        raise not_ours() from error
    if not math.isfinite(number):
        raise not_ours()
    return number, id_


def moment_key(at: datetime, id_: str) -> str:
    """What a listing by time gives out: ids tell apart what was at the same time."""
    return f"{at.isoformat()}|{id_}"


def decode_moment(cursor: str | None) -> tuple[datetime, str]:
    """The time and the id that a page of a listing by time starts after."""
    at, _, id_ = decode_id(cursor).partition("|")
    if not at:
        return EARLIEST, id_
    try:
        last = datetime.fromisoformat(at)
        if last.tzinfo is None:
            raise not_ours()
        return last.astimezone(UTC), id_
    except (ValueError, OverflowError) as error:
        raise not_ours() from error


def decode_arrival(cursor: str | None) -> tuple[datetime, int]:
    """The time and the number of arrival that a page of a conversation starts after."""
    at, number = decode_moment(cursor)
    if not number:
        return at, 0
    if not (number.isascii() and number.isdecimal() and len(number) <= MOST_DIGITS):
        raise Invalid("The cursor is not one that a listing gave out.")
    return at, int(number)


def make_page(found: Sequence[T], limit: int, id_of: Callable[[T], str]) -> Page[T]:
    """The page of `limit` items, given one more than that when there are more."""
    items = list(found[:limit])
    if len(found) <= limit:
        return Page(items, None)
    return Page(items, encode_cursor(id_of(items[-1])))


def encode_cursor(place: str) -> str:
    """A cursor that `decode_id` reads again."""
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")
