"""How each refusal is told in HTTP: RFC 9457 problems, from one table."""

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
ALWAYS = (400, 401, 403, 429, 500, 503)  # what every route may answer

log = structlog.get_logger("api")


class FieldProblem(Struct, frozen=True):
    """One field that was wrong."""

    field: str
    message: str


class Problem(Struct, frozen=True):
    """What went wrong, as RFC 9457 says it."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    errors: list[FieldProblem] | UnsetType = UNSET
    instead: dict[str, str] | UnsetType = UNSET  # by operation: the path of a route that may help


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """For a route's `responses`: the refusals it may give beside those that every route may."""
    return {
        status: ResponseSpec(
            Problem,
            description=HTTPStatus(status).phrase,
            media_type=PROBLEM_JSON,
            generate_examples=False,
            examples=[Example(value=example_of(status))],
        )
        for status in sorted({*statuses, *ALWAYS})
    }


def example_of(status: int) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    return {
        "type": f"urn:pentimento:{slug(title)}",
        "title": title,
        "status": status,
        "detail": "A sentence that says what was wrong, and how to do better.",
        "request_id": "0197a1b2c3d47e5f8a9b0c1d2e3f4a5b",
    }


def slug(words: str) -> str:
    """PersonaNotFound, or Bad Request, as a part of a URN."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|\s+", "-", words).lower()


def told(problem: Problem, **headers: str) -> Response[Problem]:
    return Response(
        problem,
        status_code=problem.status,
        media_type=PROBLEM_JSON,
        headers={**HEADERS.get(problem.status, {}), **headers},
    )


def refuse(request: Request[Any, Any, Any], error: EngineError) -> Response[Problem]:
    """The engine said no."""
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    if status == 500:
        return fail(request, error)
    name = type(error).__name__
    title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()
    headers: dict[str, str] = {}
    if isinstance(error, TooManyRequests):
        request.scope["state"]["allowance"] = error.allowance
        headers["Retry-After"] = str(error.allowance.seconds)
    return told(
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


def refuse_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """The request never reached the engine: no such route, wrong method, a body that is not one."""
    if error.status_code >= 500:
        return fail(request, error)
    phrase = HTTPStatus(error.status_code).phrase
    found = error.extra if isinstance(error.extra, list) else []
    fields = [
        FieldProblem(str(item.get("key", "")), str(item.get("message", "")))
        for item in found
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
    return told(problem, **(error.headers or {}))


def fail(request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    """A mistake of ours: logged with its place, told without any detail."""
    log.error("request_failed", exc_info=error)
    detail = "Something went wrong on our side. The request id helps to find it in the logs."
    title = HTTPStatus(500).phrase
    return told(
        Problem(f"urn:pentimento:{slug(title)}", title, 500, detail, request_id(request.scope)),
    )


HANDLERS = {EngineError: refuse, HTTPException: refuse_http, Exception: fail}
