"""Who may do what: tenants, keys, tokens, identity providers, instances, members, personas, limits.

Every request comes from a `Caller` of one tenant; this room verifies who that is, and what they may
see.
"""

from engine.access.audit import audit_event
from engine.access.identity import (
    AUDIENCE_PREFIX,
    KEY_TYPES,
    JwtVerifier,
    get_provider,
    remove_provider,
    set_provider,
)
from engine.access.instances import (
    add_instance,
    get_instance,
    list_instances,
    list_members,
    put_member,
    remove_member,
)
from engine.access.keys import KeyRing, issue_key, list_keys, revoke_key, rotate_key
from engine.access.limits import RATE_WINDOW_SECONDS, RateLimiter, open_limiter
from engine.access.models import (
    ApiKey,
    Caller,
    IdentityProvider,
    Instance,
    IssuedKey,
    IssuedToken,
    Member,
    MemberRole,
    Persona,
    Role,
    Tone,
)
from engine.access.personas import (
    PERSONA_LEASE_SECONDS,
    add_persona,
    change_persona,
    get_persona,
    list_personas,
    persona_from_row,
)
from engine.access.tenants import add_tenant, list_tenants
from engine.access.tokens import issue_token

__all__ = [
    "AUDIENCE_PREFIX",
    "KEY_TYPES",
    "PERSONA_LEASE_SECONDS",
    "RATE_WINDOW_SECONDS",
    "ApiKey",
    "Caller",
    "IdentityProvider",
    "Instance",
    "IssuedKey",
    "IssuedToken",
    "JwtVerifier",
    "KeyRing",
    "Member",
    "MemberRole",
    "Persona",
    "RateLimiter",
    "Role",
    "Tone",
    "add_instance",
    "add_persona",
    "add_tenant",
    "audit_event",
    "change_persona",
    "get_instance",
    "get_persona",
    "get_provider",
    "issue_key",
    "issue_token",
    "list_instances",
    "list_keys",
    "list_members",
    "list_personas",
    "list_tenants",
    "open_limiter",
    "persona_from_row",
    "put_member",
    "remove_member",
    "remove_provider",
    "revoke_key",
    "rotate_key",
    "set_provider",
]
