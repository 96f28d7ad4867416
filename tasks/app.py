"""The Celery app and its timetable."""

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
    # A job that a worker took and did not finish goes to another one. Jobs are safe to run twice.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_soft_time_limit=settings.job_soft_seconds,
    task_time_limit=settings.job_hard_seconds,
    # Redis hands a job out again when it was not finished in this time.
    broker_transport_options={"visibility_timeout": settings.job_hard_seconds + 60},
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # for ever: a broker may restart
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    worker_hijack_root_logger=False,
    timezone="UTC",
)

# The timetable. A job that finds nothing to do costs one indexed read. `expires`: a job that no
# worker took before the next one is due is dropped.
app.conf.beat_schedule = {
    # Each message sends its own job; this finds those that the broker lost.
    "draw overdue": {
        "task": "tasks.jobs.draw_overdue",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    # Each persona's night has its own hour, so there may be due ones at any time of the day.
    "start nights": {
        "task": "tasks.jobs.start_nights",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    # A large persona is copied by a job; this finds copies that were left half-way.
    "resume copies": {
        "task": "tasks.jobs.resume_copies",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    # Uses are counted soon after a recall, and not while its caller waits.
    "count uses": {
        "task": "tasks.jobs.count_uses",
        "schedule": timedelta(seconds=5),
        "options": {"expires": 5},
    },
    # Memories that are due to fade between two nights.
    "fade": {
        "task": "tasks.jobs.fade_due",
        "schedule": timedelta(hours=1),
        "options": {"expires": 3600},
    },
}


@setup_logging.connect  # type: ignore[untyped-decorator]
def configure_logs(**_: Any) -> None:
    set_up_logs(settings)


_redis = Redis.from_url(
    settings.broker_url, socket_connect_timeout=PATIENCE, socket_timeout=PATIENCE
)


@heartbeat_sent.connect  # type: ignore[untyped-decorator]
def report_heartbeat(sender: Any, **_: Any) -> None:
    """Store Celery's heartbeat, sent every 2 s, where the readiness check reads it."""
    with contextlib.suppress(RedisError):  # the next heartbeat is stored once Redis is back
        report_worker(_redis, sender.eventer.hostname)


@worker_shutdown.connect  # type: ignore[untyped-decorator]
def remove_heartbeat(sender: Any, **_: Any) -> None:
    with contextlib.suppress(RedisError):
        forget_worker(_redis, sender.hostname)
