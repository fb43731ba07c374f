"""Errors of the API as problem documents (RFC 9457)."""

import json
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware as DjangoSessionMiddleware
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from sessions_app.domain.errors import FieldError

log = structlog.get_logger(__name__)

API_PATH = "/api/v1/"
CONTENT_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:convoweb:problem:"


def problem(
    status: int,
    detail: str,
    *,
    kind: str = "",
    errors: Sequence[FieldError] = (),
    headers: dict[str, str] | None = None,
    **members: Any,
) -> HttpResponse:
    """Return a problem document; its type and title are those of the status unless a `kind` in kebab-case is named."""
    phrase = HTTPStatus(status).phrase
    kind = kind or phrase.lower().replace(" ", "-")
    document = {
        "type": TYPE_PREFIX + kind,
        "title": kind.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "errors": [{"pointer": error.pointer, "detail": error.detail} for error in errors],
        **members,
    }
    body = json.dumps(document, ensure_ascii=False)
    return HttpResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers)


def busy(request: HttpRequest, error: Exception) -> HttpResponse:
    """Return the page that says that the database could not serve a request in time."""
    log.error("database_error", error=repr(error))
    response = render(request, "503.html", status=HTTPStatus.SERVICE_UNAVAILABLE)
    response["Retry-After"] = "1"
    return response


class SessionMiddleware(DjangoSessionMiddleware):
    """Saves logins; says it when the database is too busy for that, which happens outside the view."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Save what has changed, and set the cookie."""
        try:
            return super().process_response(request, response)
        except (OperationalError, SessionInterrupted) as error:
            if not _is_busy(error):
                raise
            return busy(request, error)


def _is_busy(error: BaseException | None) -> bool:
    """Whether an error is, or came of, a database that could not serve in time."""
    return error is not None and (isinstance(error, OperationalError) or _is_busy(error.__context__))


class ProblemMiddleware:
    """Says that the database is busy, and turns what is no problem document under the API's path into one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer when the database could not serve a request in time, whichever door it came through."""
        return busy(request, exception) if isinstance(exception, OperationalError) else None

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not request.path_info.startswith(API_PATH):
            return _no_page(request, response)
        wrong = response.status_code >= 400 and "json" not in response.get("Content-Type", "")
        if not wrong or not request.path_info.startswith(API_PATH):
            return response
        headers = {name: response[name] for name in ("Allow", "Retry-After") if name in response}
        return problem(
            response.status_code, _DETAILS.get(response.status_code, response.reason_phrase), headers=headers
        )


def _no_page(request: HttpRequest, refusal: HttpResponseNotAllowed) -> HttpResponse:
    response = render(request, "405.html", status=refusal.status_code)
    response["Allow"] = refusal["Allow"]
    return response


@csrf_exempt
def not_found(request: HttpRequest, address: str) -> HttpResponse:  # noqa: ARG001 (Django passes them)
    """Answer for an address of the API that is none."""
    return problem(HTTPStatus.NOT_FOUND, _DETAILS[HTTPStatus.NOT_FOUND])


_DETAILS = {
    400: "The request cannot be read.",
    404: "There is nothing at this address.",
    405: "This address does not answer this method; the header Allow lists those it does.",
    500: "Something went wrong here; it is logged.",
    503: "The database is busy; nothing was stored, try again.",
}
