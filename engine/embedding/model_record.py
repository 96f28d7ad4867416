"""The record of which model made a graph's vectors."""

from contextlib import suppress

from engine.embedding.embedder import Embedder
from engine.errors import Conflict, ModelMismatch
from engine.store import Graph


async def claim_model(graph: Graph, embedder: Embedder, *, analyzer: str = "english") -> None:
    """Record which model makes this graph's vectors and make the vector and full-text indexes.

    Raises `ModelMismatch` when another model was recorded before. The full-text index is made anew
    when its analyzer has changed.
    """
    (record,) = await graph.write(
        "embedding/claim_model", model=embedder.model, dimensions=embedder.dimensions
    )
    if (record["model"], record["dimensions"]) != (embedder.model, embedder.dimensions):
        raise ModelMismatch(
            f"{record['model']} ({record['dimensions']} numbers)",
            f"{embedder.model} ({embedder.dimensions} numbers)",
        )
    with suppress(Conflict):  # another process makes it at the same moment
        await graph.write("embedding/create_vector_index", dimensions=embedder.dimensions)
    text_indexes = await graph.read("embedding/read_text_index")
    if text_indexes and text_indexes[0]["analyzer"] != analyzer:
        await graph.write("embedding/drop_text_index")
    with suppress(Conflict):
        await graph.write("embedding/create_text_index", analyzer=analyzer)
