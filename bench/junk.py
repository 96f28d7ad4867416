"""How much of what the gate lets through is junk, on a sample of 200 candidates judged by hand.

`bench/labels/candidates.jsonl` holds the judgement alone: which conversation, turn and item of
LoCoMo's development split, and whether somebody would miss it. Junk is a pleasantry, an
encouragement, a bare reaction or a question about the other one: nothing to remember tomorrow. The
text stays in the data, which is read by its path (`--data`) and cannot be shipped here.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console

from bench.ingest import read_talks
from engine.extraction import ExtractionInput, extract

LABELS = Path(__file__).parent / "labels" / "candidates.jsonl"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    drawn = {
        (talk.name, message.message_id.partition(".")[2], place): item.memory_type.value
        for talk in read_talks(parser.parse_args().data)
        for message in talk.messages
        for place, item in enumerate(
            extract(
                ExtractionInput(
                    message.message_id,
                    message.speaker or "",
                    message.role,
                    message.content,
                    message.timestamp,
                    "",
                )
            ).items
        )
    }
    judged: Counter[tuple[str, bool]] = Counter()
    gone: Counter[bool] = Counter()
    for line in LABELS.read_text().splitlines():
        label = json.loads(line)
        if drawn.get((label["conversation"], label["turn"], label["place"])):
            judged[label["memory_type"], label["junk"]] += 1
        else:
            gone[label["junk"]] += 1
    console = Console()
    for kind in ("episodic", "semantic", "somatic"):
        junk, total = judged[kind, True], judged[kind, True] + judged[kind, False]
        if total:
            console.print(f"{kind:<9} {junk} of {total} are junk ({junk / total:.0%})")
    kept = judged.total()
    share = sum(n for (_, junk), n in judged.items() if junk) / kept
    console.print(
        f"together  {share:.1%} of {kept}; no longer drawn: {gone[True]} junk, {gone[False]} good"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
