"""The page on which a fact is followed: the runs that say it, what lies between them, and where it left the memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import Hit, Interval, Why
from sessions_app.domain.plan import Fate, PromptPlan
from sessions_app.domain.search_words import Piece as Said
from sessions_app.domain.transcript import OPEN_STATUSES, EventKind, Role
from sessions_app.models import Event, Run, Session, lineage_of, lineage_runs_at
from sessions_app.queries.bands import Piece, Span, bands_of, merged, pieces_of
from sessions_app.queries.dropping_summaries import DroppingSummary, dropping_summaries
from sessions_app.queries.token_sums import token_sums

HITS_SHOWN = 30
TEXT_SHOWN = 240
RESULTS_SHOWN = 3
LEFT_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A text of a run with what was followed marked; `kind`: user, assistant or tool, then `name` is that of it."""

    kind: str
    pieces: Sequence[Said]
    name: str = ""


@dataclass(frozen=True, slots=True)
class SayingRun:
    """A run that says it; `look` is its fate in the prompt to come, "query" for the open run."""

    position: int
    look: str
    reason: str
    shared: bool
    tokens: int
    created_at: datetime
    lines: Sequence[Line]
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class Between:
    """Neighbouring runs that do not say it, with their fate in the prompt to come."""

    first: int
    last: int
    fate: Fate | None
    tokens: int
    kind: str = "between"


@dataclass(frozen=True, slots=True)
class Left:
    """From `turn` on the run was not sent: `words` say why."""

    turn: int
    words: str
    fate: Fate | None
    kind: str = "left"


FactItem = SayingRun | Between | DroppingSummary | Left


def fact_stream(
    *,
    session: Session,
    phrase: Phrase,
    hits: Sequence[Hit],
    told: Sequence[tuple[Interval, str]],
    prompt: PromptPlan | None,
) -> list[FactItem]:
    """Return the lines of the stream, oldest first; `told` are the intervals with what is said of each."""
    shown = [hit.position for hit in (hits if len(hits) <= HITS_SHOWN else [hits[0], *hits[1 - HITS_SHOWN :]])]
    cards = list(dropping_summaries(session, phrase, [interval for interval, _ in told]))
    pieces = _pieces(session, prompt, shown, [card.entry.covers_through + 1 for card in cards])
    sums = token_sums(session, {edge for piece in pieces for edge in (piece.first, piece.last)})
    runs = _saying_runs(session, phrase, shown, pieces)
    items: list[FactItem] = []
    for piece in pieces:
        if piece.first in runs:
            items += [runs[piece.first], *_left(piece, told)]
        else:
            items.append(Between(piece.first, piece.last, piece.fate, sums.between(piece.first, piece.last)))
        items += [card for card in cards if piece.first <= card.entry.covers_through <= piece.last]
    return items


def _pieces(session: Session, prompt: PromptPlan | None, shown: Sequence[int], cuts: Sequence[int]) -> list[Piece]:
    bands = merged(bands_of(prompt, session.last_position))
    return pieces_of(bands, stretches=lineage_of(session), opened=[Span(p, p) for p in shown], cuts=cuts)


def _left(piece: Piece, told: Sequence[tuple[Interval, str]]) -> Iterator[Left]:
    left = [
        Left(interval.first, words, piece.fate)
        for interval, words in told
        if interval.is_missing and interval.why is not Why.SUMMARIZED_AWAY and piece.first in interval.runs[-1:]
    ]
    yield from left[:LEFT_SHOWN]


def _saying_runs(
    session: Session, phrase: Phrase, shown: Sequence[int], pieces: Sequence[Piece]
) -> Mapping[int, SayingRun]:
    places = {piece.first: piece for piece in pieces if piece.first == piece.last}
    rows = lineage_runs_at(session, shown).with_events()
    return {run.position: _saying_run(session, phrase, run, places[run.position]) for run in rows}


def _saying_run(session: Session, phrase: Phrase, run: Run, piece: Piece) -> SayingRun:
    look = "query" if run.status in OPEN_STATUSES and piece.fate is Fate.KEPT else str(piece.fate or "")
    return SayingRun(
        position=run.position,
        look=look,
        reason=piece.reason,
        shared=piece.holder.pk != session.pk,
        tokens=run.tokens_o200k,
        created_at=run.created_at,
        lines=list(_lines(phrase, list(run.events.all()))),
    )


def _lines(phrase: Phrase, events: Sequence[Event]) -> Iterator[Line]:
    """Yield the input, the calls that say it, and what of the answers says it, or else the last of them."""
    asked = [event.text for event in events if event.kind == EventKind.MESSAGE and event.role != Role.ASSISTANT]
    answers = [event.text for event in events if event.role == Role.ASSISTANT and event.text]
    calls = [event for event in events if event.kind == EventKind.TOOL_CALL]
    for text in [text for text in asked if phrase.is_in(text)][:RESULTS_SHOWN] or asked[:1]:
        yield Line("user", phrase.excerpt(text, TEXT_SHOWN))
    said = [(call, text) for call in calls for text in (call.arguments, call.result, call.error) if text]
    for call, text in [(call, text) for call, text in said if phrase.is_in(text)][:RESULTS_SHOWN]:
        yield Line("tool", phrase.excerpt(text, TEXT_SHOWN), call.tool_name)
    for text in [text for text in answers if phrase.is_in(text)][:RESULTS_SHOWN] or answers[-1:]:
        yield Line("assistant", phrase.excerpt(text, TEXT_SHOWN))
