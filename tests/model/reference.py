"""The reference model: what SPEC says about flags, ranges, undos, candidates, facts and nights.

Written from SPEC alone; nothing of the engine is imported. Each rule has the id of its requirement
beside it. Times are given by the caller, ids too: the model only says what follows.

Where SPEC leaves a choice to the service, the model does not guess. It returns what is allowed
(`Group.survivors`, `Group.optional`), and the test passes in what the service did.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

EDITING_WINDOW = timedelta(hours=24)  # CAND-03 `editing_window_hours`
UNDO_WINDOW = timedelta(seconds=7)  # UNDO-01 `undo_window_seconds`
ACK_DEBOUNCE = timedelta(seconds=30)  # ACK-02 `ack_debounce_seconds`
RANGE_CONFIRM_MIN = 3  # FLAG-10 `range_confirm_min`
MINIMIZE_FACTOR = 0.2  # §0: `weight_modifier` is moved by minimize (0.2)
PLACEHOLDER = "[prior exchange deprioritized by user]"  # CTX-03

BOTH, CONTEXT = "context_and_memory", "context_only"  # FLAG-03
TOAST, MANAGER = "undo_toast", "memory_manager"  # UNDO-01, UNDO-02

UNFLAGGED: dict[str, Any] = {  # FLAG-01: all null by default
    "is_flagged": False,
    "flagged_at": None,
    "flagged_by": None,
    "scope": None,
    "range_id": None,
    "reversed_at": None,
    "reversal_source": None,
}


class Refused(Exception):
    """What the service must refuse, with the HTTP status it must answer. Nothing has changed."""

    def __init__(self, status: int, detail: str = "") -> None:
        super().__init__(status, detail)
        self.status, self.detail = status, detail


@dataclass(frozen=True)
class Message:
    """One thing that was said. Nothing in the model changes one (FLAG-08)."""

    id: str
    conversation_id: str
    persona_id: str
    role: str
    content: str
    timestamp: datetime
    reply_to: str | None = None
    arrival: int = 0  # how many had arrived before it

    @property
    def place(self) -> tuple[datetime, int]:
        """The conversation's order: `timestamp`, then order of arrival (FLAG-05)."""
        return self.timestamp, self.arrival


@dataclass
class Flag:
    """One flag of one message. An act is what the user did once: a single flag or a range."""

    message_id: str
    act: str
    flagged_at: datetime
    flagged_by: str
    scope: str
    range_id: str | None
    reversed_at: datetime | None = None
    reversal_source: str | None = None

    @property
    def stands(self) -> bool:
        return self.reversed_at is None

    def record(self) -> dict[str, Any]:
        """The `deprioritization` record of FLAG-01."""
        return {
            "is_flagged": self.stands,
            "flagged_at": self.flagged_at,
            "flagged_by": self.flagged_by,
            "scope": self.scope,
            "range_id": self.range_id,
            "reversed_at": self.reversed_at,
            "reversal_source": self.reversal_source,
        }


@dataclass(frozen=True)
class Range:
    """The range record of FLAG-05. `persona_ids` are those whose messages are in it (FLAG-06)."""

    range_id: str
    conversation_id: str
    message_ids: list[str]
    persona_ids: set[str]
    created_at: datetime
    created_by: str


@dataclass
class Candidate:
    """A memory item that waits for its night (CAND-01)."""

    id: str
    persona_id: str
    memory_type: str
    text: str
    content: dict[str, Any]
    source_message_ids: list[str]
    extracted_at: datetime
    place: tuple[datetime, int]  # of the newest message it was drawn from
    removed: bool = False
    passed_over: bool = False
    merged: bool = False

    @property
    def fact(self) -> tuple[str, str] | None:
        """What a fact is about: two facts about the same can contradict each other (CONS-15)."""
        subject, attribute = self.content.get("subject"), self.content.get("attribute")
        if self.memory_type != "semantic" or not subject or not attribute:
            return None
        return str(subject).casefold(), str(attribute).casefold()

    @property
    def value(self) -> str:
        return str(self.content.get("value", "")).casefold()


@dataclass
class Memory:
    """What a night kept."""

    candidate: Candidate
    source_message_ids: set[str]
    own_modifier: float = 1.0  # set by minimize, back to 1 by restore
    archived: bool = False

    @property
    def id(self) -> str:
        return self.candidate.id


