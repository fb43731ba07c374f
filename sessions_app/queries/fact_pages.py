"""The page on which a fact is followed: the runs that say it, what lies between them, and where it left the memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import Hit, Interval, Why
from sessions_app.domain.plan import Fate, PromptPlan
from sessions_app.domain.search_words import Piece as Said
from sessions_app.domain.transcript import OPEN_STATUSES, EventKind, Role
from sessions_app.models import Event, Run, Session, lineage_of, lineage_runs_at
from sessions_app.queries.bands import WINDOW, Band, Piece, Span, bands_of, bands_within, merged, pieces_of
from sessions_app.queries.dropping_summaries import DroppingSummary, dropping_summaries
from sessions_app.queries.result_cuts import told_cuts
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
    """A run that says it, or not, if it `is_between`; `look` is its fate in the prompt to come, "query" if it is open.

    `cut` tells what of its tool results that prompt has cut.
    """

    position: int
    look: str
    reason: str
    shared: bool
    tokens: int
    created_at: datetime
    lines: Sequence[Line]
    is_between: bool = False
    cut: str = ""
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class Between:
    """Neighbouring runs that are not shown, with their fate in the prompt to come; `said`: how many of them say it."""

    first: int
    last: int
    fate: Fate | None
    tokens: int
    said: int
    kind: str = "between"

    @property
    def opens_at(self) -> int:
        """The oldest run that opening the line shows."""
        return max(self.first, self.last - WINDOW + 1)


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
    opened: Span | None = None,
) -> list[FactItem]:
    """Return the lines of the stream, oldest first; `told` are the intervals with what is said of each.

    The newest runs of the `opened` span are shown, too, though they do not say it.
    """
    shown = [hit.position for hit in (hits if len(hits) <= HITS_SHOWN else [hits[0], *hits[1 - HITS_SHOWN :]])]
    cards = list(dropping_summaries(session, phrase, [interval for interval, _ in told]))
    spans = [Span(p, p) for p in shown] + ([opened.newest(WINDOW)] if opened else [])
    bands = merged(bands_of(prompt, session.last_position))
    pieces = _pieces(session, bands, spans, [card.entry.covers_through + 1 for card in cards])
    items: list[FactItem] = []
    for piece, lines in _lines_of_pieces(session, phrase, prompt, pieces, hits):
        for line in lines:
            items.append(line)
            if isinstance(line, SayingRun):
                items += _left(line.position, piece.fate, told)
        items += [card for card in cards if piece.first <= card.entry.covers_through <= piece.last]
    return items


def unfolded(*, session: Session, phrase: Phrase, span: Span, prompt: PromptPlan | None) -> list[FactItem]:
    """Return the lines that take the place of folded runs: the newest of them one by one, the rest folded."""
    bands = bands_within(merged(bands_of(prompt, session.last_position)), span)
    pieces = _pieces(session, bands, [span.newest(WINDOW)], [])
    return [line for _, lines in _lines_of_pieces(session, phrase, prompt, pieces, []) for line in lines]


def _pieces(session: Session, bands: Sequence[Band], opened: Sequence[Span], cuts: Sequence[int]) -> list[Piece]:
    pieces = pieces_of(bands, stretches=lineage_of(session), opened=opened, cuts=cuts)
    # A single run is opened as a rule; here it is only if it is asked for.
    return [replace(piece, opened=any(piece.first in span for span in opened)) for piece in pieces]


def _lines_of_pieces(
    session: Session, phrase: Phrase, prompt: PromptPlan | None, pieces: Sequence[Piece], hits: Sequence[Hit]
) -> Iterator[tuple[Piece, Sequence[SayingRun | Between]]]:
    """Yield each piece with its runs, if it is opened, or the line that they are folded into."""
    folded = [piece for piece in pieces if not piece.opened]
    sums = token_sums(session, {edge for piece in folded for edge in (piece.first, piece.last)})
    runs = _runs(session, phrase, prompt, {p: piece for piece in pieces if piece.opened for p in _positions(piece)})
    for piece in pieces:
        if piece.opened:
            yield piece, [runs[position] for position in _positions(piece) if position in runs]
        else:
            said = sum(piece.first <= hit.position <= piece.last for hit in hits)
            tokens = sums.between(piece.first, piece.last)
            yield piece, [Between(piece.first, piece.last, piece.fate, tokens, said)]


def _positions(piece: Piece) -> range:
    return range(piece.first, piece.last + 1)


def _left(position: int, fate: Fate | None, told: Sequence[tuple[Interval, str]]) -> Iterator[Left]:
    left = [
        Left(interval.first, words, fate)
        for interval, words in told
        if interval.is_missing and interval.why is not Why.SUMMARIZED_AWAY and position in interval.runs[-1:]
    ]
    yield from left[:LEFT_SHOWN]


def _runs(
    session: Session, phrase: Phrase, prompt: PromptPlan | None, places: Mapping[int, Piece]
) -> Mapping[int, SayingRun]:
    cuts = told_cuts(session, prompt, places.keys())
    rows = lineage_runs_at(session, places.keys()).with_events()
    return {run.position: _run(session, phrase, run, places[run.position], cuts.get(run.position, "")) for run in rows}


def _run(session: Session, phrase: Phrase, run: Run, piece: Piece, cut: str) -> SayingRun:
    look = "query" if run.status in OPEN_STATUSES and piece.fate is Fate.KEPT else str(piece.fate or "")
    lines = list(_lines(phrase, list(run.events.all())))
    return SayingRun(
        position=run.position,
        look=look,
        reason=piece.reason,
        shared=piece.holder.pk != session.pk,
        tokens=run.tokens_o200k,
        created_at=run.created_at,
        lines=lines,
        is_between=not any(said.hit for line in lines for said in line.pieces),
        cut=cut,
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
