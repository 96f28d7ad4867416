"""Every error as an RFC 9457 problem, by one table of status codes."""

import re
from http import HTTPStatus
from typing import Any

import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi import ResponseSpec
from litestar.openapi.spec import Example
from msgspec import UNSET, Struct, UnsetType

from api.application import request_id
from engine.errors import (
    Conflict,
    EngineError,
    Forbidden,
    Invalid,
    Misconfigured,
    NotFound,
    StatementFailed,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)

STATUS: dict[type[EngineError], int] = {
    Invalid: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    StatementFailed: 500,
    TooManyRequests: 429,
    Unavailable: 503,
    Misconfigured: 503,
}

HEADERS: dict[int, dict[str, str]] = {
    401: {"WWW-Authenticate": 'Bearer realm="pentimento"'},
    503: {"Retry-After": "1"},
}

PROBLEM_JSON = "application/problem+json"
EVERY_ROUTE = (400, 401, 403, 429, 500, 503)  # statuses that every route may answer

log = structlog.get_logger("api")


class FieldProblem(Struct, frozen=True):
    """One field that was wrong."""

    field: str
    message: str


class Problem(Struct, frozen=True):
    """What went wrong, in the form of RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    errors: list[FieldProblem] | UnsetType = UNSET
    instead: dict[str, str] | UnsetType = UNSET  # paths of routes that may help, by operation


def problems(*statuses: int, kind: type[Problem] = Problem) -> dict[int, ResponseSpec]:
    """The `responses` of a route: these statuses, and those that every route may answer.

    A 401 is a plain problem of every route, and tells nobody what they have asked for.
    """
    return {
        status: ResponseSpec(
            Problem if status == HTTPStatus.UNAUTHORIZED else kind,
            description=HTTPStatus(status).phrase,
            media_type=PROBLEM_JSON,
            generate_examples=False,
            examples=[Example(value=example_problem(status))] if kind is Problem else None,
        )
        for status in sorted({*statuses, *EVERY_ROUTE})
    }


def example_problem(status: int) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    return {
        "type": f"urn:pentimento:{slug(title)}",
        "title": title,
        "status": status,
        "detail": "A sentence that says what was wrong, and what to do instead.",
        "request_id": "0197a1b2c3d47e5f8a9b0c1d2e3f4a5b",
    }


def slug(words: str) -> str:
    """PersonaNotFound as persona-not-found, Bad Request as bad-request: a part of a URN."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|\s+", "-", words).lower()


def problem_response(problem: Problem, **headers: str) -> Response[Problem]:
    """The problem with its status, media type and the headers that go with the status."""
    return Response(
        problem,
        status_code=problem.status,
        media_type=PROBLEM_JSON,
        headers={**HEADERS.get(problem.status, {}), **headers},
    )


def engine_refusal(request: Request[Any, Any, Any], error: EngineError) -> Response[Problem]:
    """The answer to a request that the engine refused."""
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    if status == 500:
        return internal_error(request, error)
    name = type(error).__name__
    title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()
    headers: dict[str, str] = {}
    if isinstance(error, TooManyRequests):
        request.scope["state"]["allowance"] = error.allowance
        headers["Retry-After"] = str(error.allowance.seconds)
    return problem_response(
        Problem(
            f"urn:pentimento:{slug(name)}",
            title,
            status,
            str(error),
            request_id(request.scope),
            instead=error.instead or UNSET,
        ),
        **headers,
    )


def http_refusal(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """The answer to a request that never reached the engine: no route, wrong method, bad body."""
    if error.status_code >= 500:
        return internal_error(request, error)
    phrase = HTTPStatus(error.status_code).phrase
    extra = error.extra if isinstance(error.extra, list) else []
    fields = [
        FieldProblem(str(item.get("key", "")), str(item.get("message", "")))
        for item in extra
        if isinstance(item, dict)
    ]
    problem = Problem(
        f"urn:pentimento:{slug(phrase)}",
        phrase,
        error.status_code,
        error.detail or phrase,
        request_id(request.scope),
        fields or UNSET,
    )
    return problem_response(problem, **(error.headers or {}))


def internal_error(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """The answer to an error of ours: a 500 without details. The log has the traceback."""
    log.error("request_failed", exc_info=error)
    detail = "Something went wrong on our side. The request id helps to find it in the logs."
    title = HTTPStatus(500).phrase
    return problem_response(
        Problem(f"urn:pentimento:{slug(title)}", title, 500, detail, request_id(request.scope)),
    )


HANDLERS = {
    EngineError: engine_refusal,
    HTTPException: http_refusal,
    Exception: internal_error,
}
