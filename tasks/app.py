"""The Celery app, and the whole timetable."""

import contextlib
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, setup_logging, worker_shutdown
from redis import Redis
from redis.exceptions import RedisError

from engine.service import set_up_logs
from engine.settings import Settings
from engine.store import PATIENCE, forget_worker, report_worker

settings = Settings()

app = Celery("pentimento", broker=settings.broker_url, include=["tasks.jobs"])
app.conf.update(
    # A job that was taken and not finished is given to another worker. Jobs are safe to run twice.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_soft_time_limit=settings.job_soft_seconds,
    task_time_limit=settings.job_hard_seconds,
    # Redis gives a job out again when nobody has finished it for this long.
    broker_transport_options={"visibility_timeout": settings.job_hard_seconds + 60},
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # for ever: a broker that restarts is not the end
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    worker_hijack_root_logger=False,
    timezone="UTC",
)

# The timetable. A job that finds nothing to do costs one indexed read.
app.conf.beat_schedule = {
    # What was said is drawn from at once; this finds what the broker lost.
    "draw overdue": {
        "task": "tasks.jobs.draw_overdue",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    # Nights come at each persona's own hour, so the due ones are looked for through the day.
    "start nights": {
        "task": "tasks.jobs.start_nights",
        "schedule": timedelta(minutes=1),
        # One that nobody took by the time the next is due would only be done twice.
        "options": {"expires": 60},
    },
    # A copy of a large persona is made by a job; this finds those that were left half-way.
    "duplicate": {
        "task": "tasks.jobs.duplicate_left",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    # What was recalled is counted soon after, and never while somebody waits for an answer.
    "count uses": {
        "task": "tasks.jobs.count_uses",
        "schedule": timedelta(seconds=5),
        "options": {"expires": 5},
    },
    # What is due to fade between two nights.
    "fade": {
        "task": "tasks.jobs.fade_due",
        "schedule": timedelta(hours=1),
        "options": {"expires": 3600},
    },
}


@setup_logging.connect  # type: ignore[untyped-decorator]
def set_up(**_: Any) -> None:
    set_up_logs(settings)


_redis = Redis.from_url(
    settings.broker_url, socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE
)


@heartbeat_sent.connect  # type: ignore[untyped-decorator]
def say_alive(sender: Any, **_: Any) -> None:
    """Celery's own heartbeat, every 2 s, told where readiness looks for it."""
    with contextlib.suppress(RedisError):  # while Redis is away nobody can be told
        report_worker(_redis, sender.eventer.hostname)


@worker_shutdown.connect  # type: ignore[untyped-decorator]
def say_goodbye(sender: Any, **_: Any) -> None:
    with contextlib.suppress(RedisError):
        forget_worker(_redis, sender.hostname)
