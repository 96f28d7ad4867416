"""Measures the share of candidates not worth keeping, on a sample of 200 labelled by hand.

`bench/labels/candidates.jsonl` holds only the labels: conversation, turn and item of LoCoMo's
development split, and whether it is junk. Junk is a pleasantry, an encouragement, a bare reaction
or a question about the other person. The texts are in the data (`--data`), which cannot be shipped
here.
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
        (talk.name, message.message_id.partition(".")[2], index): item.memory_type.value
        for talk in read_talks(parser.parse_args().data)
        for message in talk.messages
        for index, item in enumerate(
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
    labelled: Counter[tuple[str, bool]] = Counter()
    no_longer_drawn: Counter[bool] = Counter()
    for line in LABELS.read_text().splitlines():
        label = json.loads(line)
        if drawn.get((label["conversation"], label["turn"], label["place"])):
            labelled[label["memory_type"], label["junk"]] += 1
        else:
            no_longer_drawn[label["junk"]] += 1
    console = Console()
    for kind in ("episodic", "semantic", "somatic"):
        junk, good = labelled[kind, True], labelled[kind, False]
        if junk + good:
            share = junk / (junk + good)
            console.print(f"{kind:<9} {junk} of {junk + good} are junk ({share:.0%})")
    total = labelled.total()
    share = sum(count for (_, is_junk), count in labelled.items() if is_junk) / total
    console.print(
        f"together  {share:.1%} of {total}; no longer drawn: {no_longer_drawn[True]} junk, "
        f"{no_longer_drawn[False]} good"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
