"""Neo4j and Redis: named statements, migrations, pages of listings, audit records.

The only room that talks to either of them directly; it knows nothing of the domain.
"""

from engine.store.audit import OPERATOR, audit_record
from engine.store.broker import PATIENCE, lose_worker, open_broker, ping, see_worker, workers_seen
from engine.store.graph import (
    Graph,
    Rehearsal,
    Store,
    Write,
    answer_within,
    causal_chain,
    look_at_store,
    set_first_password,
)
from engine.store.migrations import migrate, pending
from engine.store.paging import (
    Page,
    after,
    after_arrival,
    after_moment,
    after_number,
    after_place,
    as_cursor,
    moment,
    numbered,
    page,
)

__all__ = [
    "OPERATOR",
    "PATIENCE",
    "Graph",
    "Page",
    "Rehearsal",
    "Store",
    "Write",
    "after",
    "after_arrival",
    "after_moment",
    "after_number",
    "after_place",
    "answer_within",
    "as_cursor",
    "audit_record",
    "causal_chain",
    "look_at_store",
    "lose_worker",
    "migrate",
    "moment",
    "numbered",
    "open_broker",
    "page",
    "pending",
    "ping",
    "see_worker",
    "set_first_password",
    "workers_seen",
]
