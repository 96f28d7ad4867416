"""Ids: ones that nobody else makes, and ones that follow from others."""

import hashlib

from uuid_utils.compat import uuid7


def new_id() -> str:
    """An id that nobody else makes, and that sorts by when it was made."""
    return uuid7().hex


def id_from(*sources: str) -> str:
    """An id that follows from others: doing the same again makes the same one."""
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()[:32]
