"""Ids: unique ones, and ones derived from other ids."""

import hashlib

from uuid_utils.compat import uuid7

LARGEST_NUMBER = 2**53 - 1  # that every language reads exactly


def new_id() -> str:
    """A unique id. Ids sort by when they were made."""
    return uuid7().hex


def number_from(*sources: str) -> int:
    """A number derived from ids, from 1 to LARGEST_NUMBER.

    Of 100,000 different sources, two have the same number once in 1.8 million times.
    """
    digest = hashlib.sha256("\n".join(sources).encode()).digest()
    return int.from_bytes(digest[:8]) % LARGEST_NUMBER + 1


def id_from(*sources: str) -> str:
    """An id derived from other ids: the same sources give the same id."""
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()[:32]
