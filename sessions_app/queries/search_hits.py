"""Where the words that were searched for stand in the sessions of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.db.models.functions import Substr

from sessions_app.domain.search_words import CHARACTERS_INDEXED, Piece, Sought, excerpt
from sessions_app.domain.transcript import EventKind
from sessions_app.models import Event, Project
from sessions_app.models.search_index import newest_events_with, searched_texts

_LONG = ("text", "arguments", "error", "result")


@dataclass(frozen=True, slots=True)
class Hit:
    """The newest message in a session, or else tool call, in which the words stand.

    `position` is its run's, `speaker` its role or the tool's name.
    """

    position: int
    speaker: str
    pieces: Sequence[Piece]


def search_hits(sought: Sought, *, project: Project, session_pks: Sequence[int]) -> Mapping[int, Hit]:
    """Return the hit of each session that has one in its own runs, by two queries for all."""
    newest = newest_events_with(sought, project_pk=project.pk, session_pks=session_pks)
    events = _beginnings_of(list(newest.values()))
    return {session: _hit(events[event], sought) for session, event in newest.items() if event in events}


def _beginnings_of(pks: Sequence[int]) -> Mapping[int, Event]:
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
