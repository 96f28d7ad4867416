"""A walk through every operation of the API, whose answers are the examples of its document.

Bodies are those that the document shows. The engine's clock is set before each call, and what
differs from walk to walk (ids, secrets, fractions of seconds) is replaced by what does not.
"""

import asyncio
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from redis.asyncio import Redis

from api.application import Application
from engine.embedding.embedder import open_embedder
from engine.extraction.port import RuleExtractor
from engine.memory.drawing import draw_candidates
from engine.night.nights import run_night
from engine.night.steps import NightTools
from engine.service.clock import MovableClock
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.checkpoints import make_checkpoints

START = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
LONGEST_LIST = 3  # of objects; longer lists are cut
LARGEST_COUNT = 2**32  # a larger number follows from an id of this walk
EXAMPLE_NUMBER = 4_811_202_933_047_561
GUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")
ID = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-f]{32}|[0-9a-f]{16})(?![0-9A-Za-z])")
SECRET = re.compile(r"\b(pm[a-z]_[0-9A-Za-z]+_)[\w.-]+")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")

CONVERSATION = [  # after the message that the document shows
    ("persona", "Lisbon! What made you move?"),
    ("user", "I started a job as a baker at Padaria Sol. I get up at four every morning."),
    ("persona", "That is early. Do you like it?"),
    ("user", "I love it. My sister Mia visits me in June, and we will hike in Sintra."),
    ("persona", "Sintra is lovely in June."),
    ("user", "I was so angry at my landlord yesterday, he raised the rent again."),
    ("persona", "I am sorry to hear that."),
    ("user", "Forget the landlord. I want to learn Portuguese by summer."),
]

Examples = dict[str, dict[str, dict[str, Any]]]  # by operation, status and media type


