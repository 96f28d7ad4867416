"""Listings by cursor: the last id of a page, made opaque so that nobody builds on what is in it."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.errors import Invalid
from engine.models import Page

T = TypeVar("T")


def after(cursor: str | None) -> str:
    """The id a page starts after; '' comes before every id."""
    if cursor is None:
        return ""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise Invalid("The cursor is not one that a listing gave out.") from error


def page(found: Sequence[T], limit: int, id_of: Callable[[T], str]) -> Page[T]:
    """The page of `limit` items, given one more than that when there are more."""
    items = list(found[:limit])
    if len(found) <= limit:
        return Page(items, None)
    last = id_of(items[-1]).encode()
    return Page(items, base64.urlsafe_b64encode(last).decode().rstrip("="))