@dataclass
class Group:
    """Candidates of one night that say the same (CONS-01: near-duplicates are one memory).

    `survivors` are the ids the one memory may have: of a memory that is there and may be
    reinforced, else of one of the candidates. With `optional`, SPEC leaves open whether the
    existing memory is reinforced: every id of `candidate_ids` is allowed too.
    """

    candidate_ids: list[str]
    survivors: list[str]
    optional: bool = False


Choose = Callable[[Group], str]


@dataclass
class Acknowledgment:
    """What a persona said to a burst of flags (ACK-02)."""

    id: str
    conversation_id: str
    persona_id: str
    by: str
    first_at: datetime
    last_at: datetime
    message_ids: list[str]
    touched: bool = False  # something it answered was undone; UNDO-05 withdraws it


@dataclass(frozen=True)
class Answer:
    """Which acknowledgment a flag may get: one that was sent already, or a new one."""

    shared: list[Acknowledgment]
    new: bool

    def known(self, ack_id: str) -> Acknowledgment | None:
        return next((ack for ack in self.shared if ack.id == ack_id), None)


def first_survivor(group: Group) -> str:
    return group.survivors[0]


@dataclass
class Model:
    """All that a caller can see of one tenant, as SPEC says it must be."""

    instances: dict[str, dict[str, str]] = field(default_factory=dict)  # user id → role in it
    conversations: dict[str, str] = field(default_factory=dict)  # → its instance
    messages: dict[str, Message] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)
    ranges: dict[str, Range] = field(default_factory=dict)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    acknowledgments: list[Acknowledgment] = field(default_factory=list)
    _arrivals: Iterator[int] = field(default_factory=count)
    _acts: Iterator[int] = field(default_factory=count)

    # ── who may ──────────────────────────────────────────────────────────────────────────────────

    def may_enter(self, user: str | None, conversation_id: str) -> bool:
        """FLAG-09: a user reaches the instances they are a member of; None is a tenant's admin."""
        return user is None or user in self.instances[self.conversations[conversation_id]]

    def require_entry(self, user: str | None, conversation_id: str) -> None:
        if not self.may_enter(user, conversation_id):
            raise Refused(404)  # FLAG-09: as for what does not exist

    def sees_badge(self, user: str | None, flag: Flag) -> bool:
        """NAV-06 with `badge_visibility` at its default, `flagger`: who flagged, and admins."""
        instance = self.conversations[self.messages[flag.message_id].conversation_id]
        return user in (None, flag.flagged_by) or self.instances[instance].get(user) == "admin"

    # ── messages ─────────────────────────────────────────────────────────────────────────────────

    def say(self, message: Message) -> Message:
        arrived = Message(**{**message.__dict__, "arrival": next(self._arrivals)})
        self.messages[arrived.id] = arrived
        return arrived

    def transcript(self, conversation_id: str) -> list[Message]:
        here = [
            message
            for message in self.messages.values()
            if message.conversation_id == conversation_id
        ]
        return sorted(here, key=lambda message: message.place)  # FLAG-05

    def standing_flag(self, message_id: str) -> Flag | None:
        return next(
            (flag for flag in self.flags if flag.message_id == message_id and flag.stands), None
        )

    def record(self, message_id: str, viewer: str | None = None) -> dict[str, Any]:
        """FLAG-01: of its newest flag, as the viewer may see it (NAV-06)."""
        own = [flag for flag in self.flags if flag.message_id == message_id]
        if not own or not self.sees_badge(viewer, own[-1]):
            return UNFLAGGED
        return own[-1].record()

    def can_forget(self, message_id: str, viewer: str | None = None) -> bool:
        """FLAG-09: whether it may be flagged. A flag that is not shown does not show here."""
        inside = self.may_enter(viewer, self.messages[message_id].conversation_id)
        return inside and not self.record(message_id, viewer)["is_flagged"]

    # ── flags ────────────────────────────────────────────────────────────────────────────────────

    def forget(self, message_id: str, by: str, now: datetime) -> list[str]:
        """Flag one message. Returns the ids that changed: itself, or none (FLAG-02, FLAG-07)."""
        message = self.messages[message_id]
        self.require_entry(by, message.conversation_id)
        if self.standing_flag(message_id):
            return []  # FLAG-07: changes nothing, the first record is kept
        young = now - message.timestamp < EDITING_WINDOW
        scope = BOTH if young else CONTEXT  # FLAG-03: a single message goes by its age
        self.flags.append(Flag(message_id, f"act {next(self._acts)}", now, by, scope, None))
        return [message_id]

    def selection(self, first_id: str, last_id: str) -> list[Message]:
        """FLAG-05: from its first to its last in the conversation's order, both included."""
        first, last = self.messages[first_id], self.messages[last_id]
        return [
            message
            for message in self.transcript(first.conversation_id)
            if first.place <= message.place <= last.place
        ]

    def check_range(self, selected: Sequence[Message], by: str, *, confirmed: bool) -> None:
        self.require_entry(by, selected[0].conversation_id)
        if len(selected) >= RANGE_CONFIRM_MIN and not confirmed:  # FLAG-10
            text = f"Mark {len(selected)} messages as not worth remembering?"
            raise Refused(409, text)

    def forget_range(
        self, selected: Sequence[Message], by: str, now: datetime, *, range_id: str
    ) -> list[str]:
        """Flag a checked selection under the id the service gave. Returns the ids that changed."""
        ages = [now - message.timestamp < EDITING_WINDOW for message in selected]
        mixed = any(ages) and not all(ages)  # FLAG-03: "a range that holds both", flagged or not
        act = f"act {next(self._acts)}"  # one act, whatever the number of members
        changed = []
        for message, young in zip(selected, ages, strict=True):
            if self.standing_flag(message.id):
                continue  # FLAG-07: already-flagged members keep their record
            scope = CONTEXT if mixed and not young else BOTH  # FLAG-03
            self.flags.append(Flag(message.id, act, now, by, scope, range_id))
            changed.append(message.id)
        self.ranges[range_id] = Range(
            range_id,
            selected[0].conversation_id,
            [message.id for message in selected],
            {message.persona_id for message in selected},
            now,
            by,
        )
        return changed

    # ── acknowledgments ──────────────────────────────────────────────────────────────────────────

    def expected_answer(
        self, changed: Sequence[str], conversation_id: str, by: str, now: datetime
    ) -> Answer | None:
        """ACK-01, ACK-03: one for a new flag, none for a repeat; ACK-02: one for a burst."""
        if not changed:
            return None
        personas = {self.messages[message_id].persona_id for message_id in changed}
        recent = [
            ack
            for ack in self.acknowledgments
            if ack.conversation_id == conversation_id and now - ack.last_at <= ACK_DEBOUNCE
        ]
        # SPEC does not say whether a burst is counted from its first or its last flag, nor whether
        # two people or two personas have one burst or two.
        certain = any(
            ack.by == by
            and personas == {ack.persona_id}
            and not ack.touched
            and now - ack.first_at <= ACK_DEBOUNCE
            for ack in recent
        )
        return Answer(recent, new=not certain)

    def acknowledged(
        self, ack_id: str, persona_id: str, changed: Sequence[str], by: str, now: datetime
    ) -> None:
        known = next((ack for ack in self.acknowledgments if ack.id == ack_id), None)
        if known is None:
            where = self.messages[changed[0]].conversation_id
            known = Acknowledgment(ack_id, where, persona_id, by, now, now, [])
            self.acknowledgments.append(known)
        known.last_at = now
        known.message_ids += changed

    # ── undo ─────────────────────────────────────────────────────────────────────────────────────

    def undo(self, message_id: str, source: str, now: datetime) -> list[str]:
        """Take back the flag of one message, also of one that a range set (UNDO-02)."""
        flag = self.standing_flag(message_id)
        return self._reverse([flag] if flag else [], source, now)

    def undo_range(
        self, range_id: str, source: str, now: datetime, message_ids: Iterable[str] | None = None
    ) -> list[str]:
        """UNDO-03: takes back the flags that range set and no other; UNDO-02: or a part of them."""
        chosen = set(self.ranges[range_id].message_ids if message_ids is None else message_ids)
        own = [
            flag for flag in self.flags if flag.range_id == range_id and flag.message_id in chosen
        ]
        return self._reverse([flag for flag in own if flag.stands], source, now)

    def _reverse(self, flags: Sequence[Flag], source: str, now: datetime) -> list[str]:
        if source == TOAST and any(now - flag.flagged_at > UNDO_WINDOW for flag in flags):
            raise Refused(409)  # UNDO-01
        for flag in flags:
            flag.reversed_at, flag.reversal_source = now, source  # UNDO-03
            for ack in self.acknowledgments:
                ack.touched = ack.touched or flag.message_id in ack.message_ids
        return [flag.message_id for flag in flags]

    # ── what flags do ────────────────────────────────────────────────────────────────────────────

    def acts_on(self, source_message_ids: Iterable[str]) -> set[str]:
        """The acts that stand on any of the messages something was drawn from (FLAG-04)."""
        sources = set(source_message_ids)
        return {flag.act for flag in self.flags if flag.stands and flag.message_id in sources}

    def is_flagged(self, memory: Memory) -> bool:
        return bool(self.acts_on(memory.source_message_ids))

    def weight_modifier(self, memory: Memory) -> float:
        """Of a memory and all its outgoing links (§0 minimize).

        UNDO-03: it follows from the acts that stand, each once, and from minimizing by hand.
        """
        acts = len(self.acts_on(memory.source_message_ids))
        return memory.own_modifier * MINIMIZE_FACTOR**acts

    def candidate_state(self, candidate: Candidate) -> str:
        if candidate.merged:
            return "merged"
        if candidate.removed:
            return "removed"
        if self.acts_on(candidate.source_message_ids):
            return "suppressed"  # CAND-06: when any of its messages is flagged
        return "passed_over" if candidate.passed_over else "pending"  # UNDO-04, UNDO-03

    def mergeable(self, memory: Memory) -> bool:
        """CONS-01: never one that is flagged, archived or closed."""
        return not (self.is_flagged(memory) or memory.archived or self.valid_to(memory) is not None)

    # ── candidates ───────────────────────────────────────────────────────────────────────────────

    def propose(
        self,
        candidate_id: str,
        persona_id: str,
        memory_type: str,
        text: str,
        content: dict[str, Any],
        source_message_ids: list[str],
        now: datetime,
    ) -> Candidate:
        newest = max(self.messages[message_id].place for message_id in source_message_ids)
        made = Candidate(
            candidate_id, persona_id, memory_type, text, content, source_message_ids, now, newest
        )
        self.candidates[candidate_id] = made
        return made

    def require_open(self, candidate_id: str, now: datetime) -> Candidate:
        """CAND-03: inside the editing window a candidate can be edited and removed; else 409."""
        candidate = self.candidates.get(candidate_id)
        if candidate is None or self.candidate_state(candidate) != "pending":
            raise Refused(409)
        if now - candidate.extracted_at >= EDITING_WINDOW:
            raise Refused(409)
        return candidate

    def edit(self, candidate_id: str, text: str, content: dict[str, Any], now: datetime) -> None:
        candidate = self.require_open(candidate_id, now)
        candidate.text, candidate.content = text, content

    def remove(self, candidate_id: str, now: datetime) -> None:
        self.require_open(candidate_id, now).removed = True

    def restore_candidate(self, candidate_id: str) -> None:
        """UNDO-04: puts what a night passed over in the queue of the next run."""
        candidate = self.candidates[candidate_id]
        if self.candidate_state(candidate) != "passed_over":
            raise Refused(409)
        candidate.passed_over = False

    # ── memories ─────────────────────────────────────────────────────────────────────────────────

    def minimize(self, memory_id: str, weight_modifier: float) -> None:
        self.memories[memory_id].own_modifier = weight_modifier

    def restore_memory(self, memory_id: str) -> None:
        """Takes back what was minimized by hand; what a flag holds down stays so (UNDO-03)."""
        self.memories[memory_id].own_modifier = 1.0

    def set_archived(self, memory_id: str, archived: bool) -> None:
        self.memories[memory_id].archived = archived

    def holds(self, memory: Memory) -> bool:
        """CONS-15: what is flagged or forgotten closes nothing. Forgetting archives (§17.1)."""
        return not self.is_flagged(memory) and not memory.archived

    def valid_from(self, memory: Memory) -> datetime | None:
        """CONS-15: of a semantic memory, when it was said."""
        return memory.candidate.place[0] if memory.candidate.memory_type == "semantic" else None

    def valid_to(self, memory: Memory) -> datetime | None:
        """CONS-15: when the next contradicting fact that stands was said; else it still holds."""
        fact = memory.candidate
        if fact.fact is None:
            return None
        newer = [
            other.candidate.place
            for other in self.memories.values()
            if other.candidate.persona_id == fact.persona_id
            and other.candidate.fact == fact.fact
            and other.candidate.value != fact.value
            and other.candidate.place > fact.place
            and self.holds(other)
        ]
        return min(newer)[0] if newer else None

    # ── the night ────────────────────────────────────────────────────────────────────────────────

    def night(self, persona_id: str, as_of: datetime, choose: Choose = first_survivor) -> None:
        """Integrate (CONS-01) what is older than the editing window (CAND-04).

        In the order it was said, so that what was said before is new when something else held
        in between.
        """
        due = [
            candidate
            for candidate in self.candidates.values()
            if candidate.persona_id == persona_id
            and as_of - candidate.extracted_at >= EDITING_WINDOW  # CAND-04
        ]
        for candidate in due:
            if self.candidate_state(candidate) == "suppressed":
                candidate.passed_over = True  # CAND-05, UNDO-04
        waiting = [candidate for candidate in due if self.candidate_state(candidate) == "pending"]
        for group in self._groups(sorted(waiting, key=lambda candidate: candidate.place)):
            self._integrate(group, choose)

    def _groups(self, waiting: Sequence[Candidate]) -> list[list[Candidate]]:
        """Runs that say the same. A fact's run ends where another value was said in between."""
        runs: list[list[Candidate]] = []
        open_runs: dict[Any, list[Candidate]] = {}
        for candidate in waiting:
            key = (candidate.memory_type, candidate.fact, candidate.text)
            run = open_runs.get(key)
            if run is None or self._other_value_between(run[-1], candidate, waiting):
                run = open_runs[key] = []
                runs.append(run)
            run.append(candidate)
        return runs

    def _other_value_between(
        self, earlier: Candidate, later: Candidate, waiting: Iterable[Candidate]
    ) -> bool:
        held = [memory.candidate for memory in self.memories.values() if self.holds(memory)]
        return earlier.fact is not None and any(
            other.persona_id == earlier.persona_id
            and other.fact == earlier.fact
            and other.value != earlier.value
            and earlier.place < other.place < later.place
            for other in [*held, *waiting]
        )

    def _integrate(self, group: list[Candidate], choose: Choose) -> None:
        first = group[0]
        same = [
            memory
            for memory in self.memories.values()
            if memory.candidate.persona_id == first.persona_id
            and memory.candidate.memory_type == first.memory_type  # CONS-01: same persona and type
            and memory.candidate.text == first.text
            and self.mergeable(memory)
        ]
        ids = [candidate.id for candidate in group]
        options = Group(ids, [memory.id for memory in same] or ids)
        # Told late: SPEC says both that a near-duplicate reinforces what holds, and that something
        # said before is news when something else held in between.
        options.optional = any(
            self._other_value_between(first, memory.candidate, ()) for memory in same
        )
        survivor = choose(options)
        assert survivor in options.survivors or (options.optional and survivor in ids), (
            f"{survivor} is none of {options}"
        )
        for candidate in group:
            if candidate.id == survivor:
                del self.candidates[candidate.id]
                sources = set(candidate.source_message_ids)
                self.memories[survivor] = Memory(candidate, sources)
        for candidate in group:
            if candidate.id != survivor:  # CONS-01: reinforces it, and its provenance is kept
                candidate.merged = True
                self.memories[survivor].source_message_ids |= set(candidate.source_message_ids)

    # ── context ──────────────────────────────────────────────────────────────────────────────────

    def working_memory(self, conversation_id: str) -> list[str]:
        """Layer 3 with room for all turns: message ids, and the placeholder where one stands."""
        shown: list[str] = []
        skipped: list[Message] = []
        for message in self.transcript(conversation_id):
            if self.standing_flag(message.id):
                skipped.append(message)  # CTX-02
                continue
            if skipped and (  # CTX-03: load-bearing when the next unflagged message answers it
                message.role != skipped[-1].role
                or message.reply_to in {flagged.id for flagged in skipped}
            ):
                shown.append(PLACEHOLDER)
            skipped = []
            shown.append(message.id)
        return shown
