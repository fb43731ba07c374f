"""Where the words that were searched for stand in the sessions of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.db.models.functions import Substr

from sessions_app.domain.search_words import CHARACTERS_INDEXED, Piece, Sought, excerpt
from sessions_app.domain.transcript import EventKind
from sessions_app.models import Event, Project
from sessions_app.models.search_index import events_with, searched_texts
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
    """Where words stand in a session: its first and its newest message, or else tool call, one if these share a run.

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
    events = _beginnings_of([key for each in found.values() for key in (each.first, each.newest)])
    return {
        session: Hits(_ends(events[each.first], events[each.newest], sought), each.runs)
        for session, each in found.items()
        if each.first in events and each.newest in events
    }


def _ends(first: Any, newest: Any, sought: Sought) -> Sequence[Hit]:
    shown = [newest] if first.position == newest.position else [first, newest]
    return [_hit(event, sought) for event in shown]


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
