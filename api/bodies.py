"""Request bodies: their fields, and the bounds of each field."""

from datetime import datetime
from typing import Annotated, Any, Literal

from litestar.openapi.spec import Example
from litestar.params import BodyKwarg
from msgspec import UNSET, Meta, Struct, UnsetType

from engine import bounds
from engine.access import MemberRole, Tone
from engine.bounds import ID_PATTERN
from engine.forgetting import ReversalSource
from engine.memory import MAX_EXPERIENCE, MAX_MARKER, LinkType, Valence
from engine.models import MemoryType
from engine.talk import Speaker

Id = Annotated[
    str,
    Meta(
        pattern=ID_PATTERN,
        max_length=bounds.ID,
        description="Chosen by the caller, unique in the tenant; generated when left out.",
    ),
]
Name = Annotated[str, Meta(min_length=1, max_length=bounds.NAME)]
Identity = Annotated[
    str,
    Meta(
        max_length=bounds.IDENTITY,
        description="Who the persona is. It opens the context the persona is given.",
    ),
]
Timestamp = Annotated[datetime, Meta(tz=True)]
TimeZone = Annotated[str, Meta(min_length=1, max_length=64, description="An IANA time zone.")]


def body_example(**example: Any) -> BodyKwarg:
    """A JSON body, with an example for the OpenAPI document."""
    return BodyKwarg(examples=[Example(value=example)])


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """A request body. A field it does not know is refused, not ignored."""


def given_fields(body: Body) -> dict[str, Any]:
    """The fields that the caller has sent, null or not."""
    fields = {name: getattr(body, name) for name in body.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not UNSET}


class NewPersona(Body, frozen=True):
    name: Name
    id: Id | None = None
    identity: Identity | None = None
    tone: Tone = Tone.PLAIN
    time_zone: TimeZone = "UTC"


class PersonaChanges(Body, frozen=True):
    name: Name | UnsetType = UNSET
    identity: Identity | None | UnsetType = UNSET
    tone: Tone | UnsetType = UNSET
    time_zone: TimeZone | UnsetType = UNSET


class NewDuplicate(Body, frozen=True):
    id: Id | None = None
    name: Name | None = None


class NewInstance(Body, frozen=True):
    name: Name
    id: Id | None = None


class Membership(Body, frozen=True):
    role: MemberRole = MemberRole.MEMBER


class NewKey(Body, frozen=True):
    name: Name
    role: Literal["runtime", "analyst", "admin"]
    expires_at: Timestamp | None = None


class Rotation(Body, frozen=True):
    grace_seconds: Annotated[int, Meta(ge=0, le=7 * 86_400)] = 0


class NewToken(Body, frozen=True):
    """A short-lived token for one user."""

    user_id: Id
    instance_ids: (
        Annotated[
            list[Id],
            Meta(min_length=1, max_length=100, description="Limits the token to these instances."),
        ]
        | None
    ) = None
    minutes: Annotated[int, Meta(ge=1, le=1440)] = 60


class NewIdentityProvider(Body, frozen=True):
    """An identity provider: whose JWTs are accepted, and the keys that verify them."""

    issuer: Annotated[str, Meta(min_length=1, max_length=500, description="The `iss` of its JWTs.")]
    audience: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=500,
                description="The `aud` of its JWTs; `pentimento:<tenant_id>` when left out. "
                "With another one callers name their tenant in X-Tenant-Id.",
            ),
        ]
        | None
    ) = None
    algorithms: (
        Annotated[list[Literal["RS256", "ES256", "EdDSA"]], Meta(min_length=1, max_length=3)] | None
    ) = None  # all of them
    jwks_url: (
        Annotated[
            str,
            Meta(min_length=1, max_length=500, description="Address of its public keys (JWKS)."),
        ]
        | None
    ) = None
    public_keys: Annotated[
        list[Annotated[str, Meta(max_length=8000, description="PEM")]], Meta(max_length=10)
    ] = []


class NewConversation(Body, frozen=True):
    instance_id: Id
    persona_ids: Annotated[list[Id], Meta(min_length=1, max_length=20)]
    id: Id | None = None
    title: Annotated[str, Meta(max_length=bounds.TITLE)] | None = None


SpeakerName = Annotated[str, Meta(min_length=1, max_length=bounds.SPEAKER)]


class NewMessage(Body, frozen=True):
    """One message of a conversation, as the caller sends it."""

    persona_id: Id
    role: Speaker
    content: Annotated[str, Meta(max_length=bounds.MESSAGE)]
    timestamp: Timestamp
    message_id: Id | None = None
    user_id: Id | None = None
    speaker: SpeakerName | None = None
    reply_to: Id | None = None


class NewMessages(Body, frozen=True):
    messages: Annotated[list[NewMessage], Meta(min_length=1, max_length=1000)]


ItemText = Annotated[str, Meta(min_length=1, max_length=bounds.ITEM_TEXT)]
Content = Annotated[
    dict[str, Any],
    Meta(
        description=(
            f"An object of at most {bounds.CONTENT_BYTES} bytes of JSON and "
            f"{bounds.CONTENT_DEPTH} levels. `subject` and `who` have at most {bounds.SUBJECT} "
            f"characters, `attribute`, `category` and `kind` {bounds.CATEGORY}; `valence` is from "
            "-1 to 1, `arousal` from 0 to 1."
        )
    ),
]


class NewItem(Body, frozen=True):
    """A memory item that the caller has extracted itself."""

    memory_type: MemoryType
    text: ItemText
    content: Content = {}
    source_message_ids: Annotated[list[Id], Meta(max_length=100)] = []


