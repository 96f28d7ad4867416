"""Candidates from what was said: rules for facts and feelings, and a gate that keeps junk out.

Needs no language model; one plugs in at the `Extractor` port.
"""

from engine.extraction.attributes import OPPOSITES, is_single_valued
from engine.extraction.port import Extractor, RuleExtractor, open_extractor
from engine.extraction.rule_based import ExtractionInput, extract
from engine.text import fingerprint

__all__ = [
    "OPPOSITES",
    "ExtractionInput",
    "Extractor",
    "RuleExtractor",
    "extract",
    "fingerprint",
    "is_single_valued",
    "open_extractor",
]
