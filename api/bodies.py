"""What callers send, and how far each part of it may go."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request
from litestar.exceptions import ClientException, ValidationException
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, PathParameter, QueryParameter
from msgspec import UNSET, Meta, Struct, UnsetType

from engine import bounds
from engine.access import MemberRole, Tone
from engine.bounds import ID_PATTERN, check_content
from engine.errors import Invalid
from engine.forgetting import ReversalSource
from engine.memory import LinkType
from engine.models import MemoryType
from engine.talk import Speaker

Id = Annotated[
    str,
    Meta(
        pattern=ID_PATTERN,
        max_length=bounds.ID,
        description="Chosen by the caller and unique in the tenant; made up when left out.",
    ),
]
Name = Annotated[str, Meta(min_length=1, max_length=bounds.NAME)]
Identity = Annotated[
    str,
    Meta(
        max_length=bounds.IDENTITY,
        description="Who the persona is: the first layer of its context.",
    ),
]
Moment = Annotated[datetime, Meta(tz=True)]
TimeZone = Annotated[str, Meta(min_length=1, max_length=64, description="An IANA time zone.")]

EARLIEST, LATEST = 1900, 9000  # years; what lies outside was not said by anybody

PathId = Annotated[str, PathParameter(max_length=bounds.ID)]
NewUserId = Annotated[str, PathParameter(max_length=bounds.ID, pattern=ID_PATTERN)]
Limit = Annotated[int, QueryParameter(ge=1, le=500, description="Items on a page.")]
Cursor = Annotated[
    str | None,
    QueryParameter(max_length=bounds.CURSOR, description="`next_cursor` of the page before."),
]
MomentAsked = Annotated[
    str | None,
    QueryParameter(
        max_length=40,
        format="date-time",
        description="Only what was held to be so at that time.",
    ),
]


def in_utc(moment: datetime | None) -> datetime | None:
    """The same moment as the graph keeps it; offsets that exist nowhere on Earth do not matter."""
    try:
        return moment.astimezone(UTC) if moment else None
    except OverflowError as error:
        raise Invalid("That time is out of the calendar.") from error


def said_at(moment: datetime) -> datetime:
    """A time of the caller's, to the microsecond the graph and Python both keep."""
    told = in_utc(moment)
    if told is None or not EARLIEST < told.year < LATEST:
        raise Invalid(f"A message is said between the years {EARLIEST} and {LATEST}.")
    return told


def asked_for(moment: str | None) -> datetime | None:
    """A time in a query string. A number is none, though Litestar would read it as one."""
    if moment is None:
        return None
    try:
        told = datetime.fromisoformat(moment)
    except ValueError as error:
        raise Invalid(f"{moment!r} is not a time such as 2027-01-01T03:00:00Z.") from error
    if told.tzinfo is None:
        raise Invalid("A time needs its offset, such as the Z in 2027-01-01T03:00:00Z.")
    return in_utc(told)


def like(**example: Any) -> BodyKwarg:
    """A JSON body, with an example for the OpenAPI document."""
    return BodyKwarg(examples=[Example(value=example)])


class StrictRequest(Request[Any, Any, Any]):
    """Reads a body as exactly what its route takes: a number is a number, not a word for one.

    Litestar reads it leniently, as it has to read a query string.
    """

    async def json(self) -> Any:
        field = self.route_handler.parsed_data_field
        body = await self.body()
        try:
            value = msgspec.json.decode(body, type=field.annotation if field else Any)
        except msgspec.ValidationError as error:
            message, _, place = str(error).partition(" - at `$")
            raise not_taken(place.strip(".`"), message) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ClientException("The body is not JSON.") from error
        except RecursionError as error:
            raise ClientException("The body is nested too deep.") from error
        content = getattr(value, "content", None)
        if isinstance(content, dict):
            try:
                check_content(content)
            except Invalid as error:
                raise not_taken("content", str(error)) from error
        if len(body) > LARGE_BODY:
            await asyncio.to_thread(check_strings_and_keys, body)
        else:
            check_strings_and_keys(body)
        return value


LARGE_BODY = 64 * 1024  # bytes; looking through more is not done on the event loop


def not_taken(field: str, message: str) -> ValidationException:
    """The refusal of a body for one of its fields."""
    return ValidationException(
        "The body is not what this route takes.", extra=[{"key": field, "message": message}]
    )


