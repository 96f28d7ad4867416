"""User tokens: short-lived proof of who a person is, for browsers.

A token is `pmu_<id>_<secret>`. Like an API key it is stored only as the hash of its secret, so
nobody who can read the graph can make one. It ends when the key that issued it is revoked. Issuing
a token deletes some expired ones.
"""

import json
import secrets
from datetime import datetime, timedelta

from engine.access.audit import audit_event
from engine.access.keys import TOKEN_PREFIX, hash_secret
from engine.access.models import Caller, IssuedToken
from engine.errors import InstanceNotFound, KeyNotFound
from engine.models import Row
from engine.store import Graph

MAX_CLEARED = 100  # expired tokens deleted with each new one; more than one, so they cannot pile up


async def issue_token(
    graph: Graph,
    caller: Caller,
    *,
    user_id: str,
    instance_ids: list[str] | None,
    minutes: int,
    now: datetime,
) -> IssuedToken:
    """Issue a token for a user. Its text cannot be read again.

    It expires with the key that issues it, at the latest.
    """
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    limited_to = None if instance_ids is None else sorted(set(instance_ids))
    expires_at = now + timedelta(minutes=minutes)
    scope = {"user_id": user_id, "instance_ids": limited_to}

    def check_issued(rows: list[Row]) -> IssuedToken:
        if not rows:
            raise KeyNotFound(caller.key_id)
        (row,) = rows
        if row["missing"]:
            raise InstanceNotFound(row["missing"][0])
        text = f"{TOKEN_PREFIX}_{token_id}_{secret}"
        return IssuedToken(text, user_id, row["expires_at"], limited_to)

    return await graph.write_if(
        check_issued,
        "access/tokens/add_token",
        tenant_id=caller.tenant_id,
        key_id=caller.key_id,
        token={
            "id": token_id,
            "hash": hash_secret(secret),
            **scope,
            "created_at": now,
            "expires_at": expires_at,
        },
        cleared=MAX_CLEARED,
        now=now,
        event=audit_event(caller, "token_issued", now),
        after=json.dumps({"token_id": token_id, **scope, "minutes": minutes}),
    )
