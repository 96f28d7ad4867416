"""Living a script through the engine's own functions, day after day, each with its night."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from engine.access import (
    Caller,
    Instance,
    MemberRole,
    Persona,
    Role,
    Tone,
    add_instance,
    add_persona,
    add_tenant,
    put_member,
)
from engine.embedding import Embedder
from engine.extraction import RuleExtractor
from engine.forgetting import FlagRules, ReversalSource, Templates, flag_message, undo_message
from engine.memory import (
    Memory,
    MemoryState,
    Use,
    count_uses,
    draw_candidates,
    list_memories,
)
from engine.models import MemoryType
from engine.night import NightTools, Run, list_changes, run_night
from engine.policy import Layer, Policy, next_night, read_policy, set_persona_policy
from engine.recall import Recall
from engine.store import Graph
from engine.talk import Conversation, add_conversation, make_checkpoints, record_messages
from ops.simulation.chronicle import PERSONA, Chronicle, Happening
from ops.simulation.script import DAY, Day, Question, Script
from ops.transcripts import Transcript

PERSONA_ID = "ada"
INSTANCE = "studio"
USERS = ("first", "second")  # as `Transcript.as_message` calls them
TIME_ZONE = "UTC"
HITS_USED = 3  # of a question: the persona answers with the best of them
HOT_BYTES = 256_000_000  # every recall is answered from memory, which is exact and quick
PAGE_SIZE = 100_000  # more than a simulated life has of anything
STARTED_BY = "simulation"

# What a stage of a night changed, and where its records name the memory.
CHANGES = {
    "merged": ("memory_id", Happening.SAID_AGAIN),
    "facts_closed": ("id", Happening.ENDED),
    "joined": ("episode_id", Happening.THEME),
    "decayed": ("id", Happening.FADED),
    "archived": ("id", Happening.ARCHIVED),
}


@dataclass(slots=True)
class World:
    """A persona that lives a script, and what the engine needs for it."""

    graph: Graph
    embedder: Embedder
    recall: Recall
    rules: FlagRules
    tenant_id: str
    persona_id: str
    policy: Policy
    conversation: Conversation
    transcript: Transcript
    chronicle: Chronicle
    every_night: bool = False  # also those that have nothing to do

    @property
    def caller(self) -> Caller:
        return Caller(self.tenant_id, STARTED_BY, Role.ADMIN)

    async def close(self) -> None:
        await self.recall.close()


async def begin(
    graph: Graph,
    embedder: Embedder,
    *,
    tenant_id: str,
    policy: str,
    layer: Layer,
    script: Script,
    beside_a_stack: bool = False,
) -> World:
    """Create the persona of a script, with the policy of this name and its conversation."""
    first = datetime.combine(script.days[0].on, time(), UTC)
    # Beside a running stack it is created now: its timetable then leaves the nights to us.
    created_at = datetime.now(UTC) if beside_a_stack else first
    await add_tenant(graph, tenant_id, name="Simulation", now=created_at)
    persona = Persona(PERSONA_ID, PERSONA, Tone.WARM, TIME_ZONE, created_at, created_at)
    await add_persona(graph, tenant_id, persona)
    await set_persona_policy(graph, tenant_id, PERSONA_ID, layer)
    await add_instance(graph, tenant_id, Instance(INSTANCE, "Studio", created_at))
    for user_id in USERS:
        await put_member(graph, tenant_id, INSTANCE, user_id, role=MemberRole.ADMIN, now=created_at)
    conversation = Conversation(
        f"{PERSONA_ID}-talk", INSTANCE, [PERSONA_ID], created_at, script.transcript.name
    )
    world = World(
        graph=graph,
        embedder=embedder,
        recall=Recall(graph, embedder, seconds=0, hot_bytes=HOT_BYTES),
        rules=FlagRules(confirm_from=3, undo_window=timedelta(0), debounce=timedelta(0)),
        tenant_id=tenant_id,
        persona_id=PERSONA_ID,
        policy=await read_policy(graph, tenant_id, PERSONA_ID),
        conversation=conversation,
        transcript=script.transcript,
        chronicle=Chronicle(policy),
    )
    await add_conversation(graph, world.caller, conversation)
    return world


async def live(world: World, script: Script) -> AsyncIterator[Day]:
    """Live a script to its end. Yields each day once its night is over."""
    for day in script.days:
        await live_day(world, day)
        await sleep(world, day)
        yield day
    end = datetime.combine(script.days[-1].on + DAY, time(), UTC)
    world.chronicle.finish([memory async for memory in all_memories(world, end)])


async def live_day(world: World, day: Day) -> None:
    """What is said, asked, forgotten and taken back on a day."""
    await record(world, day)
    for question in day.asked:
        await ask(world, question)
    for flagging in day.forgotten:
        await flag_message(
            world.graph,
            Templates(),
            world.caller,
            flagging.message_id,
            world.rules,
            now=flagging.at,
        )
        world.chronicle.happened(flagging.message_id, flagging.at, Happening.FORGOTTEN)
    for flagging in day.taken_back:
        await undo_message(
            world.graph,
            world.caller,
            flagging.message_id,
            ReversalSource.MEMORY_MANAGER,
            world.rules,
            now=flagging.at,
        )
        world.chronicle.happened(flagging.message_id, flagging.at, Happening.TAKEN_BACK)


async def record(world: World, day: Day) -> None:
    """Record what is said on a day, and draw candidates and checkpoints from it."""
    if not day.said:
        return
    conversation_id, now = world.conversation.id, day.said[-1].said_at
    messages = [
        world.transcript.as_message(turn, conversation_id, world.persona_id) for turn in day.said
    ]
    # Received now: with a time in the past, a worker would take them for messages it missed.
    received_at = datetime.now(UTC)
    await record_messages(world.graph, world.caller, conversation_id, messages, now=received_at)
    await draw_candidates(
        world.graph, world.embedder, RuleExtractor(), world.tenant_id, conversation_id, now=now
    )
    await make_checkpoints(world.graph, world.tenant_id, conversation_id, now=now)


async def ask(world: World, question: Question) -> None:
    """Recall what answers a question; the best of it counts as used."""
    result = await world.recall.recall(
        world.tenant_id,
        world.persona_id,
        question.text,
        now=question.at,
        asked_by=question.asked_by,
        limit=HITS_USED,
    )
    await world.recall.loaded()
    used_ids = tuple(hit.id for hit in result.hits)
    use = Use(result.recall_id, world.tenant_id, world.persona_id, used_ids, question.at)
    await count_uses(world.graph, [use], whole=False)
    for memory_id in used_ids:
        world.chronicle.happened(memory_id, question.at, Happening.RECALLED)


async def sleep(world: World, day: Day) -> None:
    """The night that ends a day, and how the memories stand after it.

    A night that would find nothing to do is left out. One that follows a night which archived
    something never is.
    """
    noon = datetime.combine(day.on, time(12), UTC)
    now = next_night(noon, TIME_ZONE, world.policy.figures.consolidate_at)
    if world.every_night or world.chronicle.is_restless or await is_due(world, now):
        night = await run_night(
            world.graph,
            world.tenant_id,
            world.persona_id,
            now=now,
            started_by=STARTED_BY,
            tools=NightTools(world.embedder),
        )
        did = {stage.stage for stage in night.stages if any(stage.did.values())}
        world.chronicle.slept(archived="archive" in did)
        if did:
            await note_changes(world, night)
    (standings,) = await world.graph.read(
        "simulation/list_standings", tenant_id=world.tenant_id, persona_id=world.persona_id
    )
    world.chronicle.observe(day.on, standings, world.policy, now)


async def is_due(world: World, now: datetime) -> bool:
    """Whether a night has anything to do."""
    (row,) = await world.graph.read(
        "simulation/is_night_due",
        tenant_id=world.tenant_id,
        persona_id=world.persona_id,
        as_of=now,
        drawn_before=now - timedelta(hours=world.policy.figures.editing_window_hours),
    )
    return bool(row["is_due"])


async def note_changes(world: World, night: Run) -> None:
    """Add what a night changed to the chronicle."""
    page = await list_changes(world.graph, world.tenant_id, night.id, limit=PAGE_SIZE)
    for change in page.items:
        if change.kind in CHANGES:
            name, what = CHANGES[change.kind]
            world.chronicle.happened(change.change[name], night.as_of, what)
        for episode_id in change.change.get("episode_ids", []):
            world.chronicle.happened(episode_id, night.as_of, Happening.THEME)


async def all_memories(world: World, now: datetime) -> AsyncIterator[Memory]:
    """Every memory of the persona that is no shape, whatever its state."""
    for state in MemoryState:
        page = await list_memories(
            world.graph, world.caller, world.persona_id, now=now, state=state, limit=PAGE_SIZE
        )
        for memory in page.items:
            if memory.memory_type is not MemoryType.FORGOTTEN_SHAPE:
                yield memory
