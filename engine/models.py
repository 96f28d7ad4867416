"""The nouns. Frozen: a change of one is a statement in the graph, then another one of these."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from uuid_utils.compat import uuid7

T = TypeVar("T")


def new_id() -> str:
    """An id that nobody else makes, and that sorts by when it was made."""
    return uuid7().hex


def id_from(*sources: str) -> str:
    """An id that follows from others: doing the same again makes the same one."""
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()[:32]


class Role(StrEnum):
    """What a caller may do. A runtime speaks for personas, an analyst reads, an admin sets up.

    Those come with API keys. A user is a person, proven by a token or a JWT; no key has that role.
    """

    RUNTIME = "runtime"
    USER = "user"
    ANALYST = "analyst"
    ADMIN = "admin"


class MemberRole(StrEnum):
    """What a user is in an instance."""

    MEMBER = "member"
    ADMIN = "admin"


class Tone(StrEnum):
    """How a persona speaks when the engine speaks for it."""

    PLAIN = "plain"
    WARM = "warm"
    PLAYFUL = "playful"
    FORMAL = "formal"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking: always one tenant, by a key, a token or a JWT, and for which user, if any."""

    tenant_id: str
    key_id: str  # of a token the key that issued it; of a JWT `jwt`
    role: Role
    user_id: str | None = None
    instance_ids: tuple[str, ...] | None = None  # a token may be narrowed to some instances

    @property
    def acts_as(self) -> str:
        """Who is written down as having done something: the person, or a key that is for none."""
        return self.user_id or f"key:{self.key_id}"

    @property
    def sees_as(self) -> str | None:
        """The user whose memberships limit what this caller sees; None for the whole tenant."""
        return self.user_id

    @property
    def visibility(self) -> dict[str, Any]:
        """Parameters of statements that show only what this caller may see."""
        narrowed = None if self.instance_ids is None else list(self.instance_ids)
        return {"user_id": self.sees_as, "instance_ids": narrowed}


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a caller's limit, as the headers of an answer tell it."""

    policy: str
    limit: int
    remaining: int
    seconds: int  # until the limit is whole again


@dataclass(frozen=True, slots=True)
class Tenant:
    """The wall. Owns personas, instances, users and keys, and sees nothing beyond them."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A way in for one tenant, with one role. Its secret is known to whoever received it."""

    id: str
    name: str
    role: Role
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key at the one moment its text can be read."""

    key: ApiKey
    api_key: str


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A person's way in for a short time, at the one moment its text can be read."""

    token: str
    user_id: str
    expires_at: datetime
    instance_ids: list[str] | None  # null: every instance the user is a member of


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """Whose JWTs a tenant accepts, and the public keys they are checked with."""

    issuer: str
    audience: str
    algorithms: list[str]
    jwks_url: str | None
    public_keys: list[str]  # PEM
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Persona:
    """A persistent AI identity that owns memories."""

    id: str
    name: str
    tone: Tone
    time_zone: str
    created_at: datetime
    updated_at: datetime
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """A workspace inside a tenant. Conversations live in one."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Member:
    """A user inside an instance."""

    user_id: str
    role: MemberRole
    since: datetime


class Speaker(StrEnum):
    """Which side of a conversation a message comes from."""

    USER = "user"
    PERSONA = "persona"


class MemoryType(StrEnum):
    """What kind of thing is remembered: an event, something held to be so, a feeling."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    SOMATIC = "somatic"


