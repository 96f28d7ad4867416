"""Pages of listings, and the cursors that ask for the next page.

A cursor holds the sort key of the last item of a page, in base64 so that nobody builds on its
content. Callers send it back, so it is checked: it must hold an id, a place, a number and an id,
or a time and an id, as the listing expects. Everything else is refused.
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

MAX_ARRIVAL_DIGITS = 18  # every such number is a Neo4j integer
MAX_PLACE_DIGITS = 15  # more than any listing has, and exact as a float


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a listing. `next_cursor` asks for the next part and is null at the end."""

    items: list[T]
    next_cursor: str | None


def invalid_cursor() -> Invalid:
    return Invalid("The cursor is not one that a listing gave out.")


def decode_id(cursor: str | None) -> str:
    """The id that a page starts after; '', before every id, without a cursor."""
    if cursor is None:
        return ""
    if len(cursor) > CURSOR:
        raise invalid_cursor()
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise invalid_cursor() from error


def decode_place(cursor: str | None) -> int:
    """The place that a page of a numbered listing starts after; 0 without a cursor."""
    digits = decode_id(cursor)
    if not digits:
        return 0
    if len(digits) > MAX_PLACE_DIGITS or not (digits.isascii() and digits.isdecimal()):
        raise invalid_cursor()
    return int(digits)


def number_key(number: float, id_: str) -> str:
    """The sort key of an item in a listing by number; the id orders items of the same number."""
    return msgspec.json.encode((number, id_)).decode()


def decode_number(cursor: str | None) -> tuple[float | None, str]:
    """The number and the id that a page of a listing by number starts after."""
    key = decode_id(cursor)
    if not key:
        return None, ""
    try:
        number, id_ = msgspec.json.decode(key, type=tuple[float, str])
    except msgspec.DecodeError as error:
        raise invalid_cursor() from error
    if not math.isfinite(number):
        raise invalid_cursor()
    return number, id_


def moment_key(at: datetime, id_: str) -> str:
    """The sort key of an item in a listing by time; the id orders items of the same time."""
    return f"{at.isoformat()}|{id_}"


def decode_moment(cursor: str | None, *, first: datetime = EARLIEST) -> tuple[datetime, str]:
    """The time and the id that a page of a listing by time starts after; `first` at its start."""
    at, _, id_ = decode_id(cursor).partition("|")
    if not at:
        return first, id_
    try:
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise invalid_cursor()
        return moment.astimezone(UTC), id_
    except (ValueError, OverflowError) as error:
        raise invalid_cursor() from error


def decode_arrival(cursor: str | None) -> tuple[datetime, int]:
    """The time and the arrival number that a page of a conversation starts after."""
    at, digits = decode_moment(cursor)
    if not digits:
        return at, 0
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MAX_ARRIVAL_DIGITS):
        raise invalid_cursor()
    return at, int(digits)


def make_page(listed: Sequence[T], limit: int, key_of: Callable[[T], str]) -> Page[T]:
    """The first `limit` items, with a cursor if `listed` holds more: list one more than `limit`."""
    items = list(listed[:limit])
    if len(listed) <= limit:
        return Page(items, None)
    return Page(items, encode_cursor(key_of(items[-1])))


def encode_cursor(key: str) -> str:
    """A cursor from which `decode_id` reads the key again."""
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")
