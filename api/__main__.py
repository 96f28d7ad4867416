"""`python -m api`: serve the API until the process is stopped."""

import uvicorn

from api.app import create_app
from engine.settings import Settings


def main() -> None:
    settings = Settings()
    uvicorn.run(
        create_app(settings),
        host=settings.api_host,
        port=settings.api_port,
        loop="uvloop",
        http="httptools",
        access_log=False,  # api.application logs one line per request, with its id
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


if __name__ == "__main__":
    main()
