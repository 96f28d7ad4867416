"""What a new stack contains: a tenant with an admin key, an instance, and a persona."""

from datetime import UTC, datetime

from engine.access import (
    Instance,
    KeyRing,
    MemberRole,
    Persona,
    Role,
    Tone,
    add_instance,
    add_persona,
    add_tenant,
    get_persona,
    issue_key,
    put_member,
)
from engine.errors import PersonaNotFound, Unauthenticated
from engine.settings import Settings
from engine.store import Graph, migrate

TENANT = "demo"
PERSONA = "ada"
INSTANCE = "studio"
USER = "sam"

STATEMENT_SECONDS = 60.0  # limit for one statement: Neo4j is slow right after its start

IDENTITY = """\
You are Ada, a studio assistant with a dry wit and a long memory. You help a small team of
painters and restorers keep track of what they said, tried and changed their minds about."""


async def prepare_demo(settings: Settings, known_key: str | None) -> str:
    """Create what is missing of the demo. Returns an admin key: the known one while it is valid."""
    graph = Graph.open(settings).with_limit(STATEMENT_SECONDS)
    try:
        await migrate(graph)
        now = datetime.now(UTC)
        await add_tenant(graph, TENANT, name="Demo", now=now)
        await add_demo_persona(graph, settings, now)
        instance = Instance(INSTANCE, "Studio", now)
        await add_instance(graph, TENANT, instance)
        await put_member(graph, TENANT, INSTANCE, USER, role=MemberRole.ADMIN, now=now)
        return await admin_key(graph, known_key, now)
    finally:
        await graph.close()


async def add_demo_persona(graph: Graph, settings: Settings, now: datetime) -> None:
    try:
        await get_persona(graph, TENANT, PERSONA)  # stays as it is, even if somebody changed it
    except PersonaNotFound:
        ada = Persona(PERSONA, "Ada", Tone.WARM, "UTC", now, now, IDENTITY)
        await add_persona(graph, TENANT, ada)


async def admin_key(graph: Graph, known_key: str | None, now: datetime) -> str:
    """The known key while it is valid, else a new one."""
    if known_key:
        try:
            await KeyRing(graph, seconds=0).caller(known_key)
        except Unauthenticated:
            pass
        else:
            return known_key
    issued = await issue_key(graph, TENANT, name="demo", role=Role.ADMIN, now=now)
    return issued.api_key
