"""Candidates and memories: drawn, stored, changed, linked, listed, copied, and their history.

What they say enters and leaves the graph through `content`.
"""

from engine.memory.candidates import (
    edit_candidate,
    list_candidates,
    propose_candidate,
    read_gate,
    remove_candidate,
    restore_candidate,
)
from engine.memory.change_log import (
    MAX_LOGGED_IDS,
    as_logged,
    delete_old_changes,
    log_changes,
)
from engine.memory.changes import Change, changes_of, decode_changes, encode_changes
from engine.memory.content import (
    decode_content,
    encode_content,
    index_properties,
    item_properties,
)
from engine.memory.drawing import draw_candidates, list_overdue_conversations
from engine.memory.duplicates import duplicate_persona, list_unfinished_copies
from engine.memory.facts import Fact, as_fact, fact_key, find_held_fact, timeline
from engine.memory.history import (
    AuditFilter,
    AuditRecord,
    export_audit,
    list_audit,
    memory_history,
    message_history,
)
from engine.memory.items import (
    Item,
    ItemCounts,
    ItemFilter,
    ItemOrder,
    ItemState,
    count_items,
    list_items,
)
from engine.memory.links import add_link, list_links
from engine.memory.memories import (
    NewMemory,
    archive_memory,
    change_memory,
    get_memory,
    list_memories,
    minimize_memory,
    remember,
    unarchive_memory,
)
from engine.memory.models import (
    Candidate,
    CandidateState,
    Coactivation,
    Gate,
    Link,
    LinkKey,
    LinkType,
    Memory,
    MemoryState,
)
from engine.memory.uses import Use, coactivate, count_uses

__all__ = [
    "MAX_LOGGED_IDS",
    "AuditFilter",
    "AuditRecord",
    "Candidate",
    "CandidateState",
    "Change",
    "Coactivation",
    "Fact",
    "Gate",
    "Item",
    "ItemCounts",
    "ItemFilter",
    "ItemOrder",
    "ItemState",
    "Link",
    "LinkKey",
    "LinkType",
    "Memory",
    "MemoryState",
    "NewMemory",
    "Use",
    "add_link",
    "archive_memory",
    "as_fact",
    "as_logged",
    "change_memory",
    "changes_of",
    "coactivate",
    "count_items",
    "count_uses",
    "decode_changes",
    "decode_content",
    "delete_old_changes",
    "draw_candidates",
    "duplicate_persona",
    "edit_candidate",
    "encode_changes",
    "encode_content",
    "export_audit",
    "fact_key",
    "find_held_fact",
    "get_memory",
    "index_properties",
    "item_properties",
    "list_audit",
    "list_candidates",
    "list_items",
    "list_links",
    "list_memories",
    "list_overdue_conversations",
    "list_unfinished_copies",
    "log_changes",
    "memory_history",
    "message_history",
    "minimize_memory",
    "propose_candidate",
    "read_gate",
    "remember",
    "remove_candidate",
    "restore_candidate",
    "timeline",
    "unarchive_memory",
]
