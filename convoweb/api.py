"""The API: its routers, and the one place where errors become status codes."""

import re
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from convoweb.problems import CONTENT_TYPE, problem
from sessions_app.api import (
    exports,
    facts,
    health,
    imports,
    language_models,
    profiles,
    projects,
    prompts,
    replays,
    run_events,
    runs,
    sessions,
    settings_versions,
    summaries,
    usage,
)
from sessions_app.api.access import KeyThrottle, parse_rate
from sessions_app.api.parsing import REPLACED_HEADER, JsonRenderer, StrictParser, invalid, refuse_unknown_parameters
from sessions_app.api.schemas import Problem
from sessions_app.domain.errors import BudgetTooSmall, Busy, Conflict, ConvowebError, KeyExpired, NotFound

DESCRIPTION = """Store conversations, and get the prompt to send to a model.

Errors are problem documents (RFC 9457). Lists are paged by `limit` and `cursor`. A POST or PATCH that writes may carry
an `Idempotency-Key`: the same request again is answered the same, with `Idempotent-Replayed: true`.
"""

BUSY_SECONDS = 5
CHALLENGE = {"WWW-Authenticate": "Bearer"}

STATUSES: dict[type[ConvowebError], int] = {
    NotFound: HTTPStatus.NOT_FOUND,
    KeyExpired: HTTPStatus.UNAUTHORIZED,
    Conflict: HTTPStatus.CONFLICT,
    Busy: HTTPStatus.TOO_MANY_REQUESTS,
    ConvowebError: HTTPStatus.UNPROCESSABLE_ENTITY,
}


class ConvowebAPI(NinjaAPI):
    """NinjaAPI that reports replaced characters, and whose document says how errors look."""

    def create_response(self, request: HttpRequest, data: Any, **options: Any) -> HttpResponse:
        """Return an answer; a header counts the characters of the request that could not be stored."""
        response = super().create_response(request, data, **options)
        replaced = getattr(request, "replaced_characters", 0)
        if replaced:
            response[REPLACED_HEADER] = str(replaced)
        return response

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the noun and the verb, which are the names of the module and the function."""
        noun = operation.view_func.__module__.rpartition(".")[2]
        return f"{noun}_{operation.view_func.__name__}"

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Return the OpenAPI document."""
        schema = super().get_openapi_schema(**options)
        document = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schema["components"]["schemas"] |= {**document.pop("$defs"), "Problem": document}
        answer = {"schema": {"$ref": "#/components/schemas/Problem"}}
        for operations in schema["paths"].values():
            for operation in operations.values():
                operation["summary"] = operation["description"].partition(".")[0]
                operation["responses"]["default"] = {"description": "A problem.", "content": {CONTENT_TYPE: answer}}
        return schema


api = ConvowebAPI(
    title="convoweb",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    parser=StrictParser(),
    renderer=JsonRenderer(),
    throttle=KeyThrottle(),
)
parse_rate(settings.CONVOWEB_API_RATE)
for noun in (
    sessions,
    exports,
    usage,
    settings_versions,
    profiles,
    runs,
    run_events,
    prompts,
    summaries,
    replays,
    facts,
    imports,
    projects,
    language_models,
    health,
):
    api.add_router("", noun.router)
api.add_decorator(refuse_unknown_parameters, mode="view")


@api.exception_handler(ConvowebError)
def refused(request: HttpRequest, error: ConvowebError) -> HttpResponse:  # noqa: ARG001 (ninja passes it)
    """Answer a refusal of the domain."""
    kind = type(error)
    status = next(STATUSES[parent] for parent in kind.__mro__ if parent in STATUSES)
    members: dict[str, Any] = {}
    if isinstance(error, BudgetTooSmall):
        members = {"needs": error.needs, "budget": error.budget}
    if isinstance(error, Busy):
        members = {"headers": {"Retry-After": str(BUSY_SECONDS)}}
    if isinstance(error, KeyExpired):
        members = {"headers": CHALLENGE}
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
    return problem(status, error.detail, kind=name, errors=error.errors, **members)


@api.exception_handler(ObjectDoesNotExist)
def gone(request: HttpRequest, error: ObjectDoesNotExist) -> HttpResponse:  # noqa: ARG001
    """Answer that something was deleted while the request was at work."""
    return refused(request, NotFound("It has been deleted meanwhile."))


@api.exception_handler(ValidationError)
def invalid_request(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Answer fields that ninja has refused."""
    # Places begin with "body", "query" or "path"; behind "body" stands the argument that took it.
    return refused(request, invalid(error.errors, prefixes={"body": 2}))


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer what ninja refuses by itself; errors of the parser are inside its own."""
    cause = error.__cause__
    if isinstance(cause, ConvowebError):
        return refused(request, cause)
    shown = cause if isinstance(cause, HttpError) else error
    headers = CHALLENGE if shown.status_code == HTTPStatus.UNAUTHORIZED else None
    return problem(shown.status_code, _DETAILS.get(HTTPStatus(shown.status_code), shown.message), headers=headers)


@api.exception_handler(RequestDataTooBig)
def too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:  # noqa: ARG001 (ninja passes them)
    """Answer a body that is too large."""
    return problem(413, f"A body may have at most {settings.CONVOWEB_MAX_BODY} bytes.")


_DETAILS = {
    HTTPStatus.UNAUTHORIZED: "This needs the header Authorization: Bearer <key>, with a key that is valid.",
    HTTPStatus.TOO_MANY_REQUESTS: "This key sends too many requests; wait the seconds in the header Retry-After.",
}
