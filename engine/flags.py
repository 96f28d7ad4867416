"""«Forget This»: flags on messages, and all that follows from setting and taking back one.

Nothing is cut. What a flag does to a candidate, a memory or a link follows from the flags standing
on the messages it was drawn from, so whatever the order of flags and undos, taking all of them back
leaves what was there before the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.conversations import as_record, get_conversation
from engine.errors import (
    ConfirmationNeeded,
    Invalid,
    MessageNotFound,
    RangeNotFound,
    UndoWindowOver,
)
from engine.graph import Graph, Row
from engine.models import Caller, Flagged, Range, ReversalSource, new_id
from engine.paging import EARLIEST

YOUNG = timedelta(hours=24)  # a single message older than this is only kept out of context


@dataclass(frozen=True, slots=True)
class FlagRules:
    """What an operator decides about flags."""

    confirm_from: int
    undo_window: timedelta
    factor: float


async def flag_message(
    graph: Graph, caller: Caller, message_id: str, rules: FlagRules, *, now: datetime
) -> Flagged:
    """Flag one message. One that is flagged already keeps its flag."""
    conversation_id = await conversation_of(graph, caller, message_id)
    act = {"id": new_id(), "is_range": False, "by": who(caller), "at": now}
    return await flag(graph, caller, conversation_id, [message_id], act, rules)


async def flag_range(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    *,
    first_id: str,
    last_id: str,
    confirmed: bool,
    rules: FlagRules,
    now: datetime,
) -> Flagged:
    """Flag a run of messages, from one to another, both included."""
    await get_conversation(graph, caller, conversation_id)
    found = await graph.read(
        "flags/list_run",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        first_id=first_id,
        last_id=last_id,
    )
    if not found:
        raise Invalid("The first and the last message have to be of this conversation.")
    message_ids = found[0]["message_ids"]
    if len(message_ids) >= rules.confirm_from and not confirmed:
        raise ConfirmationNeeded(len(message_ids))
    act = {"id": new_id(), "is_range": True, "by": who(caller), "at": now}
    return await flag(graph, caller, conversation_id, message_ids, act, rules)


async def flag(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    message_ids: Sequence[str],
    act: Row,
    rules: FlagRules,
) -> Flagged:
    rows = await graph.write(
        "flags/flag_messages",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        message_ids=list(message_ids),
        act=act,
        young_after=act["at"] - YOUNG,
        factor=rules.factor,
        event={"id": act["id"], "action": "flagged"},
    )
    changed = [row["message_id"] for row in rows if row["flag"]["act"] == act["id"]]
    return as_flagged(rows, changed, act["id"] if act["is_range"] and changed else None)


async def undo_message(
    graph: Graph,
    caller: Caller,
    message_id: str,
    source: ReversalSource,
    rules: FlagRules,
    *,
    now: datetime,
) -> Flagged:
    """Take back the flag of one message."""
    conversation_id = await conversation_of(graph, caller, message_id)
    return await undo(graph, caller, conversation_id, [message_id], source, rules, now)


async def undo_range(
    graph: Graph,
    caller: Caller,
    range_id: str,
    source: ReversalSource,
    rules: FlagRules,
    *,
    message_ids: Sequence[str] | None,
    now: datetime,
) -> Flagged:
    """Take back the flags of a range, or of some of its messages."""
    range_ = await get_range(graph, caller, range_id)
    chosen = range_.message_ids if message_ids is None else list(message_ids)
    strangers = sorted(set(chosen) - set(range_.message_ids))
    if strangers:
        raise Invalid(f"Message {strangers[0]!r} is not of this range.")
    return await undo(graph, caller, range_.conversation_id, chosen, source, rules, now)


async def undo(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    message_ids: Sequence[str],
    source: ReversalSource,
    rules: FlagRules,
    now: datetime,
) -> Flagged:
    at_once = source is ReversalSource.UNDO_TOAST
    act = {"id": new_id(), "by": who(caller), "at": now, "source": source.value}
    rows = await graph.write(
        "flags/undo_flags",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        message_ids=list(message_ids),
        act=act,
        flagged_after=now - rules.undo_window if at_once else EARLIEST,
        factor=rules.factor,
        event={"id": act["id"], "action": "unflagged"},
    )
    if rows and rows[0]["late"]:
        raise UndoWindowOver
    changed = [row["message_id"] for row in rows if row["flag"].get("reversed_at") == now]
    return as_flagged(rows, changed, None)


async def get_range(graph: Graph, caller: Caller, range_id: str) -> Range:
    found = await graph.read(
        "flags/get_range",
        tenant_id=caller.tenant_id,
        range_id=range_id,
        user_id=caller.sees_as,
    )
    if not found:
        raise RangeNotFound(range_id)
    stored = dict(found[0]["range"])
    personas = stored["persona_ids"]
    return Range(
        range_id=stored.pop("id"),
        persona_id=personas[0] if len(personas) == 1 else None,
        **stored,
    )


async def conversation_of(graph: Graph, caller: Caller, message_id: str) -> str:
    """Where a message was said, for those who may know of it."""
    found = await graph.read(
        "flags/find_message",
        tenant_id=caller.tenant_id,
        message_id=message_id,
        user_id=caller.sees_as,
    )
    if not found:
        raise MessageNotFound(message_id)
    return str(found[0]["conversation_id"])


def who(caller: Caller) -> str:
    """The person, or the key that speaks for none."""
    return caller.user_id or f"key:{caller.key_id}"


def as_flagged(rows: Sequence[Row], changed: list[str], range_id: str | None) -> Flagged:
    told = rows[0] if rows else {"candidates": 0, "memories": 0, "links": 0}
    return Flagged(
        range_id=range_id,
        records={row["message_id"]: as_record(row["flag"]) for row in rows},
        changed=changed,
        candidates=told["candidates"],
        memories=told["memories"],
        links=told["links"],
    )
