"""«Forget This»: setting flags on messages, and undoing them.

Nothing is deleted. What flags do to a candidate, a memory or a link is computed from all flags that
stand on the messages it was drawn from. So in whatever order flags are set and undone, undoing all
of them restores what was there before the first.
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
from engine.forgetting.acknowledgments import (
    MAX_COMPARED_CHARACTERS,
    NEUTRAL_PHRASES,
    Acknowledger,
    Phrases,
)
from engine.forgetting.models import (
    AffectedItems,
    FlagAct,
    FlagResult,
    Range,
    RecentAcknowledgment,
    ReversalSource,
    Selection,
    UndoScope,
)
from engine.ids import new_id
from engine.memory import LinkKey, LinkType
from engine.models import EARLIEST, Row
from engine.policy import Policy, as_policy
from engine.store import Graph
from engine.talk import (
    Deprioritization,
    acknowledgment_from_row,
    find_chosen,
    find_message,
    find_run,
    flag_record,
    sees_every_badge,
)


@dataclass(frozen=True, slots=True)
class FlagRules:
    """What an operator has set for flags."""

    confirm_from: int  # messages of a range from which on it must be confirmed
    undo_window: timedelta  # how long the chat offers undo
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
    act = FlagAct(new_id(), caller.acts_as, now, is_range=False)
    selection = await read_selection(graph, caller, [message_id], act, rules)
    return await set_flags(graph, acknowledger, caller, selection, [message_id], act, rules)


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
    """Flag the messages from `first_id` to `last_id`, both included, or those in `message_ids`."""
    if message_ids is None and first_id and last_id:
        run = await find_run(graph, caller, conversation_id, first_id, last_id)
    elif message_ids is not None and not first_id and not last_id:
        run = await find_chosen(graph, caller, conversation_id, message_ids)
    else:
        raise Invalid("A range is given by its first and last message, or by `message_ids`.")
    if len(run) >= rules.confirm_from and not confirmed:
        raise ConfirmationNeeded(len(run))
    act = FlagAct(new_id(), caller.acts_as, now, is_range=True)
    selection = await read_selection(graph, caller, ids_to_compare(run), act, rules)
    run_ids = [message["id"] for message in run]
    return await set_flags(graph, acknowledger, caller, selection, run_ids, act, rules)


def ids_to_compare(run: Sequence[Row]) -> list[str]:
    """The ids of the first messages of a run: as many as an acknowledgment is compared with."""
    ids, characters_left = [], MAX_COMPARED_CHARACTERS
    for message in run:
        ids.append(message["id"])
        characters_left -= message["size"]
        if characters_left <= 0:
            break
    return ids


async def read_selection(
    graph: Graph, caller: Caller, message_ids: Sequence[str], act: FlagAct, rules: FlagRules
) -> Selection:
    """What has to be known of messages before they are flagged, if the caller may see them."""
    rows = await graph.read(
        "forgetting/flags/read_selection",
        tenant_id=caller.tenant_id,
        message_ids=list(message_ids),
        **caller.visibility,
        by=act.by,
        since=act.at - rules.debounce,
    )
    if not rows:
        raise MessageNotFound(message_ids[0])
    return selection_from_row(rows[0])


def selection_from_row(row: Row) -> Selection:
    return Selection(
        conversation_id=row["conversation_id"],
        is_admin=row["is_admin"],
        persona_id=row["persona_id"],
        contents=row["contents"],
        personas={persona["id"]: persona for persona in row["personas"]},
        recent=RecentAcknowledgment(**row["given"]) if row["given"] else None,
    )


async def draft_acknowledgment(
    acknowledger: Acknowledger, selection: Selection, act: FlagAct, rules: FlagRules
) -> Row:
    """What the persona may say, for one flag and for several; the statement picks one of them.

    If the person was given an acknowledgment just before, it becomes the plural one: in the voice
    of the persona that gave it, and without words of the messages it answered.
    """
    recent = selection.recent
    forgotten = [*selection.contents, *(recent.contents if recent else [])]

    async def phrases(persona_id: str) -> Phrases:
        persona = selection.personas[persona_id]
        return await acknowledger.phrases(Tone(persona["tone"]), persona["name"], forgotten, act.id)

    own = await phrases(selection.persona_id)
    several = {selection.persona_id: own.several}
    if recent and recent.persona_id not in several:
        several[recent.persona_id] = (await phrases(recent.persona_id)).several
    return {
        "id": act.id,
        "persona_id": selection.persona_id,
        "single": own.single,
        "range": own.range,
        "several": several,
        "plainest": NEUTRAL_PHRASES["several"],
        "since": act.at - rules.debounce,
    }


async def set_flags(
    graph: Graph,
    acknowledger: Acknowledger,
    caller: Caller,
    selection: Selection,
    message_ids: Sequence[str],
    act: FlagAct,
    rules: FlagRules,
) -> FlagResult:
    """Flag messages of one conversation, with all that follows from it."""
    (done,) = await graph.write(
        "forgetting/flags/flag_messages",
        tenant_id=caller.tenant_id,
        conversation_id=selection.conversation_id,
        message_ids=list(message_ids),
        act=act.parameters,
        personas={
            persona_id: flag_figures(as_policy(persona).effective, act.at)
            for persona_id, persona in selection.personas.items()
        },
        ack=await draft_acknowledgment(acknowledger, selection, act, rules),
    )
    changed = [row["message_id"] for row in done["records"] if row["flag"]["act"] == act.id]
    sees_all = sees_every_badge(
        caller, is_admin=selection.is_admin, badges_for_all=rules.badges_for_all
    )
    records = {
        # A flag of somebody else that the caller may not see is given as no flag.
        row["message_id"]: flag_record(row["flag"])
        if is_visible(row["flag"], caller, sees_all=sees_all)
        else Deprioritization()
        for row in done["records"]
    }
    range_id = act.id if act.is_range and changed else None
    return flag_result(selection.conversation_id, done, records, changed, range_id)


def flag_figures(policy: Policy, now: datetime) -> Row:
    """The figures of a persona's policy that a flag set now needs, as a statement takes them."""
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
    """Undo the flag on one message."""
    scope = UndoScope(**await find_message(graph, caller, message_id))
    return await undo_flags(
        graph, caller, scope, [message_id], source, rules, range_id=None, now=now
    )


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
    """Undo the flags that a range has set, or those on some of its messages."""
    found, scope = await find_range(graph, caller, range_id, badges_for_all=rules.badges_for_all)
    chosen = found.message_ids if message_ids is None else list(message_ids)
    outside = sorted(set(chosen) - set(found.message_ids))
    if outside:
        raise Invalid(f"Message {outside[0]!r} is not in this range.")
    return await undo_flags(graph, caller, scope, chosen, source, rules, range_id=range_id, now=now)


