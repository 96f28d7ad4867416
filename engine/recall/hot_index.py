"""The index in memory: personas that are asked again and again, each whole in this process.

A recall from memory is one small round trip. It brings what has changed since the last one and
reads the stored state of every hit that is about to be returned. What was forgotten a moment ago
is so never returned, whichever process forgot it. When anything is in doubt, the graph is searched.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence

import structlog
from prometheus_client import Counter, Gauge

from engine.errors import EngineError
from engine.models import Row
from engine.recall.changes import NOTHING_KNOWN, Changes, check_hits, read_changes
from engine.recall.hot_persona import LOADED_STATES, HotPersona
from engine.recall.pressure import memory_is_short
from engine.recall.ranking import RankedHit
from engine.recall.search import Search
from engine.recall.tables import ItemTable
from engine.store import Graph

SMALL_ITEMS = 300  # of a persona that is read whole sooner than it is searched in the graph
PAGE_ITEMS = 1_000  # read at once: more would hold the event loop for long
TABLE_ITEMS = 10_000  # of one loaded table
PAGE_LINKS = 2_000  # memories whose links are read at once
MAX_PASSES = 3  # of one recall, while what it is about to return keeps changing
LINKED_STATES = ("active", "archived")  # of memories whose links are followed
PRESSURE_SECONDS = 5.0  # between two looks at how much memory is free
TOO_LARGE_KEPT = 1_000  # personas remembered as larger than the whole room

Key = tuple[str, str]  # tenant and persona

RECALLS = Counter(
    "pentimento_recalls_total", "Recalls, by what answered them: memory or the graph.", ["index"]
)
HOT_BYTES = Gauge("pentimento_hot_bytes", "About how many bytes the personas in memory take.")
HOT_PERSONAS = Gauge("pentimento_hot_personas", "How many personas are in memory.")

log = structlog.get_logger("recall")


class HotIndex:
    """The personas in memory, as many as fit; the one that was asked longest ago goes first."""

    def __init__(self, graph: Graph, *, dimensions: int, max_bytes: int) -> None:
        self._graph = graph
        self._dimensions = dimensions
        self._max_bytes = max_bytes
        self._personas: OrderedDict[Key, HotPersona] = OrderedDict()
        self._sizes: dict[Key, int] = {}
        self._too_large: OrderedDict[Key, None] = OrderedDict()
        self._loads: dict[Key, asyncio.Task[None]] = {}
        self._looked_at = 0.0  # when memory was last looked at, on the monotonic clock
        self._is_short = False  # what was seen then
        self._one_load = asyncio.Lock()  # at a time: a load must not crowd out the recalls

    async def find(self, search: Search) -> tuple[list[RankedHit], bool] | None:
        """The hits of all pages and whether flagged ones are among them.

        None when the persona is not in memory, or the question is one for the graph.
        """
        key = (search.tenant_id, search.persona_id)
        persona = self._personas.get(key)
        if persona is None or not self._can_answer(search):
            return None
        self._personas.move_to_end(key)
        self._give_back_when_short()
        checked: set[str] = set()
        for _ in range(MAX_PASSES):
            asked_at = time.monotonic()
            since = persona.read_from(asked_at)
            hits, fallback = persona.rank(search)
            to_check = [hit.id for hit in search.returned(hits) if hit.id not in checked]
            if checked and not to_check:
                return hits, fallback
            if since == persona.revision:  # else changes are due to be read a second time
                revision, stored = await check_hits(self._graph, *key, to_check)
                if revision == since and not persona.differs(to_check, stored):
                    return hits, fallback
            changes = await read_changes(self._graph, *key, since=since, checked_ids=to_check)
            if changes.revision < since or changes.reload:
                break  # a replica that lags behind, or more changes than are worth following
            if changes.revision >= persona.revision:  # else another recall has read further
                await self._apply(key, persona, changes)
                persona.has_read(since, changes.revision, asked_at=asked_at, now=time.monotonic())
            checked |= {*to_check}
            if persona.differs(to_check, changes.checked):
                checked.clear()  # changed in this very moment: its record is there by now
            elif not changes.item_ids:
                return hits, fallback
        if self._personas.get(key) is persona:
            self.load_later(key)
        return None

    async def find_anew(self, search: Search) -> tuple[list[RankedHit], bool] | None:
        """The same of a persona that is not in memory; None to ask the graph.

        A small one is read whole, in one round trip, and ranked as it was just read.
        """
        key = (search.tenant_id, search.persona_id)
        known = (self._personas, self._loads, self._too_large)
        if not self._can_answer(search) or any(key in kept for kept in known):
            return None
        persona = await self._load_small(key)
        if persona is None:
            return None
        if persona.size <= self._max_bytes:
            self._keep(key, persona)
        return persona.rank(search)

    def load_for(self, search: Search) -> None:
        """Load the persona of a search in the background, for the next one."""
        key = (search.tenant_id, search.persona_id)
        if key not in self._personas and self._can_answer(search):
            self.load_later(key)

    def _can_answer(self, search: Search) -> bool:
        asks_graph = search.by_spelling or search.filters.include_archived
        return bool(self._max_bytes) and not asks_graph

    async def _apply(self, key: Key, persona: HotPersona, changes: Changes) -> None:
        unknown = persona.apply(changes.item_ids, changes.items, changes.links)
        while unknown:
            (page,) = await self._graph.read(
                "recall/search/load_items_by_id",
                tenant_id=key[0],
                persona_id=key[1],
                ids=unknown[:PAGE_ITEMS],
            )
            persona.add_missing(page["items"])
            unknown = unknown[PAGE_ITEMS:]
        if persona.is_fragmented:
            self.load_later(key)

    def load_later(self, key: Key) -> None:
        """Load a persona in the background, unless it is being loaded or is too large."""
        if key in self._loads or key in self._too_large:
            return
        task = asyncio.create_task(self._load_one(key))
        self._loads[key] = task
        task.add_done_callback(lambda _: self._loads.pop(key, None))

    async def settled(self) -> None:
        """Wait until nothing is being loaded."""
        while self._loads:
            await asyncio.gather(*self._loads.values(), return_exceptions=True)

    async def close(self) -> None:
        """Stop loading, and forget everything."""
        for task in self._loads.values():
            task.cancel()
        await self.settled()
        self._personas.clear()
        self._sizes.clear()

    async def _load_one(self, key: Key) -> None:
        async with self._one_load:
            try:
                persona = await self._load(key)
            except EngineError as error:  # the graph is away: the next recall tries again
                log.warning("persona_not_loaded", why=str(error))
                return
        if persona is None:
            self._too_large[key] = None
            while len(self._too_large) > TOO_LARGE_KEPT:
                self._too_large.popitem(last=False)
            return
        self._look_at_memory()
        self._keep(key, persona)

    def _keep(self, key: Key, persona: HotPersona) -> None:
        """Keep a persona that was just loaded, in the place of those asked longest ago."""
        self._personas[key] = persona
        self._personas.move_to_end(key)
        self._sizes[key] = persona.size
        self._make_room()

    def _give_back_when_short(self) -> None:
        """Drop personas when the machine has become short of memory; looks every few seconds."""
        if time.monotonic() - self._looked_at >= PRESSURE_SECONDS:
            self._look_at_memory()
            self._make_room()

    def _look_at_memory(self) -> None:
        self._is_short = memory_is_short()
        self._looked_at = time.monotonic()

    @property
    def size(self) -> int:
        """About how many bytes all personas in memory take."""
        return sum(self._sizes.values())

    def _make_room(self) -> None:
        """Drop the personas asked longest ago until the rest fit, and more when memory is short."""
        allowed = self._max_bytes // 2 if self._is_short else self._max_bytes
        while self._personas and self.size > allowed:
            key, _ = self._personas.popitem(last=False)
            del self._sizes[key]
        HOT_BYTES.set(self.size)
        HOT_PERSONAS.set(len(self._personas))

    async def _load_small(self, key: Key) -> HotPersona | None:
        """The whole persona as one statement reads it; None when it has too many items."""
        (row,) = await self._graph.read(
            "recall/search/load_small", tenant_id=key[0], persona_id=key[1], limit=SMALL_ITEMS
        )
        if row["items"] is None:
            return None
        persona = HotPersona(self._dimensions, row["revision"], row["revision"])
        if row["items"]["id"]:
            persona.add_loaded(ItemTable.of(row["items"], self._dimensions))
        persona.add_links(row["links"])
        return persona

    async def _load(self, key: Key) -> HotPersona | None:
        """The whole persona; None when it would not fit.

        The revision is read first: what changes while the pages are read is applied afterwards.
        """
        changes = await read_changes(self._graph, *key, since=NOTHING_KNOWN)
        persona = HotPersona(self._dimensions, changes.revision, changes.revision)
        # Side by side, since each round trip waits its turn among those of the recalls.
        await asyncio.gather(self._add_items(key, persona), self._add_links(key, persona))
        return None if persona.size > self._max_bytes else persona

    async def _add_items(self, key: Key, persona: HotPersona) -> None:
        """Add the items of a persona, or as many of them as show that it would not fit."""
        pages: list[Row] = []
        async for page in self._pages(key):
            pages.append(page)
            if sum(len(each["id"]) for each in pages) >= TABLE_ITEMS:
                await self._add_table(persona, pages)
                pages = []
            if persona.size > self._max_bytes:
                return
        if pages:
            await self._add_table(persona, pages)

    async def _add_links(self, key: Key, persona: HotPersona) -> None:
        async for links in self._link_pages(key):
            persona.add_links(links)

    async def _add_table(self, persona: HotPersona, pages: Sequence[Row]) -> None:
        columns = {name: [value for page in pages for value in page[name]] for name in pages[0]}
        persona.add_loaded(await asyncio.to_thread(ItemTable.of, columns, self._dimensions))

    async def _pages(self, key: Key) -> AsyncIterator[Row]:
        for state in LOADED_STATES:
            after = ""
            while True:
                (row,) = await self._graph.read(
                    "recall/search/load_items",
                    tenant_id=key[0],
                    persona_id=key[1],
                    state=state,
                    after=after,
                    limit=PAGE_ITEMS,
                )
                page = row["items"]
                if page["id"]:
                    yield page
                    after = page["id"][-1]
                if len(page["id"]) < PAGE_ITEMS:
                    break

    async def _link_pages(self, key: Key) -> AsyncIterator[Row]:
        for state in LINKED_STATES:
            after: str | None = ""
            while after is not None:
                (row,) = await self._graph.read(
                    "recall/search/load_links",
                    tenant_id=key[0],
                    persona_id=key[1],
                    state=state,
                    after=after,
                    limit=PAGE_LINKS,
                )
                yield row["links"]
                after = row["last_id"]
