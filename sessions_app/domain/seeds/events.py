"""A session as chuk-ai-session-manager sees one: a flat list of events, of which its strategies take a few.

Messages of the assistant and system messages inside runs are both "not the user's". Tool calls and notes belong to the
message that is their parent; without one, no strategy takes them.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from typing import Any

from sessions_app.domain.candidates import Window
from sessions_app.domain.transcript import Event, EventKind, Role, Run, ToolCall, TranscriptReader

SUMMARY_NOTE = "summary"


@dataclass(frozen=True, slots=True)
class SeedMessage:
    """A message event of a run, with the calls and summary notes that it is the parent of.

    `number` counts the messages of its side, the user's or the others', in the run from 0.
    """

    position: int
    number: int
    event: Event
    calls: tuple[ToolCall, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_users(self) -> bool:
        """Whether the user wrote it."""
        return self.event.role is Role.USER

    @property
    def content(self) -> Any:
        """The text, or the parts that it was given in."""
        return self.event.text if self.event.content is None else [dict(part) for part in self.event.content]


class SeedEvents:
    """Reads the newest messages of a window of runs and of the open run, as far back as they are asked for."""

    def __init__(self, reader: TranscriptReader, window: Window, open_run: Run | None) -> None:
        self._reader, self._window, self._open = reader, window, open_run
        self._known: list[SeedMessage] = []
        self._older = self._read_messages()

    @cached_property
    def is_empty(self) -> bool:
        """Whether there is no event at all."""
        return not any(run.events for run in self._runs())

    @cached_property
    def first_of_user(self) -> SeedMessage | None:
        """The user's first message."""
        found = self._reader.first_input(not_below=self._window.first)
        if found is not None and found.run.position <= self._window.last:
            return next(filter(_is_users, messages_of(found.run)), None)
        return next(filter(_is_users, messages_of(self._open)), None) if self._open else None

    @cached_property
    def last_of_user(self) -> SeedMessage | None:
        """The user's newest message."""
        return next(filter(_is_users, self.newest_first()), None) if self.first_of_user else None

    @cached_property
    def last_of_others(self) -> SeedMessage | None:
        """The newest message that is not the user's."""
        return next((message for message in self.newest_first() if not message.is_users), None)

    def newest(self, most: int) -> list[SeedMessage]:
        """Return the newest messages, oldest first."""
        return list(islice(self.newest_first(), most))[::-1]

    def newest_first(self) -> Iterator[SeedMessage]:
        """Yield the messages from the newest on; what was read before is not read again."""
        yield from self._known
        for message in self._older:
            self._known.append(message)
            yield message

    def _read_messages(self) -> Iterator[SeedMessage]:
        for run in self._runs():
            yield from reversed(messages_of(run))

    def _runs(self) -> Iterator[Run]:
        """Yield the runs from the newest on; each reading takes about as much as all before it."""
        if self._open is not None:
            yield self._open
        position, tokens = self._window.last + 1, 0
        while runs := self._reader.newest_before(position, not_below=self._window.first, tokens=tokens):
            yield from runs
            position, tokens = runs[-1].position, tokens + sum(run.tokens for run in runs)


def result_value(call: ToolCall) -> Any:
    """Return a call's result as the JSON value that it was; an empty object if there is none."""
    if call.result is None:
        return {}
    if call.result_was_text:
        return call.result
    try:
        return json.loads(call.result)
    except (ValueError, RecursionError):
        return call.result


def _is_users(message: SeedMessage) -> bool:
    return message.is_users


def messages_of(run: Run) -> list[SeedMessage]:
    """Return the messages of a run in order."""
    calls: dict[int | None, list[ToolCall]] = defaultdict(list)
    notes: dict[int | None, list[str]] = defaultdict(list)
    for event in run.events:
        if event.tool is not None:
            calls[event.parent].append(event.tool)
        elif event.kind is EventKind.NOTE and _is_summary(event):
            notes[event.parent].append(event.text)
    numbers = {True: count(), False: count()}
    return [
        SeedMessage(
            run.position, next(numbers[event.role is Role.USER]), event, tuple(calls[index]), tuple(notes[index])
        )
        for index, event in enumerate(run.events)
        if event.kind is EventKind.MESSAGE
    ]


def _is_summary(event: Event) -> bool:
    """Whether a note is a summary; one that says it is something else, a reference or a bridge, is not."""
    return all(part.get("type", SUMMARY_NOTE) == SUMMARY_NOTE for part in event.content or ())
