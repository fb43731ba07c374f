"""What of a run strategies take: its input, its newest messages, all but its failed calls."""

import json
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from sessions_app.domain.candidates import Excerpt, Window
from sessions_app.domain.transcript import Event, EventKind, Run, ToolCall, TranscriptReader

LONGEST_STATUS = 20_000


def first_input(reader: TranscriptReader, window: Window) -> Excerpt | None:
    """Return the input of the window's first run."""
    name = "the first run" if window.first == 1 else "the first run that the settings leave"
    return _input(reader, window.first, window.last, name)


def newest_input(reader: TranscriptReader, window: Window) -> Excerpt | None:
    """Return the input of the window's newest run."""
    return _input(reader, max(window.first, window.last), window.last, "the newest run")


def newest_answered(reader: TranscriptReader, window: Window) -> Excerpt | None:
    """Return the newest run of the window in which the assistant said anything, whole."""
    run = reader.newest_answered(not_below=window.first)
    return None if run is None else Excerpt(run)


def distinct(*excerpts: Excerpt | None) -> tuple[Excerpt, ...]:
    """Return the excerpts that there are; of several of one run the first."""
    found = [excerpt for excerpt in excerpts if excerpt is not None]
    return tuple({excerpt.run.position: excerpt for excerpt in reversed(found)}.values())[::-1]


def newest_messages(run: Run, count: int) -> Excerpt:
    """Return the run from its `count`-th newest message on."""
    messages = [index for index, event in enumerate(run.events) if event.kind is EventKind.MESSAGE]
    if count >= len(messages):
        return Excerpt(run)
    taken = f"its newest {count} of {len(messages)} messages" if count > 1 else "its newest message"
    return Excerpt(_with_events(run, range(messages[-count], len(run.events))), taken)


def without_failed_calls(excerpt: Excerpt) -> Excerpt:
    """Leave out the tool calls that failed, and the reasoning that led to nothing else."""
    events = excerpt.run.events
    failed = {index for index, event in enumerate(events) if event.tool is not None and _failed(event.tool)}
    if not failed:
        return excerpt
    taken = f"without its {len(failed)} failed call{'s'[: len(failed) > 1]}"
    return replace(excerpt, run=_with_events(excerpt.run, _without(failed, events)), taken=taken)


def _without(failed: Set[int], events: Sequence[Event]) -> list[int]:
    """Return the indexes of the other events, but for reasoning of which a failed call, and no parallel one, came."""
    kept: list[int] = []
    is_behind_failed = False
    for index in reversed(range(len(events))):
        is_reasoning = events[index].kind is EventKind.REASONING
        leads_on = bool(kept) and events[kept[-1]].tool is not None
        if index in failed:
            is_behind_failed = True
        elif not (is_reasoning and is_behind_failed and not leads_on):
            kept.append(index)
            is_behind_failed = False
    return kept[::-1]


def _input(reader: TranscriptReader, not_below: int, last: int, name: str) -> Excerpt | None:
    found = reader.first_input(not_below=not_below)
    if found is None or found.run.position > last:
        return None
    taken = name if found.is_all else f"{name}: its input only"
    return Excerpt(found.run, taken, answer_left_out=not found.is_all)


def _with_events(run: Run, indexes: Iterable[int]) -> Run:
    """Return the run with those events alone; a call whose message is not among them stands by itself."""
    kept = list(indexes)
    places = {index: place for place, index in enumerate(kept)}
    events = tuple(
        event if event.parent is None else replace(event, parent=places.get(event.parent))
        for event in (run.events[index] for index in kept)
    )
    return replace(run, events=events)


def _failed(call: ToolCall) -> bool:
    return bool(call.error) or _status(call.result or "") == "error"


def _status(result: str) -> object:
    """Return the status that a result names, if it is a JSON object that does."""
    if len(result) > LONGEST_STATUS or not result.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return None
    return value.get("status") if isinstance(value, dict) else None
