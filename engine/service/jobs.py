"""Sending jobs to the workers by name, so that the API need not import the tasks."""

import asyncio

import structlog
from celery import Celery
from kombu.exceptions import OperationalError

from engine.settings import Settings

PATIENCE = 1.0  # seconds

log = structlog.get_logger("jobs")


class Jobs:
    """Sends jobs through the broker. The timetable makes up for one that could not be sent."""

    def __init__(self, settings: Settings) -> None:
        self._celery = Celery(broker=settings.broker_url)
        self._celery.conf.broker_transport_options = {
            "socket_connect_timeout": PATIENCE,
            "socket_timeout": PATIENCE,
        }

    async def send(self, name: str, *arguments: str) -> bool:
        """Send a job. Returns whether the broker has it; a broker that is away is only logged."""
        try:
            await asyncio.to_thread(
                self._celery.send_task, name, args=arguments, retry=False, ignore_result=True
            )
        except (OperationalError, OSError) as error:
            log.warning("job_not_sent", job=name, why=type(error).__name__)
            return False
        return True

    def close(self) -> None:
        self._celery.close()
