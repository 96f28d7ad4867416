"""`python -m api`: serve the API until the process is stopped.

With PENTIMENTO_API_PROCESSES above one, so many processes share the port, and a folder in which
they leave their metrics, so that any of them can answer for all.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import uvicorn
from prometheus_client.multiprocess import mark_process_dead

from api.app import create_app
from api.application import Application
from engine.settings import Settings

# Seconds for which a thread keeps the interpreter while others wait for it. The model's thread and
# those that load personas give it back often, and at 5 ms would wait behind the loop each time.
SWITCH_SECONDS = 0.0005
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads it when it is imported


def main() -> None:
    settings = Settings()
    options: dict[str, Any] = {
        "host": settings.api_host,
        "port": settings.api_port,
        "loop": "uvloop",
        "http": "httptools",
        "access_log": False,  # api.application logs one line per request, with its id
        "log_config": None,
        "server_header": False,
        "timeout_graceful_shutdown": settings.shutdown_seconds,
    }
    sys.setswitchinterval(SWITCH_SECONDS)
    if settings.api_processes == 1:
        uvicorn.run(create_app(settings), **options)
        return
    with tempfile.TemporaryDirectory(prefix="pentimento-metrics-") as folder:
        os.environ[METRICS_FOLDER] = folder
        workers = settings.api_processes
        uvicorn.run("api.__main__:create_worker", factory=True, workers=workers, **options)


def create_worker() -> Application:
    """The API in one of several processes. It stops when the process that started it is gone."""
    sys.setswitchinterval(SWITCH_SECONDS)
    forget_dead_processes(Path(os.environ[METRICS_FOLDER]))
    threading.Thread(target=stop_with_parent, daemon=True).start()
    return create_app()


def stop_with_parent() -> None:
    """Ask this process to stop once its parent has ended: it would keep the port from the next."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def forget_dead_processes(folder: Path) -> None:
    """Drop what processes that have ended say of the present, such as requests in progress.

    A process that starts does it, since it may replace one that was killed. Counters stay.
    """
    for file in folder.glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
        except PermissionError:
            continue  # another user's process, which has the number now


if __name__ == "__main__":
    main()
