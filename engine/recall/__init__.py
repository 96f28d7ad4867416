"""What a persona remembers when it is asked, and what it is handed before it answers.

One ranking over memories and pending candidates, cut to a budget of tokens; uses are counted later.
"""

from engine.recall.context import Context, Wanted, assemble_context
from engine.recall.fulltext import full_text_query
from engine.recall.hydration import Woken, hydrate
from engine.recall.recall import Filters, Recall, Recalled
from engine.recall.uses import UseLog, count_told

__all__ = [
    "Context",
    "Filters",
    "Recall",
    "Recalled",
    "UseLog",
    "Wanted",
    "Woken",
    "assemble_context",
    "count_told",
    "full_text_query",
    "hydrate",
]