@dataclass
class Walk:
    """Calls operations by their id, and keeps what each of them answers."""

    app: Application
    admin: httpx.AsyncClient
    graph: Graph
    redis: Redis
    settings: Settings
    tenant_id: str
    clock: MovableClock
    examples: Examples = field(default_factory=dict)
    minutes: int = 0
    stable_ids: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        document = self.app.openapi_schema.to_schema()
        self.operations = {
            operation["operationId"]: (method, path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
        }

    @property
    def now(self) -> datetime:
        return START + timedelta(minutes=self.minutes)

    async def later(self, **after: float) -> None:
        self.minutes += int(timedelta(**after).total_seconds() // 60)
        await self.clock.move(self.now)

    async def call(self, name: str, *, keep: bool = True, body: Any = None, **given: Any) -> Any:
        """Call an operation with the document's own body, or another; returns its answer."""
        await self.later(minutes=1)
        method, path, operation = self.operations[name]
        ids = {key: given.pop(key) for key in re.findall(r"{(\w+)}", path)}
        if body is None and "requestBody" in operation:
            (body,) = operation["requestBody"]["content"]["application/json"]["schema"]["examples"]
        called_at = datetime.now(UTC)
        answer = await self.admin.request(method, path.format(**ids), json=body, params=given)
        assert answer.is_success, (name, answer.status_code, answer.text)
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        content = answer.json() if media_type == "application/json" else answer.text
        if keep:
            self.keep(name, answer, content, called_at)
        return content

    def keep(self, name: str, answer: httpx.Response, content: Any, called_at: datetime) -> None:
        by_media_type = self.examples.setdefault(name, {}).setdefault(str(answer.status_code), {})
        if answer.content:
            media_type = answer.headers["content-type"].partition(";")[0]
            by_media_type[media_type] = self.stable(content, called_at)

    def stable(self, value: Any, called_at: datetime) -> Any:
        """The value with nothing in it that the next walk would answer otherwise."""
        if isinstance(value, dict):
            return {key: self.stable(inner, called_at) for key, inner in value.items()}
        if isinstance(value, list):
            cut = value[:LONGEST_LIST] if value and isinstance(value[0], dict) else value
            return [self.stable(inner, called_at) for inner in cut]
        if isinstance(value, float):
            return round(value, 4)
        if type(value) is int and value > LARGEST_COUNT:
            return EXAMPLE_NUMBER
        return self.stable_text(value, called_at) if isinstance(value, str) else value

    def stable_text(self, text: str, called_at: datetime) -> str:
        def stable_time(match: re.Match[str]) -> str:
            moment = datetime.fromisoformat(match.group())
            if abs(moment - called_at) < abs(moment - self.now):  # keys and tokens: real time
                moment = self.now + (moment - called_at)
            return moment.isoformat(timespec="seconds").replace("+00:00", "Z")

        def stable_id(match: re.Match[str]) -> str:
            number = len(self.stable_ids) + 1
            made = f"01a1e0{number:0{len(match.group()) - 6}x}"
            return self.stable_ids.setdefault(match.group(), made)

        text = GUID.sub("0f4c2a9e-7d1b-4c8e-9a55-3b6f21d0c7e4", text)
        text = SECRET.sub(r"\1the-secret-part", text.replace(self.tenant_id, "acme"))
        return ID.sub(stable_id, TIME.sub(stable_time, text))

    async def all(self) -> Examples:
        """Every operation, each once it has something to answer."""
        await self.service()
        await self.access()
        await self.conversation()
        await self.memories()
        await self.forgetting()
        await self.night()
        await self.recall()
        await self.shapes_drawn()
        await self.duplicates()
        return self.examples

    async def service(self) -> None:
        await self.call("move_clock")
        await self.call("read_clock")
        await self.call("health")
        worker = "pentimento:worker:example@here"  # as a worker says that it is there
        await self.redis.set(worker, "1", ex=60)
        await self.call("ready")
        await self.redis.delete(worker)

    async def access(self) -> None:
        await self.call("add_persona")
        await self.call("get_persona", persona_id="ada")
        await self.call("list_personas")
        await self.call("change_persona", persona_id="ada")
        await self.call("add_instance")
        await self.call("get_instance", instance_id="studio")
        await self.call("list_instances")
        await self.call("put_member", instance_id="studio", user_id="sam")
        await self.call("put_member", instance_id="studio", user_id="mia", keep=False)
        await self.call("list_members", instance_id="studio")
        await self.call("remove_member", instance_id="studio", user_id="mia")
        key_id = (await self.call("issue_key"))["key"]["id"]
        await self.call("list_keys")
        await self.call("rotate_key", key_id=key_id)
        await self.call("revoke_key", key_id=key_id)
        await self.call("issue_token")
        await self.call("set_identity_provider")
        await self.call("get_identity_provider")
        await self.call("remove_identity_provider")
        await self.call("get_tenant_policy")
        await self.call("set_tenant_policy")
        await self.call("set_policy", persona_id="ada")
        await self.call("get_policy", persona_id="ada")

    async def conversation(self) -> None:
        await self.call("add_conversation")
        await self.call("get_conversation", conversation_id="monday")
        await self.call("list_conversations", instance_id="studio")
        await self.call("record_messages", conversation_id="monday")
        said = [
            {
                "message_id": f"m{number}",
                "persona_id": "ada",
                "role": role,
                "content": content,
                "timestamp": (START + timedelta(minutes=30 + number)).isoformat(),
                **({"user_id": "sam", "speaker": "Sam"} if role == "user" else {}),
            }
            for number, (role, content) in enumerate(CONVERSATION, start=2)
        ]
        await self.call(
            "record_messages", conversation_id="monday", body={"messages": said}, keep=False
        )
        embedder = open_embedder(self.settings)
        await draw_candidates(
            self.graph, embedder, RuleExtractor(), self.tenant_id, "monday", now=self.now
        )
        embedder.close()
        await make_checkpoints(self.graph, self.tenant_id, "monday", now=self.now)
        await self.call("list_messages", conversation_id="monday")
        await self.call("list_checkpoints", conversation_id="monday")
        await self.call("read_gate", persona_id="ada")
        await self.call("list_candidates", persona_id="ada")
        candidate_id = (await self.call("propose_candidate", persona_id="ada"))["candidate_id"]
        await self.call("edit_candidate", candidate_id=candidate_id)
        await self.call("remove_candidate", candidate_id=candidate_id, preview=True)
        await self.call("remove_candidate", candidate_id=candidate_id)
        for file_format in ("jsonl", "markdown"):
            await self.call("export_conversation", conversation_id="monday", format=file_format)

    async def memories(self) -> None:
        await self.call("remember", persona_id="ada")
        for memory_id, text in (
            ("01a0", "Sam works as a baker."),
            ("01a1", "Sam gets up at four."),
        ):
            body = {"memory_id": memory_id, "memory_type": "semantic", "text": text}
            await self.call("remember", persona_id="ada", body=body, keep=False)
        await self.call("change_memory", memory_id="01a0")
        await self.call("add_link", memory_id="01a1")
        await self.call("list_links", memory_id="01a0")
        await self.call("coactivate", persona_id="ada")
        await self.call("minimize_memory", memory_id="01a1")
        await self.call("restore_memory", memory_id="01a1")
        await self.call("archive_memory", memory_id="01a1")
        await self.call("unarchive_memory", memory_id="01a1")
        await self.call("get_memory", memory_id="01a1")
        await self.call("list_memories", persona_id="ada")
        await self.call("record_recall", memory_id="01a1")
        await self.call("list_recalls", memory_id="01a1")
        await self.call("get_memory_history", memory_id="01a1")
        await self.shapes()

    async def shapes(self) -> None:
        await self.call("add_shape", persona_id="ada")
        await self.call("get_shape", shape_id="harbour")
        await self.call("list_shapes", persona_id="ada")
        await self.call("add_contract_shape", identity_id="ada")
        await self.call("list_contract_shapes", identity_id="ada")
        await self.call("list_contract_memories", identity_id="ada")

    async def forgetting(self) -> None:
        await self.call("forget_message", message_id="m7")
        self.minutes -= 1  # while the chat still offers it
        await self.call("undo_message", message_id="m7")
        flagged = await self.call("forget_range", conversation_id="monday")
        await self.call("get_range", range_id=flagged["range_id"])
        self.flagged_range = flagged["range_id"]
        await self.call("get_message_history", message_id="m7")
        await self.events()

    async def events(self) -> None:
        """The first event of a stream that has no end."""
        headers = {**self.admin.headers, "last-event-id": "1"}
        path = "/api/conversations/monday/events"
        start, chunk = await first_chunk(self.app, path, headers)
        assert start["status"] == 200
        text = self.stable_text(chunk.decode().replace("\r\n", "\n"), datetime.now(UTC))
        self.examples["listen_to_events"] = {"200": {"text/event-stream": text}}

    async def night(self) -> None:
        await self.later(days=2)
        run = await run_night(
            self.graph, self.tenant_id, "ada", now=self.now, started_by="schedule"
        )
        await self.call("list_runs", persona_id="ada")
        await self.call("get_run", run_id=run.id)
        await self.call("list_changes", run_id=run.id)
        await self.call("list_snapshots", persona_id="ada")
        await self.call("undo_range", range_id=self.flagged_range)
        await self.call("undo_range", range_id=self.flagged_range, body={}, keep=False)
        left_out = await self.call(
            "list_candidates", persona_id="ada", state="passed_over", keep=False
        )
        candidate_id = left_out["items"][0]["candidate_id"]
        await self.call("restore_candidate", candidate_id=candidate_id)
        await self.call("split_conversation", conversation_id="monday")

    async def recall(self) -> None:
        await self.call("recall", persona_id="ada")
        await self.call("assemble_context", persona_id="ada")
        await self.call("hydrate", persona_id="ada")
        await self.call("list_items", persona_id="ada")
        await self.call("count_items", persona_id="ada")
        first_hours: dict[str, Any] = {"to": (START + timedelta(hours=3)).isoformat()}
        await self.call("list_audit", limit=3, **first_hours)
        await self.call("list_audit", format="jsonl", action="flagged", **first_hours)

    async def shapes_drawn(self) -> None:
        """What was archived leaves a shape: another persona hears of it, then it is relearned."""
        await self.call("archive_memory", memory_id="01a1", keep=False)
        await self.later(days=1)
        embedder = open_embedder(self.settings)
        await run_night(
            self.graph,
            self.tenant_id,
            "ada",
            now=self.now,
            started_by="schedule",
            tools=NightTools(embedder),
        )
        embedder.close()
        page = await self.call("list_shapes", persona_id="ada", keep=False)
        (shape_id,) = (shape["shape_id"] for shape in page["items"] if shape["drawn_by"] == "night")
        await self.call("add_persona", body={"id": "mira", "name": "Mira"}, keep=False)
        await self.call("read_shadow", persona_id="ada")
        await self.call("share_shape", shape_id=shape_id, body={"persona_id": "mira"})
        await self.call("relearn_shape", shape_id=shape_id)

    async def duplicates(self) -> None:
        await self.call("duplicate_persona", persona_id="ada")


async def first_chunk(
    app: Application, path: str, headers: dict[str, str]
) -> tuple[dict[str, Any], bytes]:
    """The start of an answer that does not end, and the first bytes of its body."""
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "server": ("pentimento.test", 80),
        "client": ("127.0.0.1", 1),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
    }
    serving = asyncio.create_task(app(scope, receive, messages.put))
    async with asyncio.timeout(30):
        start, body = await messages.get(), await messages.get()
    serving.cancel()
    await asyncio.wait([serving])
    return start, body["body"]


def as_json(examples: Examples) -> str:
    return json.dumps(examples, indent=1, ensure_ascii=False, sort_keys=False) + "\n"
