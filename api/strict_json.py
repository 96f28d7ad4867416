"""Reads request bodies strictly: exact types, no key twice, no NUL characters."""

import asyncio
import json
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import ClientException, ValidationException

from engine import bounds
from engine.bounds import check_content
from engine.errors import Invalid

LARGE_BODY = 64 * 1024  # bytes; a larger body is checked in a thread, off the event loop


class StrictRequest(Request[Any, Any, Any]):
    """Decodes a body as exactly the type its route takes: a number is never read from a string.

    Litestar's own decoding is lenient, because it also has to read query strings.
    """

    async def json(self) -> Any:
        field = self.route_handler.parsed_data_field
        body = await self.body()
        value = decode(body, field.annotation if field else Any)
        content = getattr(value, "content", None)
        if isinstance(content, dict):
            try:
                check_content(content)
            except Invalid as error:
                raise field_refusal("content", str(error)) from error
        if len(body) > LARGE_BODY:
            await asyncio.to_thread(check_strings_and_keys, body)
        else:
            check_strings_and_keys(body)
        return value


def decode(body: bytes, body_type: Any) -> Any:
    """The body as its type. Refuses what is not JSON or does not fit, naming the field."""
    try:
        return msgspec.json.decode(body, type=body_type)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        raise field_refusal(path.strip(".`"), message) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ClientException("The body is not JSON.") from error
    except RecursionError as error:
        raise ClientException("The body is nested too deep.") from error


def field_refusal(field: str, message: str) -> ValidationException:
    """The refusal of a body because of one of its fields."""
    return ValidationException(
        "The body is not what this route takes.", extra=[{"key": field, "message": message}]
    )


def check_strings_and_keys(body: bytes) -> None:
    """Refuse what msgspec accepts silently: a key given twice, and strings with NUL in them."""
    may_have_nul = b"\\u0000" in body

    def check_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = next(name for name in names if names.count(name) > 1)
            raise field_refusal(repeated[: bounds.NAME], "Object has this field twice")
        if may_have_nul and (any("\0" in name for name in fields) or has_nul([*fields.values()])):
            raise ClientException("A string in the body holds a NUL character.")
        return fields

    try:
        value = json.loads(body, object_pairs_hook=check_object)
    except RecursionError as error:
        raise ClientException("The body is nested too deep.") from error
    if may_have_nul and has_nul([value]):
        raise ClientException("A string in the body holds a NUL character.")


def has_nul(values: list[Any]) -> bool:
    """Whether a string among these values, or in lists of them, holds NUL."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and "\0" in value:
            return True
        if isinstance(value, list):
            waiting += value
    return False
