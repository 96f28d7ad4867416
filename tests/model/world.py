"""One tenant, lived twice: by the service through its API, and by the reference model.

Each method makes the call, lets the model do the same, and compares what came back. `check`
compares all that a caller can see. What SPEC leaves to the service (ids, who of two equals
becomes the memory) is read from the service and handed to the model.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import httpx

from engine.access.models import Role
from engine.extraction.port import RuleExtractor
from engine.memory.drawing import draw_candidates
from engine.night.nights import run_hour, run_night
from engine.store.graph import Graph
from tests.graph.night.test_rollback import Dying, Killed
from tests.lives import word_embedder
from tests.model.reference import (
    MANAGER,
    PLACEHOLDER,
    UNFLAGGED,
    Candidate,
    Group,
    Memory,
    Message,
    Model,
    Refused,
)

STATES = ("pending", "suppressed", "passed_over", "removed", "merged")
MOMENTS = ("flagged_at", "reversed_at")
TICK = timedelta(milliseconds=1)  # so that two calls do not arrive at the same moment
NIGHT_HOUR = 3  # `consolidate_at`, 03:00 in the persona's time zone


class OwnClock(Protocol):
    time: datetime


NewCaller = Callable[..., Awaitable[httpx.AsyncClient]]


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def as_record(answered: dict[str, Any]) -> dict[str, Any]:
    """A `deprioritization` record with its times read."""
    return {key: moment(value) if key in MOMENTS else value for key, value in answered.items()}


async def all_of(checks: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run them side by side, each to its end; the first that failed is raised."""
    for outcome in await asyncio.gather(*checks, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


@dataclass
class World:
    graph: Graph
    clock: OwnClock
    new_caller: NewCaller
    tenant_id: str
    personas: dict[str, str] = field(default_factory=dict)  # → its time zone
    model: Model = field(default_factory=Model)
    callers: dict[str | None, httpx.AsyncClient] = field(default_factory=dict)
    slept: dict[str, str] = field(default_factory=dict)  # persona → the day of its last night
    reinforcements: dict[str, int] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        return self.clock.time

    @property
    def admin(self) -> httpx.AsyncClient:
        return self.callers[None]

    async def begin(
        self,
        *,
        at: datetime,
        personas: dict[str, str],
        instances: dict[str, dict[str, str]],
        conversations: dict[str, tuple[str, list[str]]],
    ) -> "World":
        """People, personas and conversations, made through the API."""
        self.clock.time = at
        self.personas = personas
        self.callers[None] = await self.new_caller(self.tenant_id)
        for persona_id, zone in personas.items():
            body = {"id": persona_id, "name": persona_id.title(), "time_zone": zone}
            await self.made("/api/personas", body)
        for instance_id, members in instances.items():
            await self.made("/api/instances", {"id": instance_id, "name": instance_id.title()})
            for user, role in members.items():
                url = f"/api/instances/{instance_id}/members/{user}"
                answer = await self.admin.put(url, json={"role": role})
                assert answer.status_code == 200, answer.text
        for user in {user for members in instances.values() for user in members}:
            self.callers[user] = await self.new_caller(self.tenant_id, Role.USER, user)
        for id_, (instance_id, taking_part) in conversations.items():
            opened = {"id": id_, "instance_id": instance_id, "persona_ids": taking_part}
            await self.made("/api/conversations", opened)
            self.model.conversations[id_] = instance_id
        self.model.instances = instances
        return self

    async def made(self, url: str, body: dict[str, Any]) -> Any:
        answer = await self.admin.post(url, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def wait(self, **how_long: float) -> None:
        self.clock.time += timedelta(**how_long)

    # ── what is said ─────────────────────────────────────────────────────────────────────────────

    async def say(self, *messages: Message) -> None:
        """One post to one conversation; the order of the arguments is the order of arrival."""
        self.clock.time += TICK
        body = [
            {
                "message_id": message.id,
                "persona_id": message.persona_id,
                "role": message.role,
                "content": message.content,
                "timestamp": message.timestamp.isoformat(),
                "reply_to": message.reply_to,
                "speaker": "Sam" if message.role == "user" else None,
            }
            for message in messages
        ]
        url = f"/api/conversations/{messages[0].conversation_id}/messages"
        await self.made(url, {"messages": body})
        for message in messages:
            self.model.say(message)

    # ── flags ────────────────────────────────────────────────────────────────────────────────────

    async def forget(self, user: str, message_id: str) -> dict[str, Any] | None:
        """Flag one message; None where the service has to refuse."""
        answer = await self.callers[user].post(f"/api/messages/{message_id}/forget")
        try:
            changed = self.model.forget(message_id, user, self.now)
        except Refused as refused:
            self.refused_as(refused, answer)
            return None
        where = self.model.messages[message_id].conversation_id
        return self.flagged_as(answer, changed, user, where)

    async def forget_range(
        self, user: str, first_id: str, last_id: str, *, confirmed: bool = True
    ) -> dict[str, Any] | None:
        where = self.model.messages[first_id].conversation_id
        selected = self.model.selection(first_id, last_id)
        ends = {"first_message_id": first_id, "last_message_id": last_id}
        answer = await self.callers[user].post(
            f"/api/conversations/{where}/forget-range", json={**ends, "confirmed": confirmed}
        )
        return await self.forgot_range(user, selected, answer, confirmed=confirmed)

    async def forget_selection(
        self, user: str, message_ids: Sequence[str], *, confirmed: bool = True
    ) -> dict[str, Any] | None:
        """FLAG-05: a selection may also be given as `message_ids`."""
        where = self.model.messages[message_ids[0]].conversation_id
        chosen = [self.model.messages[message_id] for message_id in message_ids]
        answer = await self.callers[user].post(
            f"/api/conversations/{where}/forget-range",
            json={"message_ids": list(message_ids), "confirmed": confirmed},
        )
        selected = sorted(chosen, key=lambda message: message.place)
        return await self.forgot_range(user, selected, answer, confirmed=confirmed)

    async def forgot_range(
        self, user: str, selected: list[Message], answer: httpx.Response, *, confirmed: bool
    ) -> dict[str, Any] | None:
        try:
            self.model.check_range(selected, user, confirmed=confirmed)
        except Refused as refused:
            self.refused_as(refused, answer)
            return None
        assert answer.status_code == 200, answer.text
        range_id = answer.json()["range_id"]
        if not range_id:  # nothing was left to flag, and FLAG-07 lets nothing change
            assert all(self.model.standing_flag(message.id) for message in selected), answer.text
            return self.flagged_as(answer, [], user, selected[0].conversation_id)
        changed = self.model.forget_range(selected, user, self.now, range_id=range_id)
        flagged = self.flagged_as(answer, changed, user, selected[0].conversation_id)
        await self.check_range(range_id)
        return flagged

    async def check_range(self, range_id: str) -> None:
        """FLAG-05, FLAG-06: the range record, as its creator and an admin read it."""
        expected = self.model.ranges[range_id]
        for user in (None, expected.created_by):
            answer = await self.callers[user].get(f"/api/ranges/{range_id}")
            assert answer.status_code == 200, answer.text
            stored = answer.json()
            assert stored["range_id"] == range_id
            assert stored["conversation_id"] == expected.conversation_id
            assert stored["message_ids"] == expected.message_ids
            assert moment(stored["created_at"]) == expected.created_at
            assert stored["created_by"] == expected.created_by
            assert set(stored["persona_ids"]) == expected.persona_ids
            if len(expected.persona_ids) == 1:
                assert stored["persona_id"] in expected.persona_ids

    def flagged_as(
        self, answer: httpx.Response, changed: list[str], user: str, conversation_id: str
    ) -> dict[str, Any]:
        """Compare the answer to a flag: what changed, the records, the acknowledgment."""
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        assert sorted(body["changed"]) == sorted(changed), (body["changed"], changed)
        for message_id, record in body["records"].items():
            shown = self.model.record(message_id, user)
            # Somebody else's flag is not shown; that what was asked for is so may be said.
            hidden = {**UNFLAGGED, "is_flagged": True} if shown == UNFLAGGED else shown
            assert as_record(record) in (shown, hidden), message_id
        expected = self.model.expected_answer(changed, conversation_id, user, self.now)
        spoken = body["acknowledgment"]
        if expected is None:
            assert spoken is None, "ACK-03: none on a repeat"
            return body
        assert spoken is not None, "ACK-01: a new flag is acknowledged"
        shared = expected.known(spoken["acknowledgment_id"])
        assert shared or expected.new, "ACK-02: a burst shares one acknowledgment"
        if shared and not shared.touched:
            assert spoken["plural"], "ACK-02: the one already sent becomes the plural one"
        elif not shared and len(changed) == 1:
            assert not spoken["plural"]
        for message_id in changed:
            assert self.model.messages[message_id].content not in spoken["text"]  # ACK-01
        self.model.acknowledged(
            spoken["acknowledgment_id"], spoken["persona_id"], changed, user, self.now
        )
        return body

    def refused_as(self, refused: Refused, answer: httpx.Response) -> None:
        assert answer.status_code == refused.status, (refused, answer.status_code, answer.text)
        assert refused.detail in answer.text, (refused, answer.text)

    # ── undo ─────────────────────────────────────────────────────────────────────────────────────

    async def undo(
        self, user: str | None, message_id: str, source: str = MANAGER
    ) -> dict[str, Any] | None:
        answer = await self.callers[user].post(
            f"/api/messages/{message_id}/undo", json={"source": source}
        )
        return self.undone_as(answer, lambda: self.model.undo(message_id, source, self.now))

    async def undo_range(
        self,
        user: str | None,
        range_id: str,
        source: str = MANAGER,
        message_ids: Sequence[str] | None = None,
    ) -> dict[str, Any] | None:
        body: dict[str, Any] = {"source": source}
        if message_ids is not None:
            body["message_ids"] = list(message_ids)
        answer = await self.callers[user].post(f"/api/ranges/{range_id}/undo", json=body)
        return self.undone_as(
            answer, lambda: self.model.undo_range(range_id, source, self.now, message_ids)
        )

    def undone_as(
        self, answer: httpx.Response, undo: Callable[[], list[str]]
    ) -> dict[str, Any] | None:
        try:
            changed = undo()
        except Refused as refused:
            self.refused_as(refused, answer)
            return None
        if not changed and answer.status_code == 409:
            return None  # SPEC leaves open how an undo of nothing is answered
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        assert sorted(body["changed"]) == sorted(changed), (body["changed"], changed)
        assert body["acknowledgment"] is None, "UNDO-05, ACK-03: reversal is silent"
        return body

    # ── candidates ───────────────────────────────────────────────────────────────────────────────

    async def propose(
        self,
        candidate_id: str,
        text: str,
        *source_message_ids: str,
        memory_type: str = "episodic",
        **content: Any,
    ) -> dict[str, Any]:
        """A candidate of the persona its messages were said to."""
        persona_id = self.model.messages[source_message_ids[0]].persona_id
        body = {
            "candidate_id": candidate_id,
            "memory_type": memory_type,
            "text": text,
            "content": content,
            "source_message_ids": list(source_message_ids),
        }
        proposed: dict[str, Any] = await self.made(f"/api/personas/{persona_id}/candidates", body)
        made = self.model.propose(
            candidate_id,
            persona_id,
            memory_type,
            text,
            content,
            list(source_message_ids),
            self.now,
        )
        assert proposed["state"] == self.model.candidate_state(made)
        return proposed

    async def propose_fact(self, candidate_id: str, value: str, message_id: str) -> None:
        await self.propose(
            candidate_id,
            f"Sam lives in {value}.",
            message_id,
            memory_type="semantic",
            kind="fact",
            subject="Sam",
            attribute="home",
            value=value,
        )

    async def draw(self, conversation_id: str) -> list[Candidate]:
        """Let the service draw from what was said, as its job does. Returns what is new.

        What a sentence yields is the extractor's business; the model takes it as it is.
        """
        embedder = word_embedder()
        await draw_candidates(
            self.graph,
            embedder,
            RuleExtractor(),
            self.tenant_id,
            conversation_id,
            now=self.now,
        )
        embedder.close()
        drawn = []
        spoken_to = {message.persona_id for message in self.model.transcript(conversation_id)}
        for persona_id in spoken_to:
            url = f"/api/personas/{persona_id}/candidates"
            for state in ("pending", "suppressed"):
                for item in await self.pages(None, url, state=state, limit=100):
                    if item["candidate_id"] not in self.model.candidates:
                        assert datetime.fromisoformat(item["extracted_at"]) == self.now
                        drawn.append(self.learn(item))
        return drawn

    def learn(self, item: dict[str, Any]) -> Candidate:
        return self.model.propose(
            item["candidate_id"],
            item["persona_id"],
            item["memory_type"],
            item["text"],
            item["content"],
            item["source_message_ids"],
            self.now,
        )

    async def edit(self, candidate_id: str, text: str) -> None:
        body = {"text": text, "content": {"said": text}}
        answer = await self.admin.patch(f"/api/candidates/{candidate_id}", json=body)
        try:
            self.model.edit(candidate_id, text, {"said": text}, self.now)
        except Refused as refused:
            self.refused_as(refused, answer)
        else:
            assert answer.status_code == 200, answer.text

    async def remove(self, candidate_id: str) -> None:
        answer = await self.admin.delete(f"/api/candidates/{candidate_id}")
        try:
            self.model.remove(candidate_id, self.now)
        except Refused as refused:
            self.refused_as(refused, answer)
        else:
            assert answer.status_code == 204, answer.text

    async def restore_candidate(self, candidate_id: str) -> None:
        answer = await self.admin.post(f"/api/candidates/{candidate_id}/restore")
        try:
            self.model.restore_candidate(candidate_id)
        except Refused as refused:
            self.refused_as(refused, answer)
        else:
            assert answer.status_code == 200, answer.text

    # ── memories ─────────────────────────────────────────────────────────────────────────────────

    async def minimize(self, memory_id: str, weight_modifier: float) -> None:
        url = f"/api/memories/{memory_id}/minimize"
        answer = await self.admin.post(url, json={"weight_modifier": weight_modifier})
        assert answer.status_code == 200, answer.text
        self.model.minimize(memory_id, weight_modifier)

    async def restore_memory(self, memory_id: str) -> None:
        answer = await self.admin.post(f"/api/memories/{memory_id}/restore")
        assert answer.status_code == 200, answer.text
        self.model.restore_memory(memory_id)

    async def archive(self, memory_id: str, archived: bool = True) -> None:
        verb = "archive" if archived else "unarchive"
        answer = await self.admin.post(f"/api/memories/{memory_id}/{verb}")
        assert answer.status_code == 200, answer.text
        self.model.set_archived(memory_id, archived)

    # ── nights ───────────────────────────────────────────────────────────────────────────────────

    def local(self, persona_id: str) -> datetime:
        return self.now.astimezone(ZoneInfo(self.personas[persona_id]))

    def until_night(self, persona_id: str) -> timedelta:
        """How long until it is next 03:00 where the persona is."""
        here = self.local(persona_id)
        night = here.replace(hour=NIGHT_HOUR, minute=0, second=0, microsecond=0)
        if night <= here:
            night += timedelta(days=1)
        return night - here

    async def sleep(self, persona_id: str) -> None:
        """Wait for the persona's next 03:00, and let it sleep."""
        self.clock.time += self.until_night(persona_id)
        await self.night(persona_id)

    async def run_night(self, persona_id: str, graph: Graph | None = None) -> None:
        """As the job runs it."""
        await run_night(
            graph or self.graph,
            self.tenant_id,
            persona_id,
            now=self.now,
            started_by="test",
        )

    async def night(self, persona_id: str) -> None:
        """The persona's night of this day; the second one of a day does nothing (CONS)."""
        await self.run_night(persona_id)
        await self.slept_as(persona_id)

    async def slept_as(self, persona_id: str) -> None:
        """Let the model live the nights that the ledger says are done and it does not know."""
        listed = await self.admin.get(f"/api/personas/{persona_id}/runs", params={"limit": 50})
        assert listed.status_code == 200, listed.text
        nights = [run for run in listed.json()["items"] if run["kind"] == "night"]
        for run in sorted(nights, key=lambda run: str(run["period"])):
            assert run["state"] == "done", run
            if run["period"] <= self.slept.get(persona_id, ""):
                continue
            self.slept[persona_id] = run["period"]
            as_of = datetime.fromisoformat(run["as_of"])
            assert as_of <= self.now, run
            here = as_of.astimezone(ZoneInfo(self.personas[persona_id]))
            assert (str(here.date()), here.hour >= NIGHT_HOUR) == (run["period"], True), run
            observed = await self.observed_memories(persona_id)
            self.model.night(persona_id, as_of, lambda group: self.survivor(group, observed))  # noqa: B023
            self.reinforcements |= {
                id_: memory["reinforcements"] for id_, memory in observed.items()
            }

    def survivor(self, group: Group, observed: dict[str, dict[str, Any]]) -> str:
        """Which of the allowed ids the service made the memory of what was said twice."""
        formed = [id_ for id_ in group.candidate_ids if id_ in observed]
        if formed:
            assert len(formed) == 1, f"CONS-01: {formed} say the same and are two memories"
            return formed[0]
        grown = [
            id_
            for id_ in group.survivors
            if id_ in observed and observed[id_]["reinforcements"] > self.reinforcements.get(id_, 0)
        ]
        return grown[0] if grown else group.survivors[0]

    async def crash(self, persona_id: str, die_at: int, *, after: bool) -> bool:
        """A night whose worker dies at its nth transaction. Returns whether it did."""
        try:
            await self.run_night(persona_id, Dying(self.graph, die_at, after=after))
        except Killed:
            await self.end_lease(persona_id)
            return True
        return False

    async def end_lease(self, persona_id: str) -> None:
        """The dead worker's claim runs out, which in real time takes minutes."""
        statement = """
            CYPHER 25 MATCH (p:Persona {tenant_id: $t, id: $id}) REMOVE p.run_until, p.run_worker"""
        async with self.graph._driver.session(database=self.graph._database) as session:
            await (await session.run(statement, t=self.tenant_id, id=persona_id)).consume()

    async def run_hour(self, persona_id: str) -> None:
        """The hourly decay stages, as the job runs them."""
        await run_hour(
            self.graph,
            self.tenant_id,
            persona_id,
            now=self.now,
            started_by="test",
        )

    # ── what a caller can see ────────────────────────────────────────────────────────────────────

    async def pages(self, user: str | None, url: str, **params: Any) -> list[dict[str, Any]]:
        """All items of a listing, page by page."""
        items: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            answer = await self.callers[user].get(url, params={"limit": 7, **params, **cursor})
            assert answer.status_code == 200, answer.text
            page = answer.json()
            items += page["items"]
            if not page["next_cursor"]:
                return items
            cursor = {"cursor": page["next_cursor"]}

    async def observed_memories(self, persona_id: str) -> dict[str, dict[str, Any]]:
        memories: dict[str, dict[str, Any]] = {}
        for state in ("active", "archived"):
            url = f"/api/personas/{persona_id}/memories"
            for memory in await self.pages(None, url, state=state, limit=100):
                assert memory["state"] == state
                memories[memory["memory_id"]] = memory
        return memories

    async def check(self, *viewers: str | None) -> None:
        """Compare all that these callers can see (an admin None, or users by their id)."""
        spoken = {message.conversation_id for message in self.model.messages.values()}
        checks: list[Coroutine[Any, Any, None]] = []
        for conversation_id in spoken:
            checks += [self.check_transcript(conversation_id, user) for user in viewers]
        for persona_id in {message.persona_id for message in self.model.messages.values()}:
            checks += [self.check_candidates(persona_id), self.check_memories(persona_id)]
        await all_of(checks)

    async def check_all(self) -> None:
        await self.check(*self.callers)
        for conversation_id in {
            message.conversation_id for message in self.model.messages.values()
        }:
            await self.check_context(conversation_id)
        for range_id in self.model.ranges:
            await self.check_range(range_id)

    async def check_transcript(self, conversation_id: str, user: str | None) -> None:
        url = f"/api/conversations/{conversation_id}/messages"
        if not self.model.may_enter(user, conversation_id):
            answer = await self.callers[user].get(url)
            assert answer.status_code == 404, answer.text
            return
        listed = await self.pages(user, url)
        expected = self.model.transcript(conversation_id)
        assert [item["message_id"] for item in listed] == [message.id for message in expected]
        for item, message in zip(listed, expected, strict=True):
            record = as_record(item["deprioritization"])
            assert record == self.model.record(message.id, user), (message.id, user)
            assert item["can_forget"] == self.model.can_forget(message.id, user), (message.id, user)
            assert item["content"] == message.content
            assert datetime.fromisoformat(item["timestamp"]) == message.timestamp
            assert item["role"] == message.role

    async def check_candidates(self, persona_id: str) -> None:
        url = f"/api/personas/{persona_id}/candidates"
        listed: dict[str, dict[str, Any]] = {}
        for state in STATES:
            for item in await self.pages(None, url, state=state, limit=100):
                assert item["state"] == state
                assert item["candidate_id"] not in listed, item
                listed[item["candidate_id"]] = item
        expected = {
            id_: candidate
            for id_, candidate in self.model.candidates.items()
            if candidate.persona_id == persona_id
        }
        states = {id_: self.model.candidate_state(candidate) for id_, candidate in expected.items()}
        assert {id_: item["state"] for id_, item in listed.items()} == states
        for id_, candidate in expected.items():
            item = listed[id_]
            assert item["text"] == candidate.text
            assert sorted(item["source_message_ids"]) == sorted(candidate.source_message_ids)
            assert datetime.fromisoformat(item["extracted_at"]) == candidate.extracted_at
            if states[id_] in ("pending", "suppressed", "passed_over"):
                assert item["deprioritized"] == (states[id_] == "suppressed"), item  # CAND-01
                assert (item["deprioritized_at"] is not None) == item["deprioritized"], item

    async def check_memories(self, persona_id: str) -> None:
        observed = await self.observed_memories(persona_id)
        formed = {id_: item for id_, item in observed.items() if not item["distilled"]}
        expected = {
            id_: memory
            for id_, memory in self.model.memories.items()
            if memory.candidate.persona_id == persona_id
        }
        assert sorted(formed) == sorted(expected)
        for id_, memory in expected.items():
            item = formed[id_]
            assert sorted(item["source_message_ids"]) == sorted(memory.source_message_ids), item
            assert item["text"] == memory.candidate.text
            assert item["memory_type"] == memory.candidate.memory_type
            assert (item["state"] == "archived") == memory.archived, item
            seen = (moment(item["valid_from"]), moment(item["valid_to"]))
            assert seen == (self.model.valid_from(memory), self.model.valid_to(memory)), item
            self.check_weight(item, memory)
        for item in observed.values():
            if item["distilled"]:  # drawn from all that its episodes were drawn from (FLAG-04)
                acts = self.model.acts_on(item["source_message_ids"])
                assert abs(item["weight_modifier"] - 0.2 ** len(acts)) < 1e-9, item
        await all_of([self.check_links(item) for item in observed.values()])

    def check_weight(self, item: dict[str, Any], memory: Memory) -> None:
        expected = self.model.weight_modifier(memory)
        assert abs(item["weight_modifier"] - expected) < 1e-9, (item, expected)

    async def check_links(self, item: dict[str, Any]) -> None:
        """§0 minimize: `weight_modifier` is on the memory and on all its outgoing links."""
        answer = await self.admin.get(f"/api/memories/{item['memory_id']}/links")
        assert answer.status_code == 200, answer.text
        for link in answer.json():
            if link["from_id"] == item["memory_id"]:
                assert abs(link["weight_modifier"] - item["weight_modifier"]) < 1e-9, link

    async def check_context(self, conversation_id: str) -> None:
        """CTX-02, CTX-03, with room for all turns; and nothing flagged in any layer."""
        mentioned = {message.persona_id for message in self.model.transcript(conversation_id)}
        if len(mentioned) != 1:  # SPEC does not say what a persona sees of another's turns
            return
        (persona_id,) = mentioned
        pieces = await self.context(persona_id, conversation_id, turns=500)
        working = [piece for piece in pieces if piece["layer"] == "working"]
        shown = [
            PLACEHOLDER if piece["content"] == PLACEHOLDER else piece["message_id"]
            for piece in working
        ]
        assert shown == self.model.working_memory(conversation_id)
        for text in self.forgotten_texts(persona_id):
            for piece in pieces:
                assert piece["deprioritized"] or text not in piece["content"], (text, piece)

    async def check_last_turns(self, conversation_id: str, persona_id: str, turns: int) -> None:
        """CTX-01, CTX-02: the last N unflagged turns, however many flagged ones follow."""
        pieces = await self.context(persona_id, conversation_id, turns=turns)
        listed = [
            piece["message_id"]
            for piece in pieces
            if piece["layer"] == "working" and piece["message_id"]
        ]
        kept = [
            message_id
            for message_id in self.model.working_memory(conversation_id)
            if message_id != PLACEHOLDER
        ]
        assert listed == kept[-turns:]

    async def context(
        self, persona_id: str, conversation_id: str, *, turns: int
    ) -> list[dict[str, Any]]:
        body = {
            "conversation_id": conversation_id,
            "turns": turns,
            "budget": 100_000,
            "counts": False,
        }
        answer = await self.admin.post(f"/api/personas/{persona_id}/context", json=body)
        assert answer.status_code == 200, answer.text
        pieces: list[dict[str, Any]] = answer.json()["pieces"]
        return pieces

    def forgotten_texts(self, persona_id: str) -> set[str]:
        """What stands in flagged messages and in nothing else that the persona may be told."""
        said = [
            message for message in self.model.messages.values() if message.persona_id == persona_id
        ]
        kept = {message.content for message in said if not self.model.standing_flag(message.id)}
        kept |= {
            candidate.text
            for candidate in self.model.candidates.values()
            if self.model.candidate_state(candidate) == "pending"
        }
        kept |= {
            memory.candidate.text
            for memory in self.model.memories.values()
            if not self.model.is_flagged(memory)
        }
        gone = {message.content for message in said if self.model.standing_flag(message.id)}
        return {text for text in gone if not any(text in other for other in kept)}
