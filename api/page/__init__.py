"""The page to read the API by: Swagger UI, vendored, so that no request leaves the host.

`vendor.json` names the package, its version and licence, and the checksum of each file;
`make vendor` fetches the files again.
"""

from pathlib import Path
from typing import Any

from litestar import Request, Router
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.static_files import create_static_files_router

FOLDER = Path(__file__).parent
CACHE_SECONDS = 3600


class ReadingPagePlugin(OpenAPIRenderPlugin):
    """Serves the page and, below /assets, the files it needs.

    Litestar's own Swagger plugin loads a favicon from a CDN, writes the whole document into an
    inline script, and so cannot have a content security policy.
    """

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        del request, openapi_schema  # the page loads the document itself
        return (FOLDER / "index.html").read_bytes()

    def receive_router(self, router: Router) -> None:
        router.register(
            create_static_files_router(
                path="/assets",
                directories=[FOLDER / "assets"],
                include_in_schema=False,
            )
        )
