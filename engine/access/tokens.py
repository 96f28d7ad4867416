"""User tokens: how a person in a browser proves who they are, for a short time.

A token reads `pmu_<id>_<secret>` and is kept as API keys are: the hash of its secret, nothing else.
So nobody who can read the graph can make one, and the key that issued it takes it along when it is
revoked. Expired tokens are cleared away when new ones are issued.
"""

import json
import secrets
from datetime import datetime, timedelta

from engine.access.audit import audit_event
from engine.access.keys import TOKEN_PREFIX, hashed
from engine.access.models import Caller, IssuedToken
from engine.errors import InstanceNotFound, KeyNotFound
from engine.models import Row
from engine.store import Graph

CLEARED_AT_ONCE = 100  # expired tokens; more than one, so that they do not pile up


async def issue_token(
    graph: Graph,
    caller: Caller,
    *,
    user_id: str,
    instance_ids: list[str] | None,
    minutes: int,
    now: datetime,
) -> IssuedToken:
    """Make a token for a user. Its text cannot be had again.

    It ends with the key that issues it, at the latest.
    """
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    narrowed = None if instance_ids is None else sorted(set(instance_ids))
    expires_at = now + timedelta(minutes=minutes)

    def as_issued(rows: list[Row]) -> IssuedToken:
        if not rows:
            raise KeyNotFound(caller.key_id)
        (row,) = rows
        if row["missing"]:
            raise InstanceNotFound(row["missing"][0])
        text = f"{TOKEN_PREFIX}_{token_id}_{secret}"
        return IssuedToken(text, user_id, row["expires_at"], narrowed)

    return await graph.write_if(
        as_issued,
        "access/tokens/add_token",
        tenant_id=caller.tenant_id,
        key_id=caller.key_id,
        token={
            "id": token_id,
            "hash": hashed(secret),
            "user_id": user_id,
            "instance_ids": narrowed,
            "created_at": now,
            "expires_at": expires_at,
        },
        cleared=CLEARED_AT_ONCE,
        now=now,
        event=audit_event(caller, "token_issued", now),
        after=json.dumps(
            {"token_id": token_id, "user_id": user_id, "instance_ids": narrowed, "minutes": minutes}
        ),
    )
