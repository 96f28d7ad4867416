"""An API with one empty handler, served as ours is: the least that a request can cost."""

import sys

import uvicorn
from litestar import Litestar, get


@get("/")
async def nothing() -> None: ...


if __name__ == "__main__":
    app = Litestar([nothing], openapi_config=None, logging_config=None)
    port = int(sys.argv[1])
    uvicorn.run(
        app, port=port, loop="uvloop", http="httptools", log_level="error", access_log=False
    )
