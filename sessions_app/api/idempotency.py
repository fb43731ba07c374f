"""Repeated requests: the same Idempotency-Key is answered once and then again the same."""

from functools import partial, wraps
from inspect import unwrap
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja.decorators import decorate_view

from sessions_app.api.access import ApiRequest
from sessions_app.api.parsing import REPLACED_HEADER, Door
from sessions_app.domain.errors import ConvowebError, FieldError, InvalidInput
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.services.idempotency import Answer, Request, claim, keep

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
LONGEST_KEY = 255
KEPT_HEADERS = ("Content-Type", "Location", REPLACED_HEADER)


def _once(run: Door) -> Door:
    operation = unwrap(run).__self__

    @wraps(run)
    def idempotent(request: ApiRequest, **kwargs: Any) -> HttpResponseBase:
        # ninja checks once more when the work begins, but does not let others in between.
        refused: HttpResponseBase | None = operation._run_checks(request)  # noqa: SLF001
        if refused is not None:
            return refused
        try:
            asked = _asked(request)
            return run(request, **kwargs) if asked is None else _answer_once(asked, request, partial(run, **kwargs))
        except ConvowebError as error:
            response: HttpResponseBase = operation.api.on_exception(request, error)
            return response

    return idempotent


# Stands under the operation's own decorator.
idempotent = decorate_view(_once)


def _asked(request: ApiRequest) -> Request | None:
    """Return what makes this request the same as another; None if it has no such key."""
    text = request.headers.get(HEADER)
    if text is None:
        return None
    if not 0 < len(text) <= LONGEST_KEY or clean_text(text) != text:
        detail = f"The header {HEADER} has 1 to {LONGEST_KEY} characters."
        raise InvalidInput(detail, errors=[FieldError("", detail)])
    try:
        body = request.body
    except RequestDataTooBig:
        return None
    return Request.of(api_key=request.auth, scope=f"{request.method} {request.path}", key=text, body=body)


def _answer_once(asked: Request, request: HttpRequest, work: Door) -> HttpResponseBase:
    with transaction.atomic():
        known = claim(request=asked, now=timezone.now())
        if known is not None:
            return _replayed(known)
        response = work(request)
        if isinstance(response, HttpResponse) and 200 <= response.status_code < 300:
            keep(request=asked, answer=_answer(response), session_pk=getattr(request, "written_session", None))
        else:
            transaction.set_rollback(True)
        return response


def _answer(response: HttpResponse) -> Answer:
    headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
    return Answer(response.status_code, response.content.decode(), headers)


def _replayed(answer: Answer) -> HttpResponse:
    return HttpResponse(answer.body, status=answer.status, headers={**answer.headers, REPLAYED: "true"})
