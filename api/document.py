"""The OpenAPI document: what Litestar derives from the routes, completed by hand and by example."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from litestar import Litestar
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, YamlRenderPlugin
from litestar.openapi.spec import (
    Components,
    License,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Parameter,
    Schema,
    SecurityScheme,
)
from litestar.openapi.spec.base import BaseSchemaObject
from litestar.routes import HTTPRoute

from api.application import BOOKMARK, BOOKMARK_PATTERN, MAX_BOOKMARK_LENGTH, REQUEST_ID
from api.auth import USER_HEADER
from api.bodies import Body
from api.conversations import EXPORT_TYPES
from api.page import ReadingPagePlugin
from engine import bounds
from engine.bounds import ID_PATTERN
from engine.version import VERSION

EXAMPLES = Path(__file__).with_name("examples.json")  # recorded by tests/api/test_examples.py
EVENT_STREAM = "text/event-stream"

REQUEST_ID_PARAMETER = Parameter(
    name=REQUEST_ID,
    param_in="header",
    schema=Schema(type=OpenAPIType.STRING),
    description="Returned with the answer and written to the logs; generated when left out.",
)
HEADER_PARAMETERS = [  # of every route that needs a key
    Parameter(
        name=USER_HEADER,
        param_in="header",
        schema=Schema(type=OpenAPIType.STRING, pattern=ID_PATTERN, max_length=bounds.ID),
        description="Act for this user: the request sees and changes only what the user may.",
    ),
    Parameter(
        name=BOOKMARK,
        param_in="header",
        schema=Schema(
            type=OpenAPIType.STRING, pattern=BOOKMARK_PATTERN, max_length=MAX_BOOKMARK_LENGTH
        ),
        description="From an earlier answer: this request sees at least what was written then, "
        "whichever process answers it.",
    ),
    REQUEST_ID_PARAMETER,
]

BEARER = SecurityScheme(
    type="http",
    scheme="bearer",
    description="An API key of the tenant, a user token made with one, or a JWT of the tenant's "
    "identity provider.",
)

DESCRIPTION = """\
A memory engine for AI personas that forgets well.

Every route but `/api/health` and `/api/ready` needs `Authorization: Bearer …` with an API key of
the tenant, a user token made with one, or a JWT of the tenant's identity provider. Errors are
`application/problem+json` (RFC 9457). Lists are pages: send `next_cursor` back as `cursor`.
"""


def openapi_config() -> OpenAPIConfig:
    """Where the document is served, and what it says of the whole API."""
    return OpenAPIConfig(
        title="Pentimento",
        version=VERSION,
        description=DESCRIPTION,
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        path="/schema",
        render_plugins=[
            ReadingPagePlugin(path="/"),
            JsonRenderPlugin(path="/openapi.json"),
            YamlRenderPlugin(),
        ],
        use_handler_docstrings=True,
        components=Components(security_schemes={"api_key": BEARER}),
        security=[{"api_key": []}],
    )


def complete_document(app: Litestar) -> None:
    """Add what Litestar cannot derive: summaries, headers, media types, examples, strict bodies."""
    document = app.openapi_schema
    summaries = handler_summaries(app)
    for path in (document.paths or {}).values():
        for operation in (path.get, path.post, path.put, path.patch, path.delete):
            if operation is None or operation.operation_id is None:
                continue
            name = operation.operation_id
            operation.summary = summaries[name] or name.replace("_", " ").capitalize()
            is_open = operation.security == [{}]
            headers = [REQUEST_ID_PARAMETER] if is_open else HEADER_PARAMETERS
            operation.parameters = [*(operation.parameters or []), *headers]
            if name == "export_conversation":
                export_types = [media_type for media_type, _ in EXPORT_TYPES.values()]
                set_text_types(operation, export_types)
            if name == "listen_to_events":
                set_text_types(operation, [EVENT_STREAM])
            remove_empty_content(operation)
            add_examples(operation, recorded_examples().get(name, {}))
    for body in Body.__subclasses__():
        if schema := (document.components.schemas or {}).get(body.__name__):
            schema.additional_properties = False


def handler_summaries(app: Litestar) -> dict[str, str | None]:
    """By operation: the summary that its route gives, if any."""
    return {
        str(handler.operation_id): handler.summary
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
    }


def set_text_types(operation: Operation, media_types: list[str]) -> None:
    """Say that a successful answer is text of one of these media types."""
    response = (operation.responses or {})["200"]
    if isinstance(response, OpenAPIResponse):
        response.content = {
            media_type: OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING))
            for media_type in media_types
        }


def remove_empty_content(operation: Operation) -> None:
    """Name no media type for 204, which has no body."""
    response = (operation.responses or {}).get("204")
    if isinstance(response, OpenAPIResponse):
        response.content = None


@cache
def recorded_examples() -> dict[str, dict[str, dict[str, Any]]]:
    """Real answers, by operation, status and media type."""
    examples: dict[str, dict[str, dict[str, Any]]] = json.loads(EXAMPLES.read_bytes())
    return examples


@dataclass
class Verbatim(BaseSchemaObject):
    """A value that stands in the document as it is. Litestar would drop nulls inside it."""

    value: Any

    def to_schema(self) -> Any:
        return self.value


def add_examples(operation: Operation, by_status: dict[str, dict[str, Any]]) -> None:
    """Put each recorded answer beside its schema. One that fits no response is left out."""
    for status, by_media_type in by_status.items():
        response = (operation.responses or {}).get(status)
        content = (response.content or {}) if isinstance(response, OpenAPIResponse) else {}
        for media_type, example in by_media_type.items():
            if media_type in content:
                content[media_type].example = Verbatim(example)
