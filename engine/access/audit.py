"""The audit record of what a caller does."""

from datetime import datetime

from engine.access.models import Caller
from engine.models import Row
from engine.store import audit_record


def audit_event(caller: Caller, action: str, now: datetime) -> Row:
    """Parameters of an `Event` node, written by the same statement that makes the change."""
    return audit_record(action, by=caller.acts_as, now=now)
