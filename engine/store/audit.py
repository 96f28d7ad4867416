"""What is written down of every change of state: who did what, when."""

from datetime import UTC, datetime

from engine.ids import new_id
from engine.models import Row

OPERATOR = "operator"  # whoever works on the command line


def audit_record(action: str, *, by: str = OPERATOR, now: datetime | None = None) -> Row:
    """The same for what is done without a caller; in real time unless `now` is given."""
    return {"id": new_id(), "action": action, "by": by, "at": now or datetime.now(UTC)}
