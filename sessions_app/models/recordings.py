"""How a replay reads a session's lineage from rows: what is stored with runs by one query, runs by a few more."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby, starmap
from operator import attrgetter
from typing import NamedTuple

from django.db.models import F, FilteredRelation, Q
from django.db.models.lookups import IsNull

from sessions_app.domain import transcript
from sessions_app.domain.as_sent import EMPTY_MESSAGE
from sessions_app.domain.replays.recording import RunWeight, weight_of
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.transcript import EventKind, ParentContext, Role
from sessions_app.models.lineages import lineage_runs
from sessions_app.models.runs import RunQuerySet
from sessions_app.models.sessions import Session
from sessions_app.models.transcripts import SessionTranscript

_AT_ONCE = 1_000

_ASKED = Q(events__kind=EventKind.MESSAGE, events__role__in=[Role.USER, Role.SYSTEM])


class AskedRow(NamedTuple):
    """A run's tokens, and a message in it of the user or the system: None in all fields if there is none."""

    pk: int
    tokens: int
    place: int | None
    role: str | None
    needs: int | None
    has_parts: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is the question as it is stored, if it is the only one, and with it the run begins."""
        return self.role is None or (self.role == Role.USER and self.place == 0 and not self.has_parts)

    @property
    def weight(self) -> RunWeight:
        """What the run needs if that is so."""
        question = _nothing_asked() if self.needs is None else self.needs
        return RunWeight(self.tokens, self.tokens, question, question)


@cache
def _nothing_asked() -> int:
    """Return what stands for a question needs; counted when needed, since counting loads a vocabulary."""
    return STORED_COUNTER.message(Role.USER, [EMPTY_MESSAGE])


class SessionRecording:
    """The Recording of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def instructions(self) -> str:
        """The session's system prompt, maybe empty."""
        return self._session.instructions

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parents, root first; parents without a summary are left out."""
        return SessionTranscript(self._session).parent_contexts(depth)

    def all_weights(self) -> Iterator[RunWeight]:
        """What each run needs as messages of OpenAI in o200k_base, oldest first.

        It is in the rows of questions; only runs that ask in several messages or parts, or not at first, are read.
        """
        asked = self._all.annotate(asked=FilteredRelation("events", condition=_ASKED)).order_by("position")
        message = ("asked__index", "asked__role", "asked__tokens_o200k", IsNull(F("asked__content"), rhs=False))
        rows = starmap(AskedRow, asked.values_list("pk", "tokens_o200k", *message))
        runs = [list(messages) for _, messages in groupby(rows, attrgetter("pk"))]
        read = self._all.with_events().in_bulk([first.pk for first, *more in runs if more or not first.is_plain])
        for first, *_ in runs:
            yield weight_of(read[first.pk].to_value()) if first.pk in read else first.weight

    def all_runs(self) -> Iterator[transcript.Run]:
        """The runs with all their events, oldest first."""
        rows = self._all.with_events().order_by("position")
        return (row.to_value() for row in rows.iterator(chunk_size=_AT_ONCE))

    @property
    def _all(self) -> RunQuerySet:
        return lineage_runs(self._session)
