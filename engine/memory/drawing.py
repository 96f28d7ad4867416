"""Drawing candidates from messages: what the extractor takes from each, embedded and kept."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.embedding import (
    EmbeddedText,
    Embedder,
    TextInContext,
    embed_in_context,
    search_scope,
)
from engine.extraction import Extraction, ExtractionInput, Extractor, extract
from engine.ids import id_from
from engine.memory.content import (
    decode_content,
    index_properties,
    item_properties,
)
from engine.memory.facts import Fact, as_fact, fact_key
from engine.models import MemoryType, Row
from engine.store import Graph
from engine.talk import MESSAGE_OVERDUE_AFTER

BATCH_SIZE = 64  # messages read at a time
BATCH_CHARACTERS = 100_000  # of messages drawn from, embedded and kept as one transaction
CONTEXT_WORDS = 60  # of what was said before: the last of them, so that the text itself counts
MAX_KNOWN_NAMES = 500  # of people a persona knows; each is looked for in every question

KeyedFact = tuple[str, Fact]  # the key that a fact is filed under, and the fact


@dataclass(frozen=True, slots=True)
class DrawResult:
    """How many messages were drawn from, and how many candidates were kept."""

    messages: int
    candidates: int


async def draw_candidates(
    graph: Graph,
    embedder: Embedder,
    extractor: Extractor,
    tenant_id: str,
    conversation_id: str,
    *,
    now: datetime,
) -> DrawResult:
    """Draw candidates from every message of a conversation that waits for it.

    Idempotent: two workers at once, or one that dies and another that takes over, draw from each
    message once.
    """
    messages = candidates = 0
    while waiting := await list_waiting_messages(graph, tenant_id, conversation_id):
        for batch in batches_by_length(waiting):
            kept = await draw_batch(graph, embedder, extractor, tenant_id, batch, now=now)
            messages += kept["messages"]
            candidates += kept["candidates"]
    return DrawResult(messages, candidates)


async def draw_batch(
    graph: Graph,
    embedder: Embedder,
    extractor: Extractor,
    tenant_id: str,
    waiting: Sequence[Row],
    *,
    now: datetime,
) -> Row:
    """Draw candidates from some messages. Returns how many messages and candidates were kept."""
    repeat_ids = await find_exact_repeats(graph, tenant_id, waiting)
    extractions = await asyncio.gather(
        *(
            extractor.draw(extraction_input(message), is_repeat=message["id"] in repeat_ids)
            for message in waiting
        )
    )
    drawn = list(zip(waiting, extractions, strict=True))
    embedded = await embed_in_context(embedder, texts_to_embed(drawn))
    await add_known_names(graph, tenant_id, waiting)
    (kept,) = await graph.write(
        "memory/candidates/add_drawn_candidates",
        tenant_id=tenant_id,
        drawn=drawn_rows(tenant_id, drawn, embedded),
        now=now,
    )
    return kept


def batches_by_length(messages: Sequence[Row]) -> Iterator[list[Row]]:
    """The messages in order, in batches of up to `BATCH_CHARACTERS` or of one message."""
    batch: list[Row] = []
    characters = 0
    for message in messages:
        characters += len(message["content"])
        if batch and characters > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], len(message["content"])
        batch.append(message)
    if batch:
        yield batch


async def list_waiting_messages(graph: Graph, tenant_id: str, conversation_id: str) -> list[Row]:
    """The next messages of a conversation that nothing was drawn from yet."""
    rows = await graph.read(
        "memory/candidates/list_waiting_messages",
        tenant_id=tenant_id,
        conversation_id=conversation_id,
        limit=BATCH_SIZE,
    )
    return [row["message"] for row in rows]


def extraction_input(message: Row) -> ExtractionInput:
    """A waiting message as extractors take it."""
    return ExtractionInput(
        message_id=message["id"],
        speaker=message["speaker"],
        role=message["role"],
        content=message["content"],
        said_at=message["said_at"],
        conversation=message["where"],
    )


def texts_to_embed(drawn: Sequence[tuple[Row, Extraction]]) -> list[TextInContext]:
    """The text of every drawn item, in order; an episode with what was said before it."""
    return [
        episode_in_context(message, extraction, place)
        if item.memory_type is MemoryType.EPISODIC
        else TextInContext(item.meaning, kept_as=item.text, applies_to=applies_to(item.content))
        for message, extraction in drawn
        for place, item in enumerate(extraction.items)
    ]


def applies_to(content: dict[str, Any]) -> str | None:
    """What an instruction or a preference is for, if it says so."""
    topic = content.get("applies_to")
    return topic if isinstance(topic, str) else None


def episode_in_context(message: Row, extraction: Extraction, place: int) -> TextInContext:
    """An episode after the message before it; a later passage after the passage before it.

    Passages of a persona's long answers are embedded whole and nothing else: they are most of all
    text, and little of what is asked for.
    """
    item = extraction.items[place]
    is_passage = "passage" in item.content
    before = extraction.items[place - 1].meaning if place else message["before"]
    if is_passage and message["role"] == "persona":
        before = None
    return TextInContext(
        item.meaning,
        before=last_words(before) if before else None,
        answers=message["before"],
        kept_as=item.text,
        by_sentence=not (is_passage and message["role"] == "persona"),
    )


def last_words(text: str) -> str:
    """The end of a text; the whole text when it is short."""
    words = text.rsplit(maxsplit=CONTEXT_WORDS)
    return " ".join(words[1:]) if len(words) > CONTEXT_WORDS else text


def drawn_rows(
    tenant_id: str, drawn: Sequence[tuple[Row, Extraction]], embedded: Sequence[EmbeddedText]
) -> list[Row]:
    """The parameter of `keep_drawn`: for each message its candidates, and what was left out.

    `embedded` has one entry for each item, in the order of `texts_to_embed`.
    """
    embeddings = iter(embedded)
    return [
        {
            "message_id": message["id"],
            "left_out": list(extraction.left_out),
            "candidates": [
                {
                    "id": candidate_id(message["id"], number, item.content.get("passage")),
                    "persona_id": message["persona_id"],
                    **item_properties(item.memory_type, item.text, item.content),
                    "index_properties": index_properties(item.content),
                    "search_scope": search_scope(tenant_id, message["persona_id"]),
                    **next(embeddings).properties,
                }
                for number, item in enumerate(extraction.items)
            ],
        }
        for message, extraction in drawn
    ]


def candidate_id(message_id: str, number: int, passage: dict[str, int] | None) -> str:
    """The id of an item of a message. The ids of its passages sort in their order."""
    if passage is None:
        return id_from(message_id, str(number))
    digits = f"{passage['number']:04d}"
    return id_from(message_id, "0")[: -len(digits)] + digits


async def find_exact_repeats(graph: Graph, tenant_id: str, waiting: Sequence[Row]) -> set[str]:
    """Ids of the waiting messages that repeat, word for word, what the same person said before.

    A message that states a fact again is news, and not among them, when something that denies the
    fact was said in between.
    """
    repeats = {message["id"]: message for message in waiting if message["repeats_at"]}
    facts = {message_id: facts_in_message(message) for message_id, message in repeats.items()}
    spans = [
        {
            "message_id": message_id,
            "persona_id": repeats[message_id]["persona_id"],
            "fact": key,
            "fact_value": fact.normalized_value,
            "since": repeats[message_id]["repeats_at"],
            "until": repeats[message_id]["said_at"],
        }
        for message_id, keyed_facts in facts.items()
        for key, fact in keyed_facts
    ]
    if not spans:
        return set(repeats)
    between = await facts_said_between(graph, tenant_id, spans)
    # Messages of this batch are not in the graph as candidates yet.
    batch = [
        (message, facts[message["id"]] if message["id"] in facts else facts_in_message(message))
        for message in waiting
    ]
    for span in spans:
        between[span["message_id"]] += [
            keyed_fact
            for message, keyed_facts in batch
            if message["persona_id"] == span["persona_id"]
            and span["since"] <= message["said_at"] <= span["until"]
            for keyed_fact in keyed_facts
        ]
    denied = {
        message_id
        for message_id, keyed_facts in facts.items()
        for key, fact in keyed_facts
        if any(other == key and later.denies(fact) for other, later in between[message_id])
    }
    return repeats.keys() - denied


async def facts_said_between(
    graph: Graph, tenant_id: str, spans: Sequence[Row]
) -> dict[str, list[KeyedFact]]:
    """By message, the facts of stored items that were said inside the message's spans."""
    between: dict[str, list[KeyedFact]] = {span["message_id"]: [] for span in spans}
    rows = await graph.read("memory/candidates/list_facts_between", tenant_id=tenant_id, rows=spans)
    for row in rows:
        between[row["message_id"]] += keyed_facts(decode_content(row["content"]), row["said_at"])
    return between