class CandidateState(StrEnum):
    """Where a candidate stands. Only a pending one goes into the night."""

    PENDING = "pending"
    SUPPRESSED = "suppressed"  # a message it was drawn from is flagged
    PASSED_OVER = "passed_over"  # it was, when its night came; it can be restored
    REMOVED = "removed"
    MERGED = "merged"  # it said again what a memory held already


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where things are said: some personas and people, in one instance."""

    id: str
    instance_id: str
    persona_ids: list[str]
    started_at: datetime
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Deprioritization:
    """The flag on a message: whether the user said it is not worth remembering."""

    is_flagged: bool = False
    flagged_at: datetime | None = None
    flagged_by: str | None = None
    scope: str | None = None
    range_id: str | None = None
    reversed_at: datetime | None = None
    reversal_source: str | None = None


class ReversalSource(StrEnum):
    """Where a flag was taken back: at once in the chat, or later."""

    UNDO_TOAST = "undo_toast"
    MEMORY_MANAGER = "memory_manager"


@dataclass(frozen=True, slots=True)
class Range:
    """A run of messages that were flagged together."""

    range_id: str
    conversation_id: str
    persona_id: str | None  # when the messages of one persona alone are in it
    persona_ids: list[str]
    message_ids: list[str]
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class Acknowledgment:
    """What the persona says to it; one for all flags of a burst."""

    acknowledgment_id: str
    persona_id: str
    text: str
    plural: bool
    made_at: datetime


class LinkType(StrEnum):
    """How one memory stands to another."""

    RELATED = "RELATED"
    ENABLES = "ENABLES"
    VALIDATES = "VALIDATES"
    CONTRADICTS = "CONTRADICTS"
    EXTENDS = "EXTENDS"
    PRECEDES = "PRECEDES"
    CAUSALLY_LINKED = "CAUSALLY_LINKED"


@dataclass(frozen=True, slots=True)
class LinkKey:
    """What a link is known by: there is one of a type between two memories in one direction."""

    from_id: str
    to_id: str
    type: LinkType


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What an act of forgetting changes, or would change, by id and by number."""

    candidate_ids: list[str]
    memory_ids: list[str]
    links: list[LinkKey]
    checkpoint_ids: list[str]
    counts: dict[str, int]  # of each of the four


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged(Touched):
    """What a flag, or taking one back, came to."""

    conversation_id: str
    range_id: str | None
    records: dict[str, Deprioritization]  # by message, as the caller may see them
    changed: list[str]  # ids of the messages that this call has changed
    acknowledgment: Acknowledgment | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said in a conversation. Never edited."""

    message_id: str
    conversation_id: str
    persona_id: str
    role: Speaker
    content: str
    timestamp: datetime
    user_id: str | None = None
    speaker: str | None = None
    reply_to: str | None = None
    deprioritization: Deprioritization = Deprioritization()
    can_forget: bool = True  # whether whoever asked may flag it


@dataclass(frozen=True, slots=True)
class StaleSummary:
    """What summed a checkpoint up, until flags or a late message made it untrue."""

    text: str
    made_at: datetime
    stale_at: datetime


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A stretch of a conversation about one topic. No flag ever removes one."""

    checkpoint_id: str
    conversation_id: str
    label: str | None  # none while too little was said to name it; then it stays
    from_at: datetime
    to_at: datetime
    summary: str  # sentences that were said, a line each; none of a flagged message
    message_ids: list[str]
    muted: bool  # all of it is flagged
    stale_summaries: list[StaleSummary]


@dataclass(frozen=True, slots=True)
class Split:
    """A conversation that part of another was carried into."""

    conversation: Conversation
    message_ids: dict[str, str]  # by the id of each message that was carried: that of its copy


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory item drawn from messages, waiting for the night."""

    candidate_id: str
    source_message_ids: list[str]
    persona_id: str
    memory_type: MemoryType
    text: str
    content: dict[str, Any]
    extracted_at: datetime
    editable_until: datetime
    state: CandidateState
    deprioritized: bool = False
    deprioritized_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """What was let through of everything said to a persona, and what was left out, and why."""

    messages: int
    candidates: dict[str, int]
    left_out: dict[str, int]


class MemoryState(StrEnum):
    """Whether a memory is recalled by itself, or only when it is asked for."""

    ACTIVE = "active"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Memory:
    """What consolidation kept."""

    memory_id: str
    persona_id: str
    memory_type: MemoryType
    text: str
    content: dict[str, Any]
    category: str | None
    tags: list[str]
    project: str | None
    state: MemoryState
    importance: int
    salience: float
    weight_modifier: float
    pinned: bool
    access_count: int
    accessed_at: datetime | None
    reinforcements: int  # how often it was told again
    source_message_ids: list[str]
    said_at: datetime
    formed_at: datetime
    archived_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    distilled: bool  # from several episodes, rather than from what somebody said


@dataclass(frozen=True, slots=True)
class Link:
    """How one memory stands to another, and how strongly."""

    from_id: str
    to_id: str
    type: LinkType
    strength: float
    weight_modifier: float
    coactivations: int
    coactivated_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Coactivation:
    """Memories that were used together, and how strong the links between them are now."""

    use_id: str
    counted: bool  # false when this use was told before
    links: list[Link]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a listing; `next_cursor` asks for the part after it, and is null at the end."""

    items: list[T]
    next_cursor: str | None
