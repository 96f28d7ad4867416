"""Texts as vectors: encoders behind one port, and the vectors that are kept of each memory.

The only room that loads a model; the graph records which one made its vectors.
"""

from engine.embedding.embedder import (
    KNOWN_ENOUGH,
    Embedder,
    Encoder,
    Lexicon,
    Vector,
    about_tokens,
    claim_model,
    is_legible,
    onnx_folder,
    open_embedder,
    unit,
    words_file,
)
from engine.embedding.memory_vectors import COMMON, Faces, Facets, Saying, embed_sayings, shelf

__all__ = [
    "COMMON",
    "KNOWN_ENOUGH",
    "Embedder",
    "Encoder",
    "Faces",
    "Facets",
    "Lexicon",
    "Saying",
    "Vector",
    "about_tokens",
    "claim_model",
    "embed_sayings",
    "is_legible",
    "onnx_folder",
    "open_embedder",
    "shelf",
    "unit",
    "words_file",
]
