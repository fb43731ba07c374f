"""How a replay reads a session's lineage from rows: what is stored with runs by one query, runs by a few more."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Count, Max, Min, Q, Sum

from sessions_app.domain import transcript
from sessions_app.domain.as_sent import EMPTY_MESSAGE
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.recording import RunWeight, weight_of
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.tool_results import ResultLimits
from sessions_app.domain.transcript import EventKind, ParentContext, Role
from sessions_app.models.runs import RunQuerySet
from sessions_app.models.sessions import Session
from sessions_app.models.transcripts import SessionTranscript, lineage_runs

_AT_ONCE = 1_000
_NOTHING_ASKED = STORED_COUNTER.message(Role.USER, [EMPTY_MESSAGE])
_STORED = RunRendering(PROMPT_FORMATS[PromptFormat.OPENAI], STORED_COUNTER, ResultLimits(None, None, STORED_COUNTER))

_IS_MESSAGE = Q(events__kind=EventKind.MESSAGE)
_IS_ASKED = _IS_MESSAGE & Q(events__role=Role.USER)
_IS_ANSWER = Q(events__kind=EventKind.TOOL_CALL) | _IS_MESSAGE & Q(events__role=Role.ASSISTANT)
# By what a run asks it is seen whether its question is one message, as it is stored, and stays its first one.
_QUESTION: dict[str, Any] = {
    "asked": Count("events", filter=_IS_ASKED),
    "odd": Count("events", filter=_IS_MESSAGE & Q(events__role=Role.SYSTEM) | _IS_ASKED & ~Q(events__content=None)),
    "needs": Sum("events__tokens_o200k", filter=_IS_ASKED),
    "newest": Max("events__index", filter=_IS_ASKED),
    "answered": Min("events__index", filter=_IS_ANSWER),
}


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

    def weights(self) -> Iterator[RunWeight]:
        """What each run needs as messages of OpenAI in o200k_base, oldest first.

        It is in sums over events; only runs that ask in several messages or parts, or in an unusual place, are read.
        """
        rows = list(self._all.values("pk", "position", "tokens_o200k").annotate(**_QUESTION).order_by("position"))
        read = self._all.with_events().in_bulk([row["pk"] for row in rows if not _is_plain(row)])
        for row in rows:
            whole = read.get(row["pk"])
            yield _plain_weight(row) if whole is None else weight_of(whole.to_value(), _STORED)

    def runs(self) -> Iterator[transcript.Run]:
        """The runs with all their events, oldest first."""
        rows = self._all.with_events().order_by("position")
        return (row.to_value() for row in rows.iterator(chunk_size=_AT_ONCE))

    @property
    def _all(self) -> RunQuerySet:
        return lineage_runs(self._session)


def _is_plain(row: Mapping[str, Any]) -> bool:
    is_first = row["newest"] is None or row["answered"] is None or row["newest"] < row["answered"]
    return bool(row["asked"] <= 1 and not row["odd"] and is_first)


def _plain_weight(row: Mapping[str, Any]) -> RunWeight:
    question = row["needs"] if row["asked"] else _NOTHING_ASKED
    return RunWeight(row["tokens_o200k"], row["tokens_o200k"], question, question)