class NewCandidate(NewItem, frozen=True):
    candidate_id: Id | None = None


class CandidateChanges(Body, frozen=True):
    text: ItemText | UnsetType = UNSET
    content: Content | UnsetType = UNSET


Tags = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=bounds.TAG)]], Meta(max_length=bounds.TAGS)
]
Project = Annotated[str, Meta(min_length=1, max_length=bounds.PROJECT)]
Category = Annotated[str, Meta(max_length=bounds.CATEGORY)]
Importance = Annotated[int, Meta(ge=1, le=10)]


class MemoryChanges(Body, frozen=True):
    pinned: bool | UnsetType = UNSET
    importance: Importance | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    project: Project | None | UnsetType = UNSET


class NewMemoryBody(NewItem, frozen=True):
    memory_id: Id | None = None
    said_at: Timestamp | None = None
    tags: Tags = []
    project: Project | None = None
    importance: Importance = 5
    pinned: bool = False


Experience = Annotated[str, Meta(max_length=MAX_EXPERIENCE)]
TemporalMarker = Annotated[str, Meta(max_length=MAX_MARKER)]
Residue = Annotated[float, Meta(description="Brought between 0 and 1.")]


class NewShapeBody(Body, frozen=True):
    """A forgotten shape that is added by hand."""

    connected_themes: Experience
    felt_absence: Experience
    emotional_residue: Residue = 0.0
    temporal_marker: TemporalMarker = ""
    sense_of_loss: Experience = ""
    shape_id: Id | None = None


class NewRecallBody(Body, frozen=True):
    """What recalling a memory brought up."""

    response: Annotated[str, Meta(min_length=1, max_length=bounds.RESPONSE)]
    valence: Valence
    surfaced_by: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=bounds.SURFACED_BY,
            description="What brought the memory up, such as `hydration`, `search` or `link`.",
        ),
    ] = "manual"
    recall_id: Id | None = None


CountsAsUse = Annotated[bool, Meta(description="Whether recalled memories count as used.")]


class RecallQuery(Body, frozen=True):
    """A question to a persona's memory."""

    query: Annotated[str, Meta(min_length=1, max_length=bounds.QUERY)]
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: Annotated[str, Meta(max_length=bounds.CURSOR)] | None = None
    types: Annotated[list[MemoryType], Meta(min_length=1, max_length=10)] | None = None
    categories: Annotated[list[Category], Meta(min_length=1, max_length=50)] | None = None
    tags: Annotated[Tags, Meta(min_length=1)] | None = None
    project: Project | None = None
    from_at: Timestamp | None = None
    to_at: Timestamp | None = None
    as_of: (
        Annotated[
            Timestamp, Meta(description="Answer as the persona would have answered at this time.")
        ]
        | None
    ) = None
    include_pending: bool = True
    include_archived: bool = False
    asked_by: Annotated[SpeakerName, Meta(description="Whom «I» in the query means.")] | None = None
    profile: (
        Annotated[
            Literal["woven", "published"],
            Meta(description="How signals are weighed; the deployment's setting when left out."),
        ]
        | None
    ) = None
    explain: Annotated[bool, Meta(description="Show the signals behind each score.")] = False
    counts: CountsAsUse = True


class SharedWith(Body, frozen=True):
    persona_id: Annotated[
        str,
        Meta(
            pattern=ID_PATTERN,
            max_length=bounds.ID,
            description="The persona that hears of it, of the same tenant.",
        ),
    ]


class Minimization(Body, frozen=True):
    weight_modifier: (
        Annotated[
            float,
            Meta(
                ge=0,
                lt=1,
                description="What the weight is multiplied by; as much as one flag when left out.",
            ),
        ]
        | None
    ) = None


class NewLink(Body, frozen=True):
    to_id: Id
    type: LinkType = LinkType.RELATED
    strength: Annotated[float, Meta(ge=0, le=1)] | None = None


class JointUse(Body, frozen=True):
    memory_ids: Annotated[list[Id], Meta(min_length=1, max_length=100)]
    use_id: Id | None = None


MessageIds = Annotated[list[Id], Meta(min_length=1, max_length=5_000)]


class ForgetRange(Body, frozen=True):
    """Messages to flag: from a first to a last, both included, or a list of ids."""

    first_message_id: Id | None = None
    last_message_id: Id | None = None
    message_ids: MessageIds | None = None
    confirmed: bool = False


class NewSplit(Body, frozen=True):
    first_message_id: Id
    last_message_id: Id | None = None
    id: Id | None = None
    title: Annotated[str, Meta(max_length=bounds.TITLE)] | None = None


class Reversal(Body, frozen=True):
    source: ReversalSource = ReversalSource.MEMORY_MANAGER


class RangeReversal(Body, frozen=True):
    source: ReversalSource = ReversalSource.MEMORY_MANAGER
    message_ids: MessageIds | None = None


Budget = Annotated[int, Meta(ge=1, le=1_000_000, description="Tokens of the embedding model.")]


class ContextQuery(Body, frozen=True):
    conversation_id: Id
    query: Annotated[str, Meta(min_length=1, max_length=bounds.QUERY)] | None = None
    budget: Budget = 4000
    turns: Annotated[int, Meta(ge=1, le=500)] = 20
    memories: Annotated[int, Meta(ge=0, le=50)] = 10
    counts: CountsAsUse = True


class HydrationQuery(Body, frozen=True):
    """What a session starts with."""

    budget: Budget = 2000
    recent: Annotated[int, Meta(ge=0, le=200)] = 20
    project: Project | None = None
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] | None = None


class ClockSetting(Body, frozen=True):
    now: Timestamp | None
