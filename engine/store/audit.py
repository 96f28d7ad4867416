"""What is written down of every change of state: who did what, when."""

from datetime import UTC, datetime

from engine.models import Caller, new_id
from engine.store.graph import Row

OPERATOR = "operator"  # whoever works on the command line


def audit_event(caller: Caller, action: str, now: datetime) -> Row:
    """The parameters of an `Event`; the statement that makes the change writes it."""
    return audit_record(action, by=caller.acts_as, now=now)


def audit_record(action: str, *, by: str = OPERATOR, now: datetime | None = None) -> Row:
    """The same for what is done without a caller; in real time unless `now` is given."""
    return {"id": new_id(), "action": action, "by": by, "at": now or datetime.now(UTC)}
