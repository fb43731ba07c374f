"""What OpenAI messages cannot say of the runs that they came from: facts beside them, one entry for each run.

An entry says how many of the messages are the run's, so that runs are parted again as they were, and what else is to
be said of it: no field stands for what is usual.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.openai_fields import time_of
from sessions_app.domain.transcript import EventKind, NewRun, RunStatus, Usage

# Where a conversation's object has them.
FIELD, RUNS = "convoweb", "runs"

_TEXTS = ("model", "finish_reason", "error", "prompt_fingerprint")
_USAGE = frozenset(field.name for field in fields(Usage))


def facts_of(run: NewRun, *, messages: int) -> dict[str, Any]:
    """Return the entry of a run that has so many messages."""
    facts: dict[str, Any] = {"messages": messages}
    if run.created_at is not None:
        facts["created_at"] = run.created_at.isoformat()
    if run.status is not RunStatus.COMPLETED:
        facts["status"] = str(run.status)
    facts |= {name: text for name in _TEXTS if (text := getattr(run, name))}
    if run.usage is not None:
        facts["usage"] = asdict(run.usage)
    if run.metadata:
        facts["metadata"] = dict(run.metadata)
    if errors := {str(place): error for place, error in enumerate(_call_errors(run)) if error is not None}:
        facts["call_errors"] = errors
    return facts


def are_told(row: Mapping[str, Any]) -> bool:
    """Whether a conversation's object has facts of its runs."""
    beside = row.get(FIELD)
    return isinstance(beside, Mapping) and RUNS in beside


def facts_in(row: Mapping[str, Any], *, messages: int) -> list[Mapping[str, Any]]:
    """Return the checked facts of a conversation's object of so many messages, or raise InvalidInput."""
    told = row[FIELD][RUNS]
    if not isinstance(told, list):
        raise InvalidInput(f"Its {FIELD}.{RUNS} must be a list.")
    for number, facts in enumerate(told, 1):
        _check(number, facts)
    if sum(facts["messages"] for facts in told) > messages:
        raise InvalidInput(f"Its {FIELD}.{RUNS} count more messages than it has.")
    return told


def counts_of(facts: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return how many messages each run has."""
    return [each["messages"] for each in facts]


def with_facts(run: NewRun, facts: Mapping[str, Any]) -> NewRun:
    """Return the run with what the facts say of it; one that was open then is not here."""
    status = RunStatus(facts.get("status", RunStatus.COMPLETED))
    usage = facts.get("usage")
    return replace(
        run,
        events=tuple(_with_errors(run, facts.get("call_errors", {}))),
        status=RunStatus.COMPLETED if status.is_open else status,
        usage=None if usage is None else Usage(**usage),
        metadata=facts.get("metadata", {}),
        created_at=time_of(facts) or run.created_at,
        **{name: facts.get(name, "") for name in _TEXTS},
    )


def _call_errors(run: NewRun) -> Iterator[str | None]:
    return (event.tool.error for event in run.events if event.tool is not None)


def _with_errors(run: NewRun, errors: Mapping[str, str]) -> Iterator[Any]:
    calls = 0
    for event in run.events:
        if event.kind is not EventKind.TOOL_CALL or event.tool is None:
            yield event
            continue
        error = errors.get(str(calls))
        yield replace(event, tool=replace(event.tool, error=error))
        calls += 1


def _check(number: int, facts: Any) -> None:
    where = f"{FIELD}.{RUNS} {number}"
    if not isinstance(facts, Mapping) or "messages" not in facts:
        raise InvalidInput(f"Its {where} must be an object that says how many messages the run has.")
    for name, value in facts.items():
        if name not in _RULES:
            raise InvalidInput(f"Its {where} has {name[:60]!r}; known are {', '.join(_RULES)}.")
        is_right, rule = _RULES[name]
        if not is_right(value):
            raise InvalidInput(f"The {name} of its {where} must be {rule}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_INTEGER


def _is_usage(value: Any) -> bool:
    return isinstance(value, Mapping) and _USAGE.issuperset(value) and all(map(_is_count, value.values()))


def _are_errors(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value.values()))


_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "messages": (_is_count, "a whole number from 0"),
    "created_at": (lambda value: _is_text(value) and time_of({"created_at": value}) is not None, "a time of RFC 3339"),
    "status": (lambda value: value in tuple(RunStatus), f"one of {', '.join(RunStatus)}"),
    **dict.fromkeys(_TEXTS, (_is_text, "a text")),
    "usage": (_is_usage, f"an object with whole numbers under {', '.join(sorted(_USAGE))}"),
    "metadata": (lambda value: isinstance(value, Mapping), "an object"),
    "call_errors": (_are_errors, "an object with a text under the place of a call"),
}