async def undo_flags(
    graph: Graph,
    caller: Caller,
    scope: UndoScope,
    message_ids: Sequence[str],
    source: ReversalSource,
    rules: FlagRules,
    *,
    range_id: str | None,
    now: datetime,
) -> FlagResult:
    """Undo flags on messages: a member their own, an instance's admin or a key of the tenant any.

    With a range, only the flags that it has set. From the chat, only inside the undo window.
    """
    from_chat = source is ReversalSource.UNDO_TOAST
    act = {"id": new_id(), "by": caller.acts_as, "at": now, "source": source.value}
    (done,) = await graph.write(
        "forgetting/flags/undo_flags",
        tenant_id=caller.tenant_id,
        conversation_id=scope.conversation_id,
        message_ids=list(message_ids),
        range_id=range_id,
        flagged_by=None if scope.is_admin else caller.sees_as,
        act=act,
        flagged_after=now - rules.undo_window if from_chat else EARLIEST,
    )
    if done["late"]:
        raise UndoWindowOver
    changed = [
        row["message_id"] for row in done["records"] if row["flag"].get("reversed_in") == act["id"]
    ]
    sees_all = sees_every_badge(
        caller, is_admin=scope.is_admin, badges_for_all=rules.badges_for_all
    )
    records = {
        row["message_id"]: flag_record(row["flag"])
        for row in done["records"]
        if is_visible(row["flag"], caller, sees_all=sees_all)
    }
    return flag_result(scope.conversation_id, done, records, changed, None)


def is_visible(flag: Mapping[str, Any], caller: Caller, *, sees_all: bool) -> bool:
    """Whether the caller may see this flag."""
    return sees_all or flag["flagged_by"] == caller.user_id


async def get_range(
    graph: Graph, caller: Caller, range_id: str, *, badges_for_all: bool = False
) -> Range:
    """One range, if the caller may see its flags."""
    found, _ = await find_range(graph, caller, range_id, badges_for_all=badges_for_all)
    return found


async def find_range(
    graph: Graph, caller: Caller, range_id: str, *, badges_for_all: bool
) -> tuple[Range, UndoScope]:
    """A range, if the caller may see its flags, and where they would be undone."""
    rows = await graph.read(
        "forgetting/flags/get_range",
        tenant_id=caller.tenant_id,
        range_id=range_id,
        **caller.visibility,
    )
    if not rows:
        raise RangeNotFound(range_id)
    found, is_admin = range_from_row(rows[0]["range"]), rows[0]["is_admin"]
    sees_all = sees_every_badge(caller, is_admin=is_admin, badges_for_all=badges_for_all)
    if not sees_all and found.created_by != caller.user_id:
        raise RangeNotFound(range_id)
    return found, UndoScope(found.conversation_id, is_admin)


def range_from_row(row: Row) -> Range:
    persona_ids = row["persona_ids"]
    return Range(
        range_id=row["id"],
        conversation_id=row["conversation_id"],
        persona_id=persona_ids[0] if len(persona_ids) == 1 else None,
        persona_ids=persona_ids,
        message_ids=row["message_ids"],
        created_at=row["created_at"],
        created_by=row["created_by"],
    )


def flag_result(
    conversation_id: str,
    done: Row,
    records: dict[str, Deprioritization],
    changed: list[str],
    range_id: str | None,
) -> FlagResult:
    """The result of setting or undoing flags, from what the statement returned."""
    affected = affected_items(done)
    return FlagResult(
        conversation_id=conversation_id,
        range_id=range_id,
        records=records,
        changed=changed,
        acknowledgment=acknowledgment_from_row(done.get("acknowledgment")),
        candidate_ids=affected.candidate_ids,
        memory_ids=affected.memory_ids,
        links=affected.links,
        checkpoint_ids=affected.checkpoint_ids,
        counts=affected.counts,
    )


def affected_items(done: Row) -> AffectedItems:
    """The items that a statement returned as changed, by id and by number, sorted."""
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