def check_strings_and_keys(body: bytes) -> None:
    """Refuse what msgspec reads silently: a key given twice, and strings with NUL in them."""
    may_have_nul = b"\\u0000" in body

    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            doubled = next(name for name in names if names.count(name) > 1)
            raise not_taken(doubled[: bounds.NAME], "Object has this field twice")
        if may_have_nul and (any("\0" in name for name in found) or has_nul([*found.values()])):
            raise ClientException("A string in the body holds a NUL character.")
        return found

    try:
        value = json.loads(body, object_pairs_hook=checked)
    except RecursionError as error:
        raise ClientException("The body is nested too deep.") from error
    if may_have_nul and has_nul([value]):
        raise ClientException("A string in the body holds a NUL character.")


def has_nul(values: list[Any]) -> bool:
    """Whether a string among these values, or in lists of them, holds NUL."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and "\0" in value:
            return True
        if isinstance(value, list):
            waiting += value
    return False


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """A request body. A field it does not have is a mistake that is told, not passed over."""


def named(body: Body) -> dict[str, Any]:
    """The fields that a caller has named, null or not."""
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    return {name: value for name, value in given.items() if value is not UNSET}


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
    expires_at: Moment | None = None


class Rotation(Body, frozen=True):
    grace_seconds: Annotated[int, Meta(ge=0, le=7 * 86_400)] = 0


class NewToken(Body, frozen=True):
    """A person's way in for a short time."""

    user_id: Id
    instance_ids: (
        Annotated[
            list[Id],
            Meta(min_length=1, max_length=100, description="Narrows it to these instances."),
        ]
        | None
    ) = None
    minutes: Annotated[int, Meta(ge=1, le=1440)] = 60


class NewIdentityProvider(Body, frozen=True):
    """Whose JWTs are accepted, and the public keys they are checked with."""

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
        Annotated[str, Meta(min_length=1, max_length=500, description="Where its keys are.")] | None
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
    """One thing that was said, as the caller tells it."""

    persona_id: Id
    role: Speaker
    content: Annotated[str, Meta(max_length=bounds.MESSAGE)]
    timestamp: Moment
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
    """Something that a runtime has drawn itself."""

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
    said_at: Moment | None = None
    tags: Tags = []
    project: Project | None = None
    importance: Importance = 5
    pinned: bool = False


class Asked(Body, frozen=True):
    """A question to a persona's memory."""

    query: Annotated[str, Meta(min_length=1, max_length=bounds.QUERY)]
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    cursor: Annotated[str, Meta(max_length=bounds.CURSOR)] | None = None
    types: Annotated[list[MemoryType], Meta(min_length=1, max_length=10)] | None = None
    categories: Annotated[list[Category], Meta(min_length=1, max_length=50)] | None = None
    tags: Annotated[Tags, Meta(min_length=1)] | None = None
    project: Project | None = None
    from_at: Moment | None = None
    to_at: Moment | None = None
    as_of: Moment | None = None  # what it would have said then
    include_pending: bool = True
    include_archived: bool = False
    asked_by: SpeakerName | None = None  # who "I" is
    profile: Literal["woven", "published"] | None = None
    explain: bool = False
    counts: bool = True  # whether what is recalled counts as used


class Minimizing(Body, frozen=True):
    weight_modifier: (
        Annotated[float, Meta(ge=0, lt=1, description="As far as one flag would when left out.")]
        | None
    ) = None


class NewLink(Body, frozen=True):
    to_id: Id
    type: LinkType = LinkType.RELATED
    strength: Annotated[float, Meta(ge=0, le=1)] | None = None


class UsedTogether(Body, frozen=True):
    memory_ids: Annotated[list[Id], Meta(min_length=1, max_length=100)]
    use_id: Id | None = None


MessageIds = Annotated[list[Id], Meta(min_length=1, max_length=5_000)]


class ForgetRange(Body, frozen=True):
    """From one message to another, both included; or the messages that are named."""

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


class ReversalOfRange(Body, frozen=True):
    source: ReversalSource = ReversalSource.MEMORY_MANAGER
    message_ids: MessageIds | None = None


Budget = Annotated[int, Meta(ge=1, le=1_000_000, description="Tokens of the embedding model.")]


class ContextWanted(Body, frozen=True):
    conversation_id: Id
    query: Annotated[str, Meta(min_length=1, max_length=bounds.QUERY)] | None = None
    budget: Budget = 4000
    turns: Annotated[int, Meta(ge=1, le=500)] = 20
    memories: Annotated[int, Meta(ge=0, le=50)] = 10
    counts: bool = True  # whether what is recalled counts as used


class Waking(Body, frozen=True):
    """How a session starts."""

    budget: Budget = 2000
    recent: Annotated[int, Meta(ge=0, le=200)] = 20
    project: Project | None = None
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] | None = None


class ClockSetting(Body, frozen=True):
    now: Moment | None
