"""Exporting a conversation, or a part of it, a page at a time, however long it is.

Flags are told beside what was said. What stands in for flagged messages in a context is for the
model alone, and never in an export.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from engine.conversations import as_message, as_seen, find_conversation, sees_every_badge
from engine.errors import MessageNotFound
from engine.graph import Graph, answer_within
from engine.models import Caller, Conversation, Message
from engine.paging import EARLIEST

AT_ONCE = 500  # messages read, and held, at a time
PAGE_SECONDS = 7.0  # for each page: how long all of it takes is up to who reads it
LATEST = datetime(9999, 12, 30, tzinfo=UTC)


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
) -> AsyncIterator[str]:
    """What was said, piece by piece, with the flags the caller may see. Refusals come first."""
    found = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, found, badges_for_all=badges_for_all)
    (ends,) = await graph.read(
        "conversations/find_ends",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        first_id=first_id,
        last_id=last_id,
    )
    if ends["missing"]:
        raise MessageNotFound(ends["missing"][0])
    first, last = ends["first"] or EARLIEST, ends["last"] or LATEST
    said = messages_between(graph, caller, conversation_id, first, last, sees_all=sees_all)
    conversation = Conversation(**found["conversation"])
    return written(conversation, said, STYLES[format], exclude_flagged=exclude_flagged)


async def messages_between(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    first: datetime,
    last: datetime,
    *,
    sees_all: bool,
) -> AsyncIterator[list[tuple[Message, str]]]:
    """Pages of what was said, each message with the name of who said it."""
    said_at, message_id = first, ""
    while True:
        with answer_within(PAGE_SECONDS):
            rows = await graph.read(
                "conversations/list_part",
                tenant_id=caller.tenant_id,
                conversation_id=conversation_id,
                from_said_at=said_at,
                from_id=message_id,
                until=last,
                limit=AT_ONCE + 1,
            )
        yield [
            (as_seen(as_message(row), caller, sees_all=sees_all), row["speaker"])
            for row in rows[:AT_ONCE]
        ]
        if len(rows) <= AT_ONCE:
            return
        after = rows[-1]["message"]
        said_at, message_id = after["said_at"], after["id"]


async def written(
    conversation: Conversation,
    pages: AsyncIterator[list[tuple[Message, str]]],
    style: Style,
    *,
    exclude_flagged: bool,
) -> AsyncIterator[str]:
    left_out = 0
    yield style.begin(conversation)
    async for page in pages:
        kept = [it for it in page if not (exclude_flagged and it[0].deprioritization.is_flagged)]
        left_out += len(page) - len(kept)
        yield "".join(style.message(message, speaker) for message, speaker in kept)
    if exclude_flagged:
        yield style.left_out(left_out)


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
    ),
    ExportFormat.MARKDOWN: Style(begin=as_heading, message=as_quote, left_out=as_closing),
}
