"""Runs and events on their way into the store: their bounds, clean texts, weights."""

from dataclasses import replace

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.identifiers import check_id
from sessions_app.domain.run_tokens import run_tokens
from sessions_app.domain.text_cleaning import clean_json, clean_text
from sessions_app.domain.tokens import STORED_COUNTER, RememberingCounter, TokenCounter, event_tokens
from sessions_app.domain.transcript import Event, NewRun, Run, RunStatus, ToolCall

ERRING = (RunStatus.FAILED, RunStatus.CANCELLED)
LONGEST = {"model": 200, "finish_reason": 100, "prompt_fingerprint": 100}


def status_told(asked: RunStatus | None, error: str) -> RunStatus | None:
    """Return the status that a run is to get: what is asked for, else failed if there is an error, else None."""
    status = asked or (RunStatus.FAILED if error else None)
    if error and status not in ERRING:
        detail = f"A run that is {status} has no error; {' and '.join(ERRING)} runs may have one."
        raise InvalidInput(detail, errors=[FieldError("/error", detail)])
    return status


def check_new_run(run: NewRun) -> NewRun:
    """Return the run as it is stored: bounds checked, texts cleaned, tokens counted."""
    if run.run_id is not None:
        check_id(run.run_id)
    status_told(run.status, run.error)
    counter = RememberingCounter()
    checked = replace(
        run,
        events=tuple(check_event(event, counter) for event in run.events),
        model=check_length("model", run.model),
        finish_reason=check_length("finish_reason", run.finish_reason),
        prompt_fingerprint=check_length("prompt_fingerprint", run.prompt_fingerprint),
        error=clean_text(run.error),
        metadata=clean_json(run.metadata),
        extras=clean_json(run.extras),
    )
    return checked if checked == run and run.tokens else replace(checked, tokens=_tokens(checked, counter))


def check_event(event: Event, counter: TokenCounter = STORED_COUNTER) -> Event:
    """Return the event as it is stored: texts cleaned, tokens counted."""
    cleaned = replace(
        event,
        text=clean_text(event.text),
        content=None if event.content is None else tuple(clean_json(event.content)),
        tool=None if event.tool is None else _cleaned_call(event.tool),
    )
    return cleaned if cleaned == event and event.tokens else replace(cleaned, tokens=event_tokens(cleaned, counter))


def check_length(name: str, text: str) -> str:
    """Return the cleaned text of one of the short fields, or raise InvalidInput."""
    if len(text) > LONGEST[name]:
        detail = f"{name} may have at most {LONGEST[name]} characters."
        raise InvalidInput(detail, errors=[FieldError(f"/{name}", detail)])
    return clean_text(text)


def _tokens(run: NewRun, counter: TokenCounter) -> int:
    return run_tokens(Run(0, run.status, run.events, run.error), counter)


def _cleaned_call(call: ToolCall) -> ToolCall:
    return replace(
        call,
        call_id=clean_text(call.call_id),
        name=clean_text(call.name),
        arguments=clean_text(call.arguments),
        result=None if call.result is None else clean_text(call.result),
        error=None if call.error is None else clean_text(call.error),
    )