def facts_in_message(message: Row) -> list[KeyedFact]:
    """The facts that the rules find in a message, each with its key."""
    items = extract(extraction_input(message)).items
    return [
        keyed_fact for item in items for keyed_fact in keyed_facts(item.content, message["said_at"])
    ]


def keyed_facts(content: dict[str, Any], said_at: datetime) -> list[KeyedFact]:
    """The fact that the content of an item states, with its key; empty when it states none."""
    key, fact = fact_key(content), as_fact("", content, said_at)
    return [(key, fact)] if key and fact else []


async def add_known_names(graph: Graph, tenant_id: str, messages: Sequence[Row]) -> None:
    """Add to each persona the names of people who speak to it for the first time."""
    names: dict[str, list[str]] = {}
    for message in messages:
        if not message["is_known"]:
            names.setdefault(message["persona_id"], []).append(message["speaker"])
    if names:
        rows = [
            {"persona_id": persona_id, "names": list(dict.fromkeys(names[persona_id]))}
            for persona_id in sorted(names)
        ]
        await graph.write(
            "access/personas/add_people", tenant_id=tenant_id, met=rows, most=MAX_KNOWN_NAMES
        )


async def list_overdue_conversations(
    graph: Graph, *, now: datetime, limit: int
) -> list[tuple[str, str]]:
    """Tenant and id of each conversation with messages that nobody drew from in time."""
    rows = await graph.read(
        "memory/candidates/list_waiting_conversations",
        before=now - MESSAGE_OVERDUE_AFTER,
        limit=limit,
    )
    return [(row["tenant_id"], row["conversation_id"]) for row in rows]
