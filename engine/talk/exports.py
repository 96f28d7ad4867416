"""Exporting a conversation, or a part of it, a page at a time, however long it is.

Each message is written with its flag. The placeholders that stand for flagged messages in a context
are for the model only, and never in an export.
"""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

import msgspec

from engine.access import Caller
from engine.errors import MessageNotFound
from engine.models import EARLIEST, Row
from engine.store import Graph, answer_within, audit_record
from engine.talk.conversations import (
    as_shown,
    find_conversation,
    message_from_row,
    sees_every_badge,
)
from engine.talk.models import Conversation, Message

BATCH_SIZE = 500  # messages read, and held in memory, at a time
PAGE_SECONDS = 7.0  # for each page: the whole export takes as long as its reader does


class MessagePosition(NamedTuple):
    """A place in a conversation's order."""

    said_at: datetime
    arrival: int


START = MessagePosition(EARLIEST, 0)
END = MessagePosition(datetime(9999, 12, 30, tzinfo=UTC), 0)


class ExportFormat(StrEnum):
    """How an export is written: for programs, or for people."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Style:
    """The text of each part of an export in one format."""

    begin: Callable[[Conversation], str]
    message: Callable[[Message, str], str]
    left_out: Callable[[int], str]
    note: str  # that the flags of others are not shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedMessage:
    """One message of an export, as the caller may see it."""

    message: Message
    speaker: str  # the name of who said it
    is_flagged: bool  # by anybody


async def export_conversation(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    *,
    format: ExportFormat,  # noqa: A002
    exclude_flagged: bool,
    first_id: str | None,
    last_id: str | None,
    badges_for_all: bool = True,
    now: datetime | None = None,
) -> AsyncIterator[str]:
    """The messages as text, piece by piece, with the flags that the caller may see.

    Errors are raised before the first piece. `exclude_flagged` leaves out what anybody has flagged.
    A caller who may not see the flags of others is told so, whether there are any or not.
    """
    found = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, is_admin=found.is_admin, badges_for_all=badges_for_all)
    first, last = await find_ends(graph, caller, conversation_id, first_id, last_id)
    audited = {
        "format": format.value,
        "exclude_flagged": exclude_flagged,
        "first_message_id": first_id,
        "last_message_id": last_id,
    }
    await graph.write(
        "talk/exports/record_export",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        event=audit_record("exported", by=caller.acts_as, now=now),
        after=json.dumps(audited),
    )
    return export_pieces(
        found.conversation,
        read_pages(graph, caller, conversation_id, first, last, sees_all=sees_all),
        STYLES[format],
        exclude_flagged=exclude_flagged,
        sees_all=sees_all,
    )


async def find_ends(
    graph: Graph, caller: Caller, conversation_id: str, first_id: str | None, last_id: str | None
) -> tuple[MessagePosition, MessagePosition]:
    """The positions of the first and the last message; without an id, of the whole conversation."""
    (ends,) = await graph.read(
        "talk/exports/find_bounds",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        first_id=first_id,
        last_id=last_id,
    )
    if ends["missing"]:
        raise MessageNotFound(ends["missing"][0])
    first, last = (
        MessagePosition(end["said_at"], end["arrival"]) if end else default
        for end, default in ((ends["first"], START), (ends["last"], END))
    )
    return first, last


async def read_pages(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    first: MessagePosition,
    last: MessagePosition,
    *,
    sees_all: bool,
) -> AsyncIterator[list[ExportedMessage]]:
    """The messages from one position to another, a page at a time."""
    start = first
    while True:
        with answer_within(PAGE_SECONDS):
            rows = await graph.read(
                "talk/exports/list_exported_messages",
                tenant_id=caller.tenant_id,
                conversation_id=conversation_id,
                from_said_at=start.said_at,
                from_arrival=start.arrival,
                until=last.said_at,
                until_arrival=last.arrival,
                limit=BATCH_SIZE + 1,
            )
        yield [exported_message(row, caller, sees_all=sees_all) for row in rows[:BATCH_SIZE]]
        if len(rows) <= BATCH_SIZE:
            return
        start = MessagePosition(rows[-1]["message"]["said_at"], rows[-1]["arrival"])


def exported_message(row: Row, caller: Caller, *, sees_all: bool) -> ExportedMessage:
    message = message_from_row(row["message"])
    return ExportedMessage(
        message=as_shown(message, caller, sees_all=sees_all),
        speaker=row["speaker"],
        is_flagged=message.deprioritization.is_flagged,
    )


async def export_pieces(
    conversation: Conversation,
    pages: AsyncIterator[list[ExportedMessage]],
    style: Style,
    *,
    exclude_flagged: bool,
    sees_all: bool,
) -> AsyncIterator[str]:
    """The text of an export: its beginning, each page, and what was left out or is not shown."""
    left_out = 0
    yield style.begin(conversation)
    async for page in pages:
        kept = [exported for exported in page if not (exclude_flagged and exported.is_flagged)]
        left_out += len(page) - len(kept)
        yield "".join(style.message(exported.message, exported.speaker) for exported in kept)
    if exclude_flagged:
        yield style.left_out(left_out)
    elif not sees_all:
        yield style.note


def json_line(value: object) -> str:
    return f"{msgspec.json.encode(value).decode()}\n"


def markdown_heading(conversation: Conversation) -> str:
    title = " ".join((conversation.title or conversation.id).split())
    return f"# {title}\n"


def markdown_message(message: Message, speaker: str) -> str:
    """Speaker, time and flag on one line; the content as a quote, since it may be Markdown."""
    name = " ".join(speaker.split())
    note = " · *not remembered*" if message.deprioritization.is_flagged else ""
    lines = message.content.splitlines() or [""]
    quoted = "\n".join(f"> {line}".rstrip() for line in lines)
    return f"\n**{name}** · {message.timestamp:%Y-%m-%d %H:%M:%S} UTC{note}\n\n{quoted}\n"


def markdown_left_out(left_out: int) -> str:
    messages = "1 message that is" if left_out == 1 else f"{left_out} messages that are"
    return f"\n*Left out: {messages} not remembered.*\n"


STYLES = {
    ExportFormat.JSONL: Style(
        begin=lambda _: "",
        message=lambda message, _: json_line(message),
        left_out=lambda count: json_line({"excluded": count}),
        note=json_line({"flags_of_others": "not shown"}),
    ),
    ExportFormat.MARKDOWN: Style(
        begin=markdown_heading,
        message=markdown_message,
        left_out=markdown_left_out,
        note="\n*What others have flagged is not marked.*\n",
    ),
}
