"""The audit record of a change of state: who did what, when."""

from datetime import UTC, datetime

from engine.ids import new_id
from engine.models import Row

OPERATOR = "operator"  # the user of the command line


def audit_record(action: str, *, by: str = OPERATOR, now: datetime | None = None) -> Row:
    """A record of one action, at the real time unless `now` is given."""
    return {"id": new_id(), "action": action, "by": by, "at": now or datetime.now(UTC)}
