"""Embeddings: encoders behind one port, and the vectors and words stored with each memory.

The only room that loads a model; the graph records which one made its vectors.
"""

from engine.embedding.coverage import MIN_KNOWN_SHARE, has_reliable_vector
from engine.embedding.embedder import Embedder, lexicon_file, open_embedder
from engine.embedding.encoders import Encoder, estimate_tokens, onnx_folder
from engine.embedding.lexicon import Lexicon
from engine.embedding.memory_vectors import (
    EmbeddedText,
    MemoryVectors,
    TextInContext,
    VectorMatrix,
    embed_in_context,
    quantized,
    search_scope,
)
from engine.embedding.model_record import claim_model
from engine.embedding.onnx_models import KnownModel, known_model
from engine.embedding.vectors import Vector, normalized

__all__ = [
    "MIN_KNOWN_SHARE",
    "EmbeddedText",
    "Embedder",
    "Encoder",
    "KnownModel",
    "Lexicon",
    "MemoryVectors",
    "TextInContext",
    "Vector",
    "VectorMatrix",
    "claim_model",
    "embed_in_context",
    "estimate_tokens",
    "has_reliable_vector",
    "known_model",
    "lexicon_file",
    "normalized",
    "onnx_folder",
    "open_embedder",
    "quantized",
    "search_scope",
]
