"""Runs a stack of the checkout it is started in, with generated memories, until its input ends.

For `bench.throughput`, which starts this file in other checkouts too: `bench`, `engine` and `ops`
are then theirs, so that each stores the same memories in its own way. Prints one line of JSON: the
API's address, a key, the stack's folder, and words to ask each persona for.
"""

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from bench.private import private_stack
from engine.embedding import open_embedder
from engine.settings import Settings
from engine.store import Graph

# Older checkouts generate memories in another module.
generator_module = "bench.synthetic" if find_spec("bench.synthetic") else "bench.latency"
synthetic = import_module(generator_module)
QUESTIONS = 20  # of each persona, from which the words are taken


async def load(settings: Settings, personas: int, memories: int) -> dict[str, list[str]]:
    """Load so many memories into each persona. Returns words that its memories hold."""
    setattr(synthetic, "PERSONAS", personas)  # noqa: B010  # the module is known at run time only
    graph, embedder = Graph.open(settings).with_limit(7200), open_embedder(settings)
    try:
        lexicon = await embedder.lexicon()
        generator = synthetic.DataGenerator(list(lexicon.positions), embedder.dimensions)
        questions = await synthetic.load(
            graph, embedder, generator, personas * memories, personas * QUESTIONS
        )
    finally:
        embedder.close()
        await graph.close()
    words: dict[str, set[str]] = {}
    for question in synthetic.without_probe(questions):
        asked = question.text.removeprefix("What about ").removesuffix("?")
        words.setdefault(question.persona_id, set()).update(asked.split())
    return {persona_id: sorted(found) for persona_id, found in words.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--personas", type=int, required=True)
    parser.add_argument("--memories", type=int, required=True)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # stops what was started
    with (
        tempfile.TemporaryDirectory() as folder,
        private_stack(Path(folder)) as (stack, settings, key),
    ):
        words = asyncio.run(load(settings, arguments.personas, arguments.memories))
        told = {"url": stack.api_url, "key": key, "folder": folder, "words": words}
        print(f"\n{json.dumps(told)}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
