"""Callers, tenants, keys, tokens, personas, instances and members."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """What a caller may do. A runtime speaks for personas, an analyst reads, an admin configures.

    These three are roles of API keys. A user is a person with a token or a JWT; no key has that
    role.
    """

    RUNTIME = "runtime"
    USER = "user"
    ANALYST = "analyst"
    ADMIN = "admin"


class MemberRole(StrEnum):
    """The role of a user in an instance."""

    MEMBER = "member"
    ADMIN = "admin"


class Tone(StrEnum):
    """The tone of what the engine says in a persona's name."""

    PLAIN = "plain"
    WARM = "warm"
    PLAYFUL = "playful"
    FORMAL = "formal"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: one tenant, by a key, a token or a JWT, and for which user, if any."""

    tenant_id: str
    key_id: str  # of a token, the key that issued it; of a JWT, `jwt`
    role: Role
    user_id: str | None = None
    instance_ids: tuple[str, ...] | None = None  # a token may be limited to some instances

    @property
    def acts_as(self) -> str:
        """The actor in the audit: the user, or the key if it acts for no user."""
        return self.user_id or f"key:{self.key_id}"

    @property
    def sees_as(self) -> str | None:
        """The user whose memberships limit what this caller sees; None for the whole tenant."""
        return self.user_id

    @property
    def visibility(self) -> dict[str, Any]:
        """Statement parameters that limit what is read to what this caller may see."""
        instance_ids = None if self.instance_ids is None else list(self.instance_ids)
        return {"user_id": self.sees_as, "instance_ids": instance_ids}


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer. Owns personas, instances, users and keys, and sees nothing of other tenants."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key of one tenant, with one role. Its secret is not stored."""

    id: str
    name: str
    role: Role
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key, with its text: it cannot be read again."""

    key: ApiKey
    api_key: str


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token of a user, with its text: it cannot be read again."""

    token: str
    user_id: str
    expires_at: datetime
    instance_ids: list[str] | None  # None: every instance the user is a member of


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """The issuer whose JWTs a tenant accepts, and the public keys that verify them."""

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
    """A workspace inside a tenant. Each conversation belongs to one."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Member:
    """A user inside an instance."""

    user_id: str
    role: MemberRole
    since: datetime
