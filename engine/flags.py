"""«Forget This»: flags on messages, and all that follows from setting and taking back one.

Nothing is cut. What a flag does to a candidate, a memory or a link follows from the flags standing
on the messages it was drawn from, so whatever the order of flags and undos, taking all of them back
leaves what was there before the first.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from engine.acknowledgments import Acknowledger
from engine.conversations import as_record, get_conversation
from engine.errors import (
    ConfirmationNeeded,
    Invalid,
    MessageNotFound,
    RangeNotFound,
    UndoWindowOver,
)
from engine.graph import Graph, Row
from engine.models import (
    Acknowledgment,
    Caller,
    Flagged,
    Range,
    ReversalSource,
    Tone,
    new_id,
)
from engine.paging import EARLIEST

YOUNG = timedelta(hours=24)  # a single message older than this is only kept out of context


@dataclass(frozen=True, slots=True)
class FlagRules:
    """What an operator decides about flags."""

    confirm_from: int
    undo_window: timedelta
    debounce: timedelta  # flags this close together share one acknowledgment
    factor: float


async def flag_message(
    graph: Graph,
    acknowledger: Acknowledger,
    caller: Caller,
    message_id: str,
    rules: FlagRules,
    *,
    now: datetime,
) -> Flagged:
    """Flag one message. One that is flagged already keeps its flag."""
    found = await find_message(graph, caller, message_id)
    act = {"id": new_id(), "is_range": False, "by": caller.acts_as, "at": now}
    ack = await to_say(acknowledger, found["persona"], [found["content"]], act, rules)
    return await flag(graph, caller, found["conversation_id"], [message_id], act, ack, rules)


async def flag_range(
    graph: Graph,
    acknowledger: Acknowledger,
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
    run = await find_run(graph, caller, conversation_id, first_id, last_id)
    if len(run["message_ids"]) >= rules.confirm_from and not confirmed:
        raise ConfirmationNeeded(len(run["message_ids"]))
    act = {"id": new_id(), "is_range": True, "by": caller.acts_as, "at": now}
    ack = await to_say(acknowledger, run["persona"], run["contents"], act, rules)
    return await flag(graph, caller, conversation_id, run["message_ids"], act, ack, rules)


async def to_say(
    acknowledger: Acknowledger, persona: Row, about: Sequence[str], act: Row, rules: FlagRules
) -> Row:
    """What the persona may say to it; whether for one or for several is decided with the flag."""
    told = await acknowledger.phrases(Tone(persona["tone"]), persona["name"], about, act["id"])
    return {
        "id": act["id"],
        "persona_id": persona["id"],
        "since": act["at"] - rules.debounce,
        **asdict(told),
    }


async def flag(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    message_ids: Sequence[str],
    act: Row,
    ack: Row,
    rules: FlagRules,
) -> Flagged:
    (told,) = await graph.write(
        "flags/flag_messages",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        message_ids=list(message_ids),
        act=act,
        young_after=act["at"] - YOUNG,
        factor=rules.factor,
        event={"id": act["id"], "action": "flagged"},
        ack=ack,
    )
    changed = [it["message_id"] for it in told["records"] if it["flag"]["act"] == act["id"]]
    range_id = act["id"] if act["is_range"] and changed else None
    return as_flagged(conversation_id, told, changed, range_id)


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
    found = await find_message(graph, caller, message_id)
    return await undo(graph, caller, found["conversation_id"], [message_id], source, rules, now)


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
    act = {"id": new_id(), "by": caller.acts_as, "at": now, "source": source.value}
    (told,) = await graph.write(
        "flags/undo_flags",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        message_ids=list(message_ids),
        act=act,
        flagged_after=now - rules.undo_window if at_once else EARLIEST,
        factor=rules.factor,
        event={"id": act["id"], "action": "unflagged"},
    )
    if told["late"]:
        raise UndoWindowOver
    changed = [
        it["message_id"] for it in told["records"] if it["flag"].get("reversed_in") == act["id"]
    ]
    return as_flagged(conversation_id, told, changed, None)


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


async def find_run(
    graph: Graph, caller: Caller, conversation_id: str, first_id: str, last_id: str | None
) -> Row:
    """What was said from one message to another, or to the end, for those who may know of it."""
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
    return found[0]


async def find_message(graph: Graph, caller: Caller, message_id: str) -> Row:
    """Where a message was said, for those who may know of it."""
    found = await graph.read(
        "flags/find_message",
        tenant_id=caller.tenant_id,
        message_id=message_id,
        user_id=caller.sees_as,
    )
    if not found:
        raise MessageNotFound(message_id)
    return found[0]


def as_flagged(
    conversation_id: str, told: Row, changed: list[str], range_id: str | None
) -> Flagged:
    return Flagged(
        conversation_id=conversation_id,
        range_id=range_id,
        records={it["message_id"]: as_record(it["flag"]) for it in told["records"]},
        changed=changed,
        candidate_ids=sorted(told["candidate_ids"]),
        memory_ids=sorted(told["memory_ids"]),
        checkpoint_ids=sorted(told["checkpoint_ids"]),
        links=told["links"],
        acknowledgment=as_acknowledgment(told.get("acknowledgment")),
    )


def as_acknowledgment(stored: Row | None) -> Acknowledgment | None:
    if stored is None:
        return None
    told = dict(stored)
    return Acknowledgment(told.pop("id"), **told)
