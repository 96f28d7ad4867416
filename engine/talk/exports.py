"""Exporting a conversation, or a part of it, a page at a time, however long it is.

Flags are told beside what was said. What stands in for flagged messages in a context is for the
model alone, and never in an export.
"""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from engine.access import Caller
from engine.errors import MessageNotFound
from engine.models import EARLIEST, Row
from engine.store import Graph, answer_within, audit_record
from engine.talk.conversations import as_message, as_seen, find_conversation, sees_every_badge
from engine.talk.models import Conversation, Message

AT_ONCE = 500  # messages read, and held, at a time
PAGE_SECONDS = 7.0  # for each page: how long all of it takes is up to who reads it
BEGINNING = {"said_at": EARLIEST, "arrival": 0}
END = {"said_at": datetime(9999, 12, 30, tzinfo=UTC), "arrival": 0}


class ExportFormat(StrEnum):
    """How an export is written: for programs, or for people."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Style:
    """How one format is written."""

    begin: Callable[[Conversation], str]
    message: Callable[[Message, str], str]
    left_out: Callable[[int], str]
    note: str  # that the flags of others are not shown


@dataclass(frozen=True, slots=True)
class Exported:
    """One message of an export, as the caller may see it."""

    message: Message
    speaker: str  # the name of who said it
    is_flagged: bool = field(kw_only=True)  # by anybody


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
    """What was said, piece by piece, with the flags the caller may see. Refusals come first.

    To leave out what is flagged leaves out what anybody has flagged. A caller who does not see the
    flags of others is told so, whether there are any or not.
    """
    found = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, found, badges_for_all=badges_for_all)
    (ends,) = await graph.read(
        "talk/exports/find_bounds",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        first_id=first_id,
        last_id=last_id,
    )
    if ends["missing"]:
        raise MessageNotFound(ends["missing"][0])
    await graph.write(
        "talk/exports/record_export",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        event=audit_record("exported", by=caller.acts_as, now=now),
        after=json.dumps(
            {
                "format": format.value,
                "exclude_flagged": exclude_flagged,
                "first_message_id": first_id,
                "last_message_id": last_id,
            }
        ),
    )
    first, last = ends["first"] or BEGINNING, ends["last"] or END
    said = messages_between(graph, caller, conversation_id, first, last, sees_all=sees_all)
    return written(
        Conversation(**found["conversation"]),
        said,
        STYLES[format],
        exclude_flagged=exclude_flagged,
        sees_all=sees_all,
    )


async def messages_between(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    first: Row,
    last: Row,
    *,
    sees_all: bool,
) -> AsyncIterator[list[Exported]]:
    """Pages of what was said, from one place in the conversation's order to another."""
    said_at, arrival = first["said_at"], first["arrival"]
    while True:
        with answer_within(PAGE_SECONDS):
            rows = await graph.read(
                "talk/exports/list_exported_messages",
                tenant_id=caller.tenant_id,
                conversation_id=conversation_id,
                from_said_at=said_at,
                from_arrival=arrival,
                until=last["said_at"],
                until_arrival=last["arrival"],
                limit=AT_ONCE + 1,
            )
        yield [
            Exported(
                as_seen(message, caller, sees_all=sees_all),
                row["speaker"],
                is_flagged=message.deprioritization.is_flagged,
            )
            for row, message in ((row, as_message(row)) for row in rows[:AT_ONCE])
        ]
        if len(rows) <= AT_ONCE:
            return
        said_at, arrival = rows[-1]["message"]["said_at"], rows[-1]["arrival"]


async def written(
    conversation: Conversation,
    pages: AsyncIterator[list[Exported]],
    style: Style,
    *,
    exclude_flagged: bool,
    sees_all: bool,
) -> AsyncIterator[str]:
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


def as_line(value: object) -> str:
    return f"{msgspec.json.encode(value).decode()}\n"


def as_heading(conversation: Conversation) -> str:
    title = " ".join((conversation.title or conversation.id).split())
    return f"# {title}\n"


def as_quote(message: Message, speaker: str) -> str:
    """Who, when, whether it is remembered; what was said as a quote, since it may be Markdown."""
    name = " ".join(speaker.split())
    note = " · *not remembered*" if message.deprioritization.is_flagged else ""
    lines = message.content.splitlines() or [""]
    quoted = "\n".join(f"> {line}".rstrip() for line in lines)
    return f"\n**{name}** · {message.timestamp:%Y-%m-%d %H:%M:%S} UTC{note}\n\n{quoted}\n"


def as_closing(left_out: int) -> str:
    messages = "1 message that is" if left_out == 1 else f"{left_out} messages that are"
    return f"\n*Left out: {messages} not remembered.*\n"


STYLES = {
    ExportFormat.JSONL: Style(
        begin=lambda _: "",
        message=lambda message, _: as_line(message),
        left_out=lambda count: as_line({"excluded": count}),
        note=as_line({"flags_of_others": "not shown"}),
    ),
    ExportFormat.MARKDOWN: Style(
        begin=as_heading,
        message=as_quote,
        left_out=as_closing,
        note="\n*What others have flagged is not marked.*\n",
    ),
}
