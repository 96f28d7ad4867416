"""Texts as vectors: encoders behind one port, and the vectors that are kept of each memory.

The only room that loads a model; the graph records which one made its vectors.
"""

from engine.embedding.embedder import (
    MIN_KNOWN_SHARE,
    Embedder,
    Encoder,
    Lexicon,
    Vector,
    claim_model,
    estimate_tokens,
    has_reliable_vector,
    lexicon_file,
    normalized,
    onnx_folder,
    open_embedder,
)
from engine.embedding.memory_vectors import (
    MemoryVectors,
    TextInContext,
    VectorMatrix,
    embed_in_context,
    search_scope,
)

__all__ = [
    "MIN_KNOWN_SHARE",
    "Embedder",
    "Encoder",
    "Lexicon",
    "MemoryVectors",
    "TextInContext",
    "Vector",
    "VectorMatrix",
    "claim_model",
    "embed_in_context",
    "estimate_tokens",
    "has_reliable_vector",
    "lexicon_file",
    "normalized",
    "onnx_folder",
    "open_embedder",
    "search_scope",
]
