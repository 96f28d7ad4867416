"""Who asks and for whom: tenants, keys, tokens, personas, instances, members."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


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
