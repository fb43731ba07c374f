"""Cutting a run that is too large for the prompt by itself, so that its beginning stays, marked."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sessions_app.domain.as_sent import is_blank
from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.images import NOT_SENT
from sessions_app.domain.text_cutting import cut_to_length, last_that_fits
from sessions_app.domain.transcript import Event, EventKind, Role, Run, ToolCall

SHORTENED = "shortened to fit"


def shortened(excerpt: Excerpt, *, fits: Callable[[Excerpt], bool]) -> Excerpt | None:
    """Return the run with each of its texts cut to one length, the greatest that fits.

    Where even single letters do not fit, it is tried with the first question and the last answer alone, then given up.
    """
    ends = replace(excerpt, run=_ends(excerpt.run))
    return _fitted(excerpt, fits, SHORTENED) or _fitted(ends, fits, f"{SHORTENED}: its first and last message only")


def with_short_texts(run: Run, length: int) -> Run:
    """Return the run with each of its texts cut to so many characters, marked."""
    events = tuple(_cut_event(event, length) for event in run.events)
    return replace(run, events=events, error=cut_to_length(run.error, length))


def _fitted(excerpt: Excerpt, fits: Callable[[Excerpt], bool], taken: str) -> Excerpt | None:
    def cut(length: int) -> Excerpt:
        return replace(excerpt, run=with_short_texts(excerpt.run, length))

    length = last_that_fits(range(1, _longest(excerpt.run) + 1), lambda length: fits(cut(length)))
    return None if length is None else replace(cut(length), taken="; ".join(filter(None, (excerpt.taken, taken))))


def _ends(run: Run) -> Run:
    """Return the run with its first user message and its last assistant message that say anything, as text alone."""
    messages = [event for event in run.events if event.kind is EventKind.MESSAGE]
    said = [replace(event, content=None) for event in messages if not is_blank(event.text)]
    shown = [replace(event, content=None, text=NOT_SENT) for event in messages if _has_image(event)]
    first = [event for event in (*said, *shown) if event.role is Role.USER][:1]
    last = [event for event in said if event.role is Role.ASSISTANT][-1:]
    return replace(run, events=(*first, *last))


def _has_image(message: Event) -> bool:
    return any(part.get("type") == "image_url" for part in message.content or ())


def _longest(run: Run) -> int:
    return max([1, len(run.error), *(length for event in run.events for length in _lengths(event))])


def _lengths(event: Event) -> list[int]:
    tool = event.tool
    texts = [tool.arguments, tool.result or "", tool.error or ""] if tool else []
    parts = [str(part.get("text", "")) for part in event.content or ()]
    return [len(text) for text in (event.text, *texts, *parts)]


def _cut_event(event: Event, length: int) -> Event:
    content = None if event.content is None else tuple(_cut_part(part, length) for part in event.content)
    tool = event.tool and _cut_call(event.tool, length)
    return replace(event, text=cut_to_length(event.text, length), content=content, tool=tool)


def _cut_part(part: Mapping[str, Any], length: int) -> Mapping[str, Any]:
    return {**part, "text": cut_to_length(part["text"], length)} if isinstance(part.get("text"), str) else part


def _cut_call(call: ToolCall, length: int) -> ToolCall:
    return replace(
        call,
        arguments=cut_to_length(call.arguments, length),
        result=call.result and cut_to_length(call.result, length),
        error=call.error and cut_to_length(call.error, length),
    )
