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
from engine.memory.relearning import Relearning, relearn_shape, share_shape
from engine.memory.shadow import Shadow, read_shadow
from engine.memory.shape_content import (
    IMPORTANCE,
    MAX_EXPERIENCE,
    MAX_MARKER,
    MAX_SOURCE_SIMILARITY,
    ShapeExperience,
    ShapeOutline,
    clamped,
    emotional_residue,
    outline_text,
    shape_title,
)
from engine.memory.shape_phrasing import (
    LlmPhraser,
    ShapePhraser,
    TemplatePhraser,
    open_phraser,
)
from engine.memory.shapes import (
    NewShape,
    Shape,
    ShapeVectors,
    create_shape,
    embed_shape,
    list_shapes,
)
from engine.memory.uses import Use, coactivate, count_uses
from engine.memory.withdrawal import withdraw_shapes

__all__ = [
    "IMPORTANCE",
    "MAX_EXPERIENCE",
    "MAX_LOGGED_IDS",
    "MAX_MARKER",
    "MAX_SOURCE_SIMILARITY",
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
    "LlmPhraser",
    "Memory",
    "MemoryState",
    "NewMemory",
    "NewShape",
    "Relearning",
    "Shadow",
    "Shape",
    "ShapeExperience",
    "ShapeOutline",
    "ShapePhraser",
    "ShapeVectors",
    "TemplatePhraser",
    "Use",
    "add_link",
    "archive_memory",
    "as_fact",
    "as_logged",
    "change_memory",
    "changes_of",
    "clamped",
    "coactivate",
    "count_items",
    "count_uses",
    "create_shape",
    "decode_changes",
    "decode_content",
    "delete_old_changes",
    "draw_candidates",
    "duplicate_persona",
    "edit_candidate",
    "embed_shape",
    "emotional_residue",
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
    "list_shapes",
    "list_unfinished_copies",
    "log_changes",
    "memory_history",
    "message_history",
    "minimize_memory",
    "open_phraser",
    "outline_text",
    "propose_candidate",
    "read_gate",
    "read_shadow",
    "relearn_shape",
    "remember",
    "remove_candidate",
    "restore_candidate",
    "shape_title",
    "share_shape",
    "timeline",
    "unarchive_memory",
    "withdraw_shapes",
]
