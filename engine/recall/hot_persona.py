"""One persona in memory: its items as tables, its links, and the revision they are true for.

Pure: takes rows that somebody else has read. New items go to a small last table that is made anew
each time; the large ones stay as they were loaded, but for what changes in place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.models import Row
from engine.recall.changes import CHECKED, ItemState
from engine.recall.graph_index import LINKS_PER_HIT
from engine.recall.profiles import RankingProfile
from engine.recall.ranking import Link, RankedHit, ScoredItems, Way, score_items, way_along
from engine.recall.search import Search
from engine.recall.tables import CONTENT_COLUMNS, STATE_COLUMNS, BoolArray, Columns, ItemTable

TAIL_ROWS = 256  # of the table for new items, before another is begun
MAX_TAILS = 4  # tables of new items, before the persona is loaded anew
LOADED_STATES = ("active", "pending", "suppressed")  # archived items are left to the graph
BYTES_PER_LINK = 130  # a tuple in two lists; measured
SEQUENCE = "PRECEDES"
MAX_WAYS = 1_000  # items whose ways are kept, about a kilobyte each
CONFIRM_SECONDS = 1.0  # after which all of a transaction is seen that was seen in part

Neighbor = tuple[str, str, float]  # id, type of the link, strength times weight_modifier


@dataclass(slots=True)
class HotPersona:
    """Everything that recall compares with a question, of one persona."""

    dimensions: int
    revision: int  # of the newest change that was applied
    confirmed: int  # of the newest change that was read again after CONFIRM_SECONDS
    # When, and up to which revision, changes were applied that are to be read again.
    unconfirmed: tuple[float, int] | None = None
    tables: list[ItemTable] = field(default_factory=list)
    links: dict[str, list[Neighbor]] = field(default_factory=dict)
    _loaded_tables: int = 0
    _tail: dict[str, list[object]] = field(default_factory=dict)  # columns of the last table
    # Ways from items that led, for one profile, to rows of the tables as they are.
    _ways: dict[str, Sequence[Way]] = field(default_factory=dict)
    _ways_profile: RankingProfile | None = None

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        links = sum(map(len, self.links.values()))
        return sum(table.size for table in self.tables) + BYTES_PER_LINK * links

    @property
    def is_fragmented(self) -> bool:
        """Whether it should be loaded anew."""
        return len(self.tables) - self._loaded_tables > MAX_TAILS

    def __len__(self) -> int:
        return sum(int(table.alive.sum()) for table in self.tables)

    def read_from(self, now: float) -> int:
        """The revision after which changes are to be read, at a time of the monotonic clock.

        Neo4j shows parts of a transaction before all of it. A change that was just read is so read
        a second time, after a second, when all it did is surely seen.
        """
        is_due = self.unconfirmed and now - self.unconfirmed[0] >= CONFIRM_SECONDS
        return self.confirmed if is_due else self.revision

    def has_read(self, since: int, revision: int, *, asked_at: float, now: float) -> None:
        """Note that the changes after `since` were applied, up to `revision`."""
        if self.unconfirmed and asked_at - self.unconfirmed[0] >= CONFIRM_SECONDS:
            if since <= self.confirmed:
                self.confirmed = max(self.confirmed, self.unconfirmed[1])
            self.unconfirmed = None
        self.revision = max(self.revision, revision)
        if self.unconfirmed is None and self.confirmed < self.revision:
            self.unconfirmed = (now, self.revision)

    def add_loaded(self, table: ItemTable) -> None:
        """Add items that are not in memory yet, as they were loaded."""
        self.tables.append(table)
        self._loaded_tables += 1
        self._tail = {}
        self._ways = {}

    def add_links(self, links: Columns) -> None:
        """Add links as they were loaded: each once, from its source to its target."""
        for source_id, id_, type_, strength in link_rows(links):
            self.links.setdefault(source_id, []).append((id_, type_, strength))
            self.links.setdefault(id_, []).append((source_id, type_, strength))
        self._ways = {}

    def place(self, id_: str) -> tuple[ItemTable, int] | None:
        """The table and row of an item; None when it is not in memory."""
        for table in reversed(self.tables):
            row = table.row_by_id.get(id_)
            if row is not None and table.alive[row]:
                return table, row
        return None

    def apply(self, changed_ids: Iterable[str], changed: Columns, links: Columns) -> list[str]:
        """Bring items and their links to what is stored now.

        `changed` has the content of new and edited items, and None as the text of others. Returns
        the ids of items whose content is needed and was not given.
        """
        unknown, new = list[str](), list[int]()
        for index, id_ in enumerate(changed["id"]):
            place, has_content = self.place(id_), changed["text"][index] is not None
            if has_content:
                new.append(index)
            elif place is None and changed["state"][index] in LOADED_STATES:
                unknown.append(id_)
            elif place is not None:
                place[0].change(place[1], state_at(changed, index))
        self.remove({*changed_ids} - {*changed["id"]})
        self._append(changed, new)
        for id_ in changed_ids:
            self._forget_ways(id_)
            self.links.pop(id_, None)
        for source_id, id_, type_, strength in link_rows(links):
            self.links.setdefault(source_id, []).append((id_, type_, strength))
        for id_ in changed_ids:
            self._forget_ways(id_)
        return unknown

    def add_missing(self, items: Columns) -> None:
        """Add items whose content was not given when they changed."""
        self._append(items, range(len(items["id"])))

    def remove(self, ids: Iterable[str]) -> None:
        """Forget items that are stored no longer."""
        for id_ in ids:
            if place := self.place(id_):
                place[0].alive[place[1]] = False
                self._ways = {}

    def _append(self, columns: Columns, indices: Sequence[int]) -> None:
        """Add these rows to the last table, or to a new one when that is full.

        Rows with the same id are replaced. Rows in a state that is not kept in memory, or that were
        read in part, are left out. When it fails, the tables are as they were.
        """
        for index in indices:
            self.remove([columns["id"][index]])
        kept = [
            index
            for index in indices
            if columns["state"][index] in LOADED_STATES
            and columns["packed_vectors"][index] is not None
        ]
        if not kept:
            return
        self._ways = {}
        names = ("id", *STATE_COLUMNS, *CONTENT_COLUMNS)
        if self._tail:
            last = self.tables[-1]
            # What has changed in place since the table was made is in its columns.
            rows = np.flatnonzero(last.alive).tolist()
            packed = self._tail["packed_vectors"]
            before = {
                **{name: [column[row] for row in rows] for name, column in last.columns.items()},
                "id": [last.ids[row] for row in rows],
                "packed_vectors": [packed[row] for row in rows],
            }
        else:
            before = {name: [] for name in names}
        tail = {name: [*before[name], *(columns[name][index] for index in kept)] for name in names}
        table = ItemTable.of(tail, self.dimensions)
        self.tables[len(self.tables) - bool(self._tail) :] = [table]
        self._tail = tail if len(table) < TAIL_ROWS else {}

    def rank(self, search: Search) -> tuple[list[RankedHit], bool]:
        """The hits of all pages, and whether flagged ones are among them."""
        scored = self._score(search, flagged=False)
        hits = self._ranked(scored, search)
        if search.is_answered_by(scored):
            return search.with_fallback(hits, [])
        # The signals are the same; only other rows may be returned.
        flagged = replace(scored, allowed=self._allowed(search, flagged=True))
        return search.with_fallback(hits, self._ranked(flagged, search))

    def _allowed(self, search: Search, *, flagged: bool) -> BoolArray:
        rows = [search.allowed_rows(table, flagged=flagged) for table in self.tables]
        return np.concatenate(rows) if rows else np.zeros(0, bool)

    def _score(self, search: Search, *, flagged: bool) -> ScoredItems:
        return score_items(
            tuple(self.tables),  # as they are now: the last one may be replaced
            self._allowed(search, flagged=flagged),
            search.asked,
            search.profile,
            search.at,
        )

    def _ranked(self, scored: ScoredItems, search: Search) -> list[RankedHit]:
        if search.profile.spread:
            leads = scored.leads()
            scored.spread_on(leads, self._ways_from(leads, search.profile))
        return scored.ranked(search.wanted_hits, facts_apart=search.facts_apart)

    def _ways_from(
        self, sources: Iterable[str], profile: RankingProfile
    ) -> Mapping[str, Sequence[Way]]:
        """The ways from each source; kept, since most are asked for again and again."""
        if self._ways_profile is not profile or len(self._ways) > MAX_WAYS:
            self._ways = {}
            self._ways_profile = profile
        for source_id in sources:
            if source_id not in self._ways:
                found = ((link, self._index_of(link.id)) for link in self._links_from(source_id))
                self._ways[source_id] = [
                    way_along(link, index, profile) for link, index in found if index is not None
                ]
        return self._ways

    def _links_from(self, source_id: str) -> Iterator[Link]:
        """The ways of one link from a source, and of two along a sequence."""
        neighbors = self.links.get(source_id, [])
        for id_, type_, strength in neighbors:
            if type_ != SEQUENCE:
                continue
            yield Link(source_id, id_, type_, strength)
            for second_id, second_type, further in self.links.get(id_, []):
                if second_type == SEQUENCE and second_id != source_id:
                    yield Link(source_id, second_id, type_, strength, further)
        others = [neighbor for neighbor in neighbors if neighbor[1] != SEQUENCE]
        others.sort(key=lambda neighbor: (-neighbor[2], neighbor[0]))
        for id_, type_, strength in others[:LINKS_PER_HIT]:
            yield Link(source_id, id_, type_, strength)

    def _index_of(self, id_: str) -> int | None:
        """The index of an item among the rows of all tables; None when it is not in memory."""
        end = sum(map(len, self.tables))
        for table in reversed(self.tables):
            end -= len(table)
            row = table.row_by_id.get(id_)
            if row is not None and table.alive[row]:
                return end + row
        return None

    def _forget_ways(self, id_: str) -> None:
        """Forget the ways that the links of an item are part of."""
        self._ways.pop(id_, None)
        for neighbor_id, type_, _ in self.links.get(id_, ()):
            if type_ == SEQUENCE:
                self._ways.pop(neighbor_id, None)

    def differs(self, ids: Sequence[str], checked: Sequence[ItemState]) -> bool:
        """Whether any of these items is stored otherwise than it is in memory, or not at all."""
        if len(checked) < len(ids):
            return True
        for id_, *stored in checked:
            place = self.place(id_)
            if place is None:
                return True
            table, row = place
            if [table.columns[name][row] for name in CHECKED] != stored:
                return True
        return False


def state_at(columns: Columns, index: int) -> Row:
    return {name: columns[name][index] for name in STATE_COLUMNS}


def link_rows(links: Columns) -> Iterator[tuple[str, str, str, float]]:
    names = ("source_id", "id", "type", "strength")
    yield from zip(*(links[name] for name in names), strict=True)
