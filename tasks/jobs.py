"""The jobs: each is one call into the engine, safe to run twice, with strings for arguments."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import structlog

from engine.errors import NightUnderWay, PersonaNotFound, Unavailable
from engine.memory import (
    draw_candidates,
    duplicate_persona,
    list_overdue_conversations,
    list_unfinished_copies,
)
from engine.night import claim_due_nights, list_due_to_fade, run_hour, run_night
from engine.recall import count_recorded_uses
from engine.talk import (
    EVERY_CONVERSATION,
    list_overdue_checkpoints,
    make_checkpoints,
    notify_conversation,
)
from tasks.app import app, settings
from tasks.process import broker, embedder, extractor, night_tools, run

T = TypeVar("T")

# How many jobs one look sends; the next look, a minute later, sends the rest.
NIGHTS_BATCH = 1000
OVERDUE_BATCH = 1000  # conversations
COPIES_BATCH = 100

RETRY = {
    "autoretry_for": (Unavailable,),
    "retry_backoff": 1,  # seconds, doubling
    "retry_backoff_max": 120,
    "retry_jitter": True,
    "max_retries": settings.job_retries,
}

log = structlog.get_logger("tasks")


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def draw_from_conversation(tenant_id: str, conversation_id: str) -> None:
    """Draw candidates from the messages of a conversation that none were drawn from yet."""
    drawn = run(draw_candidates, embedder(), extractor(), tenant_id, conversation_id)
    log.info("drawn", messages=drawn.messages, candidates=drawn.candidates)
    checkpoint_conversation.delay(tenant_id, conversation_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def checkpoint_conversation(tenant_id: str, conversation_id: str) -> None:
    """Put the messages that candidates were drawn from into checkpoints."""
    covered = run(make_checkpoints, tenant_id, conversation_id)
    if covered:
        run(notify_conversation, broker(), tenant_id, conversation_id)
    log.info("covered", messages=covered)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def draw_overdue() -> None:
    """Send the jobs again for conversations whose own jobs were lost."""
    for tenant_id, conversation_id in run(list_overdue_conversations, limit=OVERDUE_BATCH):
        draw_from_conversation.delay(tenant_id, conversation_id)
    for tenant_id, conversation_id in run(list_overdue_checkpoints, limit=OVERDUE_BATCH):
        checkpoint_conversation.delay(tenant_id, conversation_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def start_nights() -> None:
    """Send one job for each persona whose night is due."""
    for tenant_id, persona_id in run(claim_due_nights, limit=NIGHTS_BATCH):
        consolidate_persona.delay(tenant_id, persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def consolidate_persona(tenant_id: str, persona_id: str) -> None:
    """Run one persona's night."""
    night = run_unless_busy(
        "night", run_night, tenant_id, persona_id, started_by="timetable", tools=night_tools()
    )
    if night:
        run(notify_conversation, broker(), tenant_id, EVERY_CONVERSATION)
        log.info("night", state=night.state, day=night.period, persona_id=persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def count_uses() -> None:
    """Count the uses of memories that recall has recorded since the last time."""
    if counted := run(count_recorded_uses, broker()):
        log.info("uses", counted=counted)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def fade_due() -> None:
    """Send one job for each persona with something that is due to fade."""
    for tenant_id, persona_id in run(list_due_to_fade, limit=NIGHTS_BATCH):
        fade_persona.delay(tenant_id, persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def fade_persona(tenant_id: str, persona_id: str) -> None:
    """Fade what is due in one persona."""
    hour = run_unless_busy(
        "hour", run_hour, tenant_id, persona_id, started_by="timetable", tools=night_tools()
    )
    if hour:
        log.info("hour", state=hour.state, hour=hour.period, persona_id=persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def resume_copies() -> None:
    """Send one job for each copy of a persona that is unfinished and that no job works on."""
    for tenant_id, persona_id, copy_id in run(list_unfinished_copies, limit=COPIES_BATCH):
        duplicate.delay(tenant_id, persona_id, copy_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def duplicate(tenant_id: str, persona_id: str, copy_id: str) -> None:
    """Copy what is not yet copied of one persona."""
    copy = run_unless_busy("copy", duplicate_persona, tenant_id, persona_id, copy_id=copy_id)
    if copy:
        log.info("copied", persona_id=copy_id)


def run_unless_busy(
    name: str,
    job: Callable[..., Awaitable[T]],
    tenant_id: str,
    persona_id: str,
    **options: Any,
) -> T | None:
    """Run an engine function on a persona. None, with a log line, when it is busy or gone."""
    try:
        return run(job, tenant_id, persona_id, **options)
    except (NightUnderWay, PersonaNotFound) as error:
        log.info(f"{name}_skipped", why=type(error).__name__, persona_id=persona_id)
        return None
