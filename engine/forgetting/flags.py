"""«Forget This»: flags on messages, and all that follows from setting and taking back one.

Nothing is cut. What a flag does to a candidate, a memory or a link follows from the flags standing
on the messages it was drawn from, so whatever the order of flags and undos, taking all of them back
leaves what was there before the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engine.access import Caller, Tone
from engine.errors import (
    ConfirmationNeeded,
    Invalid,
    MessageNotFound,
    RangeNotFound,
    UndoWindowOver,
)
from engine.forgetting.acknowledgments import LOOKED_AT, PLAINEST, Acknowledger
from engine.forgetting.models import AffectedItems, FlagResult, Range, ReversalSource
from engine.ids import new_id
from engine.memory import LinkKey, LinkType
from engine.models import EARLIEST, Row
from engine.policy import Policy, as_policy
from engine.store import Graph
from engine.talk import (
    Deprioritization,
    as_acknowledgment,
    find_chosen,
    find_message,
    find_run,
    flag_record,
    sees_every_badge,
)


@dataclass(frozen=True, slots=True)
class FlagRules:
    """What an operator decides about flags."""

    confirm_from: int
    undo_window: timedelta
    debounce: timedelta  # flags this close together share one acknowledgment
    badges_for_all: bool = False  # whether members see the flags of others


async def flag_message(
    graph: Graph,
    acknowledger: Acknowledger,
    caller: Caller,
    message_id: str,
    rules: FlagRules,
    *,
    now: datetime,
) -> FlagResult:
    """Flag one message. One that is flagged already keeps its flag."""
    act = {"id": new_id(), "is_range": False, "by": caller.acts_as, "at": now}
    selection = await read_selection(graph, caller, [message_id], act, rules)
    return await flag(graph, acknowledger, caller, selection, [message_id], act, rules)


async def flag_range(
    graph: Graph,
    acknowledger: Acknowledger,
    caller: Caller,
    conversation_id: str,
    *,
    first_id: str | None = None,
    last_id: str | None = None,
    message_ids: Sequence[str] | None = None,
    confirmed: bool,
    rules: FlagRules,
    now: datetime,
) -> FlagResult:
    """Flag a run of messages, from one to another, both included; or those that are named."""
    if message_ids is None and first_id and last_id:
        run = await find_run(graph, caller, conversation_id, first_id, last_id)
    elif message_ids is not None and not first_id and not last_id:
        run = await find_chosen(graph, caller, conversation_id, message_ids)
    else:
        raise Invalid("A range is given by its first and last message, or by `message_ids`.")
    if len(run) >= rules.confirm_from and not confirmed:
        raise ConfirmationNeeded(len(run))
    act = {"id": new_id(), "is_range": True, "by": caller.acts_as, "at": now}
    selection = await read_selection(graph, caller, looked_at(run), act, rules)
    chosen = [message["id"] for message in run]
    return await flag(graph, acknowledger, caller, selection, chosen, act, rules)


def looked_at(run: Sequence[Row]) -> list[str]:
    """The ids of the first messages of a run, as many as an acknowledgment is compared with."""
    ids, left = [], LOOKED_AT
    for message in run:
        ids.append(message["id"])
        left -= message["size"]
        if left <= 0:
            break
    return ids


async def read_selection(
    graph: Graph, caller: Caller, message_ids: Sequence[str], act: Row, rules: FlagRules
) -> Row:
    """What has to be known of messages before they are flagged, for those who may know of them."""
    found = await graph.read(
        "forgetting/flags/read_selection",
        tenant_id=caller.tenant_id,
        message_ids=list(message_ids),
        **caller.visibility,
        by=act["by"],
        since=act["at"] - rules.debounce,
    )
    if not found:
        raise MessageNotFound(message_ids[0])
    return found[0]


async def phrase_acknowledgment(
    acknowledger: Acknowledger, selection: Row, act: Row, rules: FlagRules
) -> Row:
    """What may be said to it; whether for one or for several is decided with the flag.

    The plural one is in the voice of whoever gave the first of the burst, and repeats nothing of
    what that one answered.
    """
    personas = {persona["id"]: persona for persona in selection["personas"]}
    given = selection["given"]
    about = [*selection["contents"], *(given["contents"] if given else [])]

    async def phrases(persona_id: str) -> Any:
        voice = personas[persona_id]
        return await acknowledger.phrases(Tone(voice["tone"]), voice["name"], about, act["id"])

    own = await phrases(selection["persona_id"])
    several = {selection["persona_id"]: own.several}
    if given and given["persona_id"] not in several:
        several[given["persona_id"]] = (await phrases(given["persona_id"])).several
    return {
        "id": act["id"],
        "persona_id": selection["persona_id"],
        "single": own.single,
        "range": own.range,
        "several": several,
        "plainest": PLAINEST["several"],
        "since": act["at"] - rules.debounce,
    }


async def flag(
    graph: Graph,
    acknowledger: Acknowledger,
    caller: Caller,
    selection: Row,
    message_ids: Sequence[str],
    act: Row,
    rules: FlagRules,
) -> FlagResult:
    (done,) = await graph.write(
        "forgetting/flags/flag_messages",
        tenant_id=caller.tenant_id,
        conversation_id=selection["conversation_id"],
        message_ids=list(message_ids),
        act=act,
        personas={
            persona["id"]: flag_figures(as_policy(persona).effective, act["at"])
            for persona in selection["personas"]
        },
        ack=await phrase_acknowledgment(acknowledger, selection, act, rules),
    )
    changed = [row["message_id"] for row in done["records"] if row["flag"]["act"] == act["id"]]
    sees_all = sees_every_badge(caller, selection, badges_for_all=rules.badges_for_all)
    records = {
        # What somebody else has flagged reads as in a listing: as if nobody had.
        row["message_id"]: flag_record(row["flag"])
        if is_visible(row["flag"], caller, sees_all=sees_all)
        else Deprioritization()
        for row in done["records"]
    }
    range_id = act["id"] if act["is_range"] and changed else None
    return as_flagged(selection["conversation_id"], done, records, changed, range_id)


def flag_figures(policy: Policy, now: datetime) -> Row:
    """What the policy of a persona says about a flag that is set now."""
    factor = policy.figures.minimize_factor
    others = {
        kind: figures["minimize_factor"]
        for kind, figures in policy.as_parameter().items()
        if figures["minimize_factor"] != factor
    }
    return {
        "young_after": now - timedelta(hours=policy.figures.editing_window_hours),
        "factor": factor,
        "factor_of": list(others),
        "factors": list(others.values()),
    }


async def undo_message(
    graph: Graph,
    caller: Caller,
    message_id: str,
    source: ReversalSource,
    rules: FlagRules,
    *,
    now: datetime,
) -> FlagResult:
    """Take back the flag of one message."""
    found = await find_message(graph, caller, message_id)
    return await undo(graph, caller, found, [message_id], source, rules, range_id=None, now=now)


async def undo_range(
    graph: Graph,
    caller: Caller,
    range_id: str,
    source: ReversalSource,
    rules: FlagRules,
    *,
    message_ids: Sequence[str] | None,
    now: datetime,
) -> FlagResult:
    """Take back the flags that a range has set, or those on some of its messages."""
    found = await find_range(graph, caller, range_id, badges_for_all=rules.badges_for_all)
    members = found["range"]["message_ids"]
    chosen = members if message_ids is None else list(message_ids)
    strangers = sorted(set(chosen) - set(members))
    if strangers:
        raise Invalid(f"Message {strangers[0]!r} is not of this range.")
    where = {
        "conversation_id": found["range"]["conversation_id"],
        "is_admin": found["is_admin"],
    }
    return await undo(graph, caller, where, chosen, source, rules, range_id=range_id, now=now)


async def undo(
    graph: Graph,
    caller: Caller,
    where: Row,
    message_ids: Sequence[str],
    source: ReversalSource,
    rules: FlagRules,
    *,
    range_id: str | None,
    now: datetime,
) -> FlagResult:
    """Take back flags on some messages: a member their own, an admin or the tenant's staff any.

    `where` holds the `conversation_id`, and `is_admin`: whether the caller is one of its instance.
    With a range, only the flags that it has set.
    """
    at_once = source is ReversalSource.UNDO_TOAST
    act = {"id": new_id(), "by": caller.acts_as, "at": now, "source": source.value}
    (done,) = await graph.write(
        "forgetting/flags/undo_flags",
        tenant_id=caller.tenant_id,
        conversation_id=where["conversation_id"],
        message_ids=list(message_ids),
        range_id=range_id,
        flagged_by=None if where["is_admin"] else caller.sees_as,
        act=act,
        flagged_after=now - rules.undo_window if at_once else EARLIEST,
    )
    if done["late"]:
        raise UndoWindowOver
    changed = [
        row["message_id"] for row in done["records"] if row["flag"].get("reversed_in") == act["id"]
    ]
    sees_all = sees_every_badge(caller, where, badges_for_all=rules.badges_for_all)
    records = {
        row["message_id"]: flag_record(row["flag"])
        for row in done["records"]
        if is_visible(row["flag"], caller, sees_all=sees_all)
    }
    return as_flagged(where["conversation_id"], done, records, changed, None)


def is_visible(flag: Mapping[str, Any], caller: Caller, *, sees_all: bool) -> bool:
    """Whether the caller may see this flag."""
    return sees_all or flag["flagged_by"] == caller.user_id


async def get_range(
    graph: Graph, caller: Caller, range_id: str, *, badges_for_all: bool = False
) -> Range:
    """One range, for those who may see its flags."""
    found = await find_range(graph, caller, range_id, badges_for_all=badges_for_all)
    stored = dict(found["range"])
    personas = stored["persona_ids"]
    return Range(
        range_id=stored.pop("id"),
        persona_id=personas[0] if len(personas) == 1 else None,
        **stored,
    )


async def find_range(graph: Graph, caller: Caller, range_id: str, *, badges_for_all: bool) -> Row:
    """A range as it is kept, for those who may see its flags."""
    found = await graph.read(
        "forgetting/flags/get_range",
        tenant_id=caller.tenant_id,
        range_id=range_id,
        **caller.visibility,
    )
    if not found:
        raise RangeNotFound(range_id)
    sees_all = sees_every_badge(caller, found[0], badges_for_all=badges_for_all)
    if not sees_all and found[0]["range"]["created_by"] != caller.user_id:
        raise RangeNotFound(range_id)
    return found[0]


def as_flagged(
    conversation_id: str,
    done: Row,
    records: dict[str, Deprioritization],
    changed: list[str],
    range_id: str | None,
) -> FlagResult:
    touched = affected_items(done)
    return FlagResult(
        conversation_id=conversation_id,
        range_id=range_id,
        records=records,
        changed=changed,
        acknowledgment=as_acknowledgment(done.get("acknowledgment")),
        candidate_ids=touched.candidate_ids,
        memory_ids=touched.memory_ids,
        links=touched.links,
        checkpoint_ids=touched.checkpoint_ids,
        counts=touched.counts,
    )


def affected_items(done: Row) -> AffectedItems:
    """What a statement says it has touched; what it does not name was not."""
    links = sorted((link["from_id"], link["to_id"], link["type"]) for link in done.get("links", []))
    ids = {
        name: sorted(done.get(name, []))
        for name in ("candidate_ids", "memory_ids", "checkpoint_ids")
    }
    return AffectedItems(
        **ids,
        links=[LinkKey(source, target, LinkType(kind)) for source, target, kind in links],
        counts={
            "candidates": len(ids["candidate_ids"]),
            "memories": len(ids["memory_ids"]),
            "links": len(links),
            "checkpoints": len(ids["checkpoint_ids"]),
        },
    )
