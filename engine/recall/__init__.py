"""What a persona remembers when it is asked, and what it is handed before it answers.

One ranking over memories and pending candidates, cut to a budget of tokens; uses are counted later.
"""

from engine.recall.context import Context, ContextRequest, assemble_context
from engine.recall.fulltext import full_text_query
from engine.recall.hydration import Hydration, hydrate
from engine.recall.profiles import PROFILES, RankingProfile
from engine.recall.recall import Recall, RecallResult
from engine.recall.reranking import open_reranker
from engine.recall.search import Filters
from engine.recall.uses import UseLog, count_recorded_uses

__all__ = [
    "PROFILES",
    "Context",
    "ContextRequest",
    "Filters",
    "Hydration",
    "RankingProfile",
    "Recall",
    "RecallResult",
    "UseLog",
    "assemble_context",
    "count_recorded_uses",
    "full_text_query",
    "hydrate",
    "open_reranker",
]
