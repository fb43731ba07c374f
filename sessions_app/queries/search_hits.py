"""Where the words that were searched for stand in the sessions of a page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.db.models.functions import Substr

from sessions_app.domain.search_words import CHARACTERS_INDEXED, Piece, Sought, excerpt
from sessions_app.domain.transcript import EventKind
from sessions_app.models import Event, Project
from sessions_app.models.search_index import EventsFound, events_with, searched_texts
from sessions_app.queries.session_finding import MOST_FOUND

_LONG = ("text", "arguments", "error", "result")


@dataclass(frozen=True, slots=True)
class Hit:
    """Where the words stand: the position of the run, the role or the tool, and the text around them."""

    position: int
    speaker: str
    pieces: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Hits:
    """Where words stand in a session: in the first and the newest run that say them, one if they are the same.

    Messages of two runs come before tool calls of others.

    `runs`: in so many runs.
    """

    ends: Sequence[Hit]
    runs: int

    @property
    def are_found(self) -> bool:
        """Whether the session's page, where the words are looked for, comes as far back as the first of them."""
        return self.runs <= MOST_FOUND


def search_hits(sought: Sought, *, project: Project, session_pks: Sequence[int]) -> Mapping[int, Hits]:
    """Return the hits of each session that has any in its own runs, by two queries for all."""
    found = events_with(sought, project_pk=project.pk, session_pks=session_pks)
    events = _beginnings_of({key for each in found.values() for key in each.keys})
    return {
        session: Hits([_hit(event, sought) for event in _ends(each, events)], each.runs)
        for session, each in found.items()
        if each.keys <= events.keys()
    }


def _ends(found: EventsFound, events: Mapping[int, Any]) -> Sequence[Any]:
    """Return one event for each of the two runs; a message of a run where it has one."""
    messages = [events[key] for key in (found.first_message, found.newest_message) if key is not None]
    calls = [events[found.first], events[found.newest]]
    for among in (messages, [*messages, *calls]):
        ends = [end(among, key=lambda event: event.position) for end in (min, max) if among]
        if len({event.position for event in ends}) > 1:
            return ends
    return [(messages or calls)[0]]


def _beginnings_of(pks: Collection[int]) -> Mapping[int, Event]:
    """Return the events, of their texts only as much as is searched."""
    columns = {f"{name}_begin": Substr(name, 1, CHARACTERS_INDEXED) for name in _LONG}
    rows = Event.objects.filter(pk__in=pks).annotate(position=F("run__position"), **columns)
    events = rows.only("kind", "role", "tool_name").in_bulk()
    for event in events.values():
        for name in _LONG:
            setattr(event, name, getattr(event, f"{name}_begin"))
    return events


def _hit(event: Any, sought: Sought) -> Hit:
    speaker = event.tool_name if event.kind == EventKind.TOOL_CALL else event.role or event.kind
    return Hit(event.position, speaker, excerpt(searched_texts(event), sought))
