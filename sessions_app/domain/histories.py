"""Comparing a conversation as it is stored with the same one in a file: what the file has more, or where both part."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.domain.errors import HistoryChanged
from sessions_app.domain.openai_fields import INSTRUCTIONS, RESULT
from sessions_app.domain.openai_writing import to_messages
from sessions_app.domain.transcript import Event, NewRun

_CONTEXT = 20
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Growth:
    """What a file has beyond the stored runs: `grown` is the newest of them if it is longer there; then more runs."""

    grown: NewRun | None
    new_runs: tuple[NewRun, ...]

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return self.grown is not None or bool(self.new_runs)


def growth(*, stored: Iterable[NewRun], count: int, given: Sequence[NewRun]) -> Growth:
    """Compare the `count` stored runs with the given ones; an older file, which ends earlier, gives no growth.

    Times and tokens are not compared. Raises HistoryChanged with the first difference.
    """
    grown = None
    for position, (old, new) in enumerate(zip(stored, given, strict=False), 1):
        here, there = _timeless(old), _timeless(new)
        if here == there:
            continue
        if position == count and _continues(here, there):
            grown = new
        elif not (position == len(given) and _continues(there, here)):
            raise HistoryChanged(_difference(position, here, there))
    return Growth(grown, tuple(given[count:]))


def answered_calls(here: Sequence[Event], there: Sequence[Event]) -> list[int]:
    """Return the indexes of calls that wait for their result here and have it there."""
    pairs = enumerate(zip(here, there, strict=False))
    return [index for index, (old, new) in pairs if _is_answered(_bare(old), _bare(new))]


def _timeless(run: NewRun) -> NewRun:
    """Return a run's events and what is kept beside them, without times, tokens and the form of the instructions."""
    events = tuple(map(_bare, run.events))
    extras = {index: _timeless_extra(extra) for index, extra in run.extras.items() if index != INSTRUCTIONS}
    return NewRun(events=events, extras={index: extra for index, extra in extras.items() if extra})


def _bare(event: Event) -> Event:
    return replace(event, tokens=0, created_at=None)


def _timeless_extra(extra: Any) -> Any:
    if not isinstance(extra, Mapping) or not isinstance(extra.get(RESULT), Mapping):
        return extra
    result = {name: value for name, value in extra[RESULT].items() if name != "created_at"}
    return {**extra, RESULT: result} if result else _without(extra, RESULT)


def _continues(here: NewRun, there: NewRun) -> bool:
    """Whether `there` has all that `here` has, and maybe more behind it."""
    if len(here.events) > len(there.events):
        return False
    old_extras, new_extras = here.extras, there.extras
    for index, (old, new) in enumerate(zip(here.events, there.events, strict=False)):
        answered = _is_answered(old, new)
        if not answered and old != new:
            return False
        new_extra = _without(new_extras.get(str(index), {}), RESULT) if answered else new_extras.get(str(index), {})
        if old_extras.get(str(index), {}) != new_extra:
            return False
    return True


def _is_answered(old: Event, new: Event) -> bool:
    if old.tool is None or new.tool is None or old.tool.result is not None or new.tool.result is None:
        return False
    answered = replace(old.tool, result=new.tool.result, result_was_text=new.tool.result_was_text)
    return replace(old, tool=answered) == new


def _without(extras: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in extras.items() if other != name}


def _difference(position: int, here: NewRun, there: NewRun) -> str:
    ours, theirs = ([_text(message) for message in to_messages([run])] for run in (here, there))
    number = next((place for place, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
    if number is None:
        longer, place = ("the file", len(ours)) if len(theirs) > len(ours) else ("the stored one", len(theirs))
        return f"Run {position}: {longer} has more from message {place + 1} of the run on, and other runs follow."
    start = max(_same_length(ours[number], theirs[number]) - _CONTEXT, 0)
    old, new = (_excerpt(text[number], start) for text in (ours, theirs))
    return f"Run {position} differs at its message {number + 1}. Stored: {old} In the file: {new}"


def _excerpt(text: str, start: int) -> str:
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _same_length(first: str, second: str) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), 0)


def _text(message: Mapping[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False, sort_keys=True)
