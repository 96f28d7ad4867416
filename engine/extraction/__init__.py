"""Memory items from messages: a gate that keeps junk out, rules for facts, a lexicon for feelings.

Needs no language model; one plugs in at the `Extractor` port. The rules are data: to add one, write
an entry with examples in `languages/english.toml`; for another language, add a file beside it.
"""

from engine.extraction.attributes import OPPOSITES, is_single_valued
from engine.extraction.port import Extractor, RuleExtractor, open_extractor
from engine.extraction.rule_based import Extraction, ExtractionInput, extract

__all__ = [
    "OPPOSITES",
    "Extraction",
    "ExtractionInput",
    "Extractor",
    "RuleExtractor",
    "extract",
    "is_single_valued",
    "open_extractor",
]
