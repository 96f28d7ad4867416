"""Ids: unique ones, and ones derived from other ids."""

import hashlib

from uuid_utils.compat import uuid7


def new_id() -> str:
    """A unique id. Ids sort by when they were made."""
    return uuid7().hex


def id_from(*sources: str) -> str:
    """An id derived from other ids: the same sources give the same id."""
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()[:32]
