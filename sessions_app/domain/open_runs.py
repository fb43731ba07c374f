"""How an open run goes on: what is added to it, which calls are answered, and its output at the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.domain.errors import Conflict, FieldError, InvalidInput, at
from sessions_app.domain.openai_fields import RESULT_ONLY
from sessions_app.domain.openai_messages import numbered_turn
from sessions_app.domain.run_fields import check_event
from sessions_app.domain.transcript import Event, EventKind, Role


@dataclass(frozen=True, slots=True)
class Continuation:
    """A run's events after more came in.

    Those from index `first_new` on are new and the earlier ones in `changed` are not what they were. `places` holds for
    each given event the index where it stands now, or the call that it answers.
    """

    events: tuple[Event, ...]
    first_new: int
    changed: frozenset[int]
    places: tuple[int, ...]

    @property
    def new(self) -> tuple[Event, ...]:
        """The events behind those that the run had already."""
        return self.events[self.first_new :]


@dataclass(frozen=True, slots=True)
class GivenMessages:
    """Chat messages on their way into an open run; `extras` by place, as those of runs read from messages.

    `numbers` says for each event which message it came from, from 1 on.
    """

    events: tuple[Event, ...]
    extras: Mapping[int, Mapping[str, Any]]
    numbers: tuple[int, ...]


def given_messages(messages: Sequence[Any]) -> GivenMessages:
    """Read chat messages as they come from a provider; a result whose call is not among them stands alone."""
    run, numbers = numbered_turn(messages)
    extras = {int(index): extra for index, extra in run.extras.items()}
    unknown = {index for index, extra in extras.items() if RESULT_ONLY in extra}
    kept = [index for index in range(len(run.events)) if index not in unknown]
    places = {index: place for place, index in enumerate(kept)}
    events = tuple(_regiven(run.events[index], places) for index in kept)
    kept_extras = {places[index]: extra for index, extra in extras.items() if index in places}
    return GivenMessages(events, kept_extras, tuple(numbers[index] for index in kept))


def go_on(
    earlier: Sequence[Event],
    given: Sequence[Event],
    *,
    under: Mapping[int, int] | None = None,
    pointers: Sequence[str] = (),
) -> Continuation:
    """Add events behind the earlier ones of an open run.

    A given event's `parent` counts the given ones; `under` maps the place of a given event to the earlier one that is
    its parent. A tool call without a parent gets the newest assistant message, or a new empty one. A result without a
    call answers the nearest waiting call with its id. A user message behind anything else would open the next run.
    `pointers` say where the given events stand in what was sent, which refusals point to.
    """
    placed = list(earlier)
    places: list[int] = []
    for place, event in enumerate(given):
        parent = places[event.parent] if event.parent is not None else (under or {}).get(place)
        with at(pointers[place] if pointers else f"/events/{place}"):
            places.append(_place(placed, event, parent))
    changed = frozenset(index for index, event in enumerate(earlier) if placed[index] is not event)
    return Continuation(tuple(placed), len(earlier), changed, tuple(places))


def _place(placed: list[Event], event: Event, parent: int | None) -> int:
    """Put an event behind the placed ones, or its result to the call it answers; return where it stands now."""
    if _is_result_alone(event):
        return _answer(placed, event)
    _check_speaker(placed, event)
    if event.kind is EventKind.TOOL_CALL:
        # A call alone weighs more than one under its message.
        event = replace(event, parent=_speaker_of_call(placed, parent), tokens=0)
    placed.append(check_event(event))
    return len(placed) - 1


def with_output(earlier: Sequence[Event], output: str) -> Continuation:
    """Add the run's final answer; if the run's last words so far are its beginning, it takes their place."""
    last = len(earlier) - 1
    if (
        earlier
        and _is_answer(earlier[last])
        and earlier[last].content is None
        and output.startswith(earlier[last].text)
    ):
        whole = check_event(replace(earlier[last], text=output, tokens=0))
        return Continuation((*earlier[:last], whole), len(earlier), frozenset({last}), (last,))
    return go_on(earlier, [Event(EventKind.MESSAGE, text=output, role=Role.ASSISTANT)])


def with_result(event: Event, *, result: str | None, was_text: bool, error: str | None) -> Event:
    """Return a tool call with its result or its error; one that has either already is refused."""
    pointer = "/error" if result is None else "/result"
    if event.tool is None:
        detail = "Only a tool call can have a result."
        raise InvalidInput(detail, errors=[FieldError(pointer, detail)])
    if not is_waiting(event):
        detail = f"The tool call {event.tool.call_id!r} has its result already."
        raise Conflict(detail, errors=[FieldError(pointer, detail)])
    answered = replace(event.tool, result=result, result_was_text=was_text, error=error)
    return check_event(replace(event, tool=answered, tokens=0))


def is_waiting(event: Event) -> bool:
    """Whether an event is a tool call without result and error."""
    return event.tool is not None and event.tool.result is None and event.tool.error is None


def _regiven(event: Event, places: Mapping[int, int]) -> Event:
    if event.parent is None or event.parent in places:
        return replace(event, parent=None if event.parent is None else places[event.parent])
    return replace(event, parent=None, tool=event.tool and replace(event.tool, name=""))


def _is_result_alone(event: Event) -> bool:
    call = event.tool
    return call is not None and not (event.parent is not None or call.name or call.arguments) and not is_waiting(event)


def _answer(placed: list[Event], event: Event) -> int:
    """Give the result to the first waiting call of its id under the nearest message that has one."""
    if event.tool is None:
        raise _refused("", "Only a tool result answers a call.")
    waiting = [index for index, other in enumerate(placed) if is_waiting(other) and _same_call(other, event)]
    if not waiting:
        raise _refused("", f"No tool call with the id {event.tool.call_id!r} waits for a result in this run.")
    nearest = next(index for index in waiting if placed[index].parent == placed[waiting[-1]].parent)
    result = event.tool
    placed[nearest] = with_result(
        placed[nearest], result=result.result, was_text=result.result_was_text, error=result.error
    )
    return nearest


def _same_call(call: Event, result: Event) -> bool:
    return call.tool is not None and result.tool is not None and call.tool.call_id == result.tool.call_id


def _check_speaker(placed: Sequence[Event], event: Event) -> None:
    if event.role is Role.USER and any(other.role is not Role.USER for other in placed):
        detail = "A user message behind anything else opens the next run; finish this one and append that."
        raise _refused("/role", detail)


def _speaker_of_call(placed: list[Event], parent: int | None) -> int:
    """Return the index of the assistant message that a call belongs to; an empty one is made if there is none."""
    if parent is not None:
        if not _is_answer(placed[parent]):
            raise _refused("/parent_id", "The parent of a tool call is an assistant message of its run.")
        return parent
    newest = next((index for index in reversed(range(len(placed))) if _is_answer(placed[index])), None)
    if newest is None:
        placed.append(check_event(Event(EventKind.MESSAGE, role=Role.ASSISTANT)))
        newest = len(placed) - 1
    return newest


def _refused(pointer: str, detail: str) -> InvalidInput:
    return InvalidInput(detail, errors=[FieldError(pointer, detail)])


def _is_answer(event: Event) -> bool:
    return event.kind is EventKind.MESSAGE and event.role is Role.ASSISTANT
