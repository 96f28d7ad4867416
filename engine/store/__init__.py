"""Neo4j and Redis: named statements, migrations, pages of listings, audit records.

The only room that talks to either of them directly; it knows nothing of the domain.
"""

from engine.store.audit import OPERATOR, audit_record
from engine.store.broker import (
    PATIENCE,
    forget_worker,
    list_workers,
    open_broker,
    ping,
    report_worker,
)
from engine.store.graph import (
    Graph,
    PreviewGraph,
    Write,
    answer_within,
    causal_chain,
)
from engine.store.migrations import migrate, pending
from engine.store.paging import (
    Page,
    decode_arrival,
    decode_id,
    decode_moment,
    decode_number,
    decode_place,
    encode_cursor,
    make_page,
    moment_key,
    number_key,
)
from engine.store.server import StoreState, inspect_store, set_first_password

__all__ = [
    "OPERATOR",
    "PATIENCE",
    "Graph",
    "Page",
    "PreviewGraph",
    "StoreState",
    "Write",
    "answer_within",
    "audit_record",
    "causal_chain",
    "decode_arrival",
    "decode_id",
    "decode_moment",
    "decode_number",
    "decode_place",
    "encode_cursor",
    "forget_worker",
    "inspect_store",
    "list_workers",
    "make_page",
    "migrate",
    "moment_key",
    "number_key",
    "open_broker",
    "pending",
    "ping",
    "report_worker",
    "set_first_password",
]
