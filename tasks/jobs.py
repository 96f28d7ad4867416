"""The jobs: each is one call into the engine, safe to run twice, with strings for arguments."""

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
from tasks.process import broker, embedder, extractor, run

NIGHTS_AT_ONCE = 1000  # sent out by one look; the next look, a minute later, sends the rest

OVERDUE_AT_ONCE = 1000  # conversations

COPIES_AT_ONCE = 100

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
    """Draw candidates from what was said in a conversation and nobody has drawn from yet."""
    drawn = run(draw_candidates, embedder(), extractor(), tenant_id, conversation_id)
    log.info("drawn", messages=drawn.messages, candidates=drawn.candidates)
    checkpoint_conversation.delay(tenant_id, conversation_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def checkpoint_conversation(tenant_id: str, conversation_id: str) -> None:
    """Put what candidates were drawn from into checkpoints of the conversation."""
    covered = run(make_checkpoints, tenant_id, conversation_id)
    if covered:
        run(notify_conversation, broker(), tenant_id, conversation_id)
    log.info("covered", messages=covered)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def draw_overdue() -> None:
    """Draw from, and put into checkpoints, the messages whose own jobs were lost on the way."""
    for tenant_id, conversation_id in run(list_overdue_conversations, limit=OVERDUE_AT_ONCE):
        draw_from_conversation.delay(tenant_id, conversation_id)
    for tenant_id, conversation_id in run(list_overdue_checkpoints, limit=OVERDUE_AT_ONCE):
        checkpoint_conversation.delay(tenant_id, conversation_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def start_nights() -> None:
    """Send out one job for each persona whose night has come."""
    for tenant_id, persona_id in run(claim_due_nights, limit=NIGHTS_AT_ONCE):
        consolidate_persona.delay(tenant_id, persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def consolidate_persona(tenant_id: str, persona_id: str) -> None:
    """Run one persona's night."""
    try:
        night = run(
            run_night,
            tenant_id,
            persona_id,
            started_by="timetable",
        )
    except (NightUnderWay, PersonaNotFound) as nothing_to_do:
        log.info("night_left_alone", why=type(nothing_to_do).__name__, persona_id=persona_id)
    else:
        run(notify_conversation, broker(), tenant_id, EVERY_CONVERSATION)
        log.info("night", state=night.state, day=night.period, persona_id=persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def count_uses() -> None:
    """Count what was recalled since the last time."""
    if counted := run(count_recorded_uses, broker()):
        log.info("uses", counted=counted)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def fade_due() -> None:
    """Send out one job for each persona with something that is due to fade."""
    for tenant_id, persona_id in run(list_due_to_fade, limit=NIGHTS_AT_ONCE):
        fade_persona.delay(tenant_id, persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def fade_persona(tenant_id: str, persona_id: str) -> None:
    """Let fade what is due in one persona."""
    try:
        faded = run(
            run_hour,
            tenant_id,
            persona_id,
            started_by="timetable",
        )
    except (NightUnderWay, PersonaNotFound) as nothing_to_do:
        log.info("hour_left_alone", why=type(nothing_to_do).__name__, persona_id=persona_id)
    else:
        log.info("hour", state=faded.state, hour=faded.period, persona_id=persona_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def duplicate_left() -> None:
    """Go on with the copies of personas that nobody goes on with."""
    for tenant_id, persona_id, copy_id in run(list_unfinished_copies, limit=COPIES_AT_ONCE):
        duplicate.delay(tenant_id, persona_id, copy_id)


@app.task(**RETRY)  # type: ignore[untyped-decorator]
def duplicate(tenant_id: str, persona_id: str, copy_id: str) -> None:
    """Copy what is left of one persona."""
    try:
        run(
            duplicate_persona,
            tenant_id,
            persona_id,
            copy_id=copy_id,
        )
    except (NightUnderWay, PersonaNotFound) as not_now:
        log.info("copy_left_alone", why=type(not_now).__name__, persona_id=copy_id)
    else:
        log.info("copied", persona_id=copy_id)
