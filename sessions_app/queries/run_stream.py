"""The runs of a session page: a window of them one by one, everything else folded into lines."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sessions_app.domain.memory_settings import Strategy
from sessions_app.domain.plan import Fate, PromptPlan
from sessions_app.models import Session, Stretch, Summary, lineage_of, lineage_runs_at
from sessions_app.models.sessions import CHILD_START
from sessions_app.queries.bands import (
    Band,
    Piece,
    Span,
    bands_of,
    bands_within,
    merged,
    newest_window,
    pieces_of,
)
from sessions_app.queries.day_lines import days_begun, runs_before
from sessions_app.queries.result_cuts import told_cuts
from sessions_app.queries.run_cards import Place, RunCard, run_cards
from sessions_app.queries.stream_items import (
    CutLine,
    DayLine,
    Folded,
    OffsetLine,
    SharedHeading,
    Shown,
    StreamItem,
    SummaryCard,
)
from sessions_app.queries.token_sums import TokenSums, token_sums
from sessions_app.queries.usage import RunSpent, runs_spent

FORKS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class StreamAsked:
    """What of a stream is asked for: fates to keep to, a span to open, a span to stay within, runs shown uncut.

    `spans` are opened instead of the newest runs, `full` are runs shown with all they hold; `to_end`: what it stays
    within is the end of the stream, with what stands behind the last run.
    """

    only: Collection[Fate] | None = None
    opened: Span | None = None
    within: Span | None = None
    whole: Collection[int] = ()
    spans: Sequence[Span] = ()
    full: Collection[int] = ()
    to_end: bool = False

    @property
    def is_one_run(self) -> bool:
        """Whether a run takes its own place again, whole, where all lines before it stand already."""
        return self.within is not None and bool(self.whole)


def run_stream(*, session: Session, prompt: PromptPlan | None, asked: StreamAsked, now: datetime) -> list[StreamItem]:
    """Return the lines of the stream, oldest first; reads the shown runs and the sums at the edges of the folded.

    Costs of runs are those of the prices `now`.
    """
    bands = merged(bands_of(prompt, session.last_position))
    if asked.only is not None:
        bands = [band for band in bands if band.fate in asked.only]
    pieces = _pieces(session, prompt, bands, asked)
    before = {} if asked.is_one_run else runs_before(bands, pieces)
    edges = {edge for piece in pieces for edge in (piece.first, piece.last)}
    sums = token_sums(session, edges | set(before.values()))
    cards = _cards(session, prompt, pieces, asked, now)
    begun = sums.begun | {position: card.created_at for position, card in cards.items()}
    return list(_lines(session, prompt, pieces, sums, cards, days=days_begun(before, begun), asked=asked))


def _pieces(session: Session, prompt: PromptPlan | None, bands: Sequence[Band], asked: StreamAsked) -> list[Piece]:
    if asked.within:
        bands = bands_within(bands, asked.within)
    opened = _opened(bands, asked)
    return pieces_of(bands, stretches=lineage_of(session), opened=opened, cuts=_cuts(prompt))


def _opened(bands: Sequence[Band], asked: StreamAsked) -> list[Span]:
    if asked.spans:
        return list(asked.spans)
    window = [] if asked.within else newest_window(bands, only=asked.only)
    return [*window, asked.opened] if asked.opened else window


def _cuts(prompt: PromptPlan | None) -> list[int]:
    if prompt is None:
        return []
    covered = [] if prompt.covers_through is None else [prompt.covers_through + 1]
    return [*covered, prompt.finished - prompt.settings.values.offset + 1]


def _cards(
    session: Session, prompt: PromptPlan | None, pieces: Sequence[Piece], asked: StreamAsked, now: datetime
) -> dict[int, RunCard]:
    pieces_by_position = {p: piece for piece in pieces if piece.opened for p in range(piece.first, piece.last + 1)}
    forks = _forks(session, list(pieces_by_position))
    reasons = _reasons(prompt, list(pieces_by_position))
    cuts = told_cuts(session, prompt, pieces_by_position)
    runs = lineage_runs_at(session, pieces_by_position.keys()).with_events()
    spent = runs_spent(runs=list(runs.order_by("-position")), project_id=session.project_id, now=now)
    places = {
        each.run.position: _place(each, pieces_by_position[each.run.position], session, reasons, forks, cuts=cuts)
        for each in spent
    }
    exact = prompt.run_tokens if prompt else {}
    return run_cards(
        runs=[each.run for each in spent], places=places, exact_tokens=exact, whole=asked.whole, full=asked.full
    )


def _place(
    spent: RunSpent,
    piece: Piece,
    session: Session,
    reasons: Mapping[int, str],
    forks: Mapping[int, Sequence[Session]],
    *,
    cuts: Mapping[int, str],
) -> Place:
    position = spent.run.position
    return Place(
        fate=piece.fate,
        reason=reasons.get(position, ""),
        shared=piece.holder.pk != session.pk,
        forks=forks[position],
        cost=spent.cost,
        cut=cuts.get(position, ""),
    )


def _reasons(prompt: PromptPlan | None, positions: Sequence[int]) -> Mapping[int, str]:
    """Return why runs have their fates; neighbours of one fate may have several reasons."""
    fates = iter(sorted(prompt.fates if prompt else (), key=lambda fates: fates.first))
    reasons: dict[int, str] = {}
    current = next(fates, None)
    for position in sorted(positions):
        while current and current.last < position:
            current = next(fates, None)
        if current:
            reasons[position] = current.reason
    return reasons


def _forks(session: Session, positions: Sequence[int]) -> Mapping[int, list[Session]]:
    """Return the forks that start from shown runs, those of the shared runs' holders among them."""
    holders = [stretch.session.pk for stretch in lineage_of(session)]
    starting = Session.objects.alias(start=CHILD_START).filter(parent__in=holders, start__in=positions)
    forks = starting.exclude(pk__in=[session.pk, *holders])
    by_position: dict[int, list[Session]] = defaultdict(list)
    for fork in forks.order_by("start", "pk")[:FORKS_SHOWN]:
        by_position[fork.forked_at or 0].append(fork)
    return by_position


def _lines(
    session: Session,
    prompt: PromptPlan | None,
    pieces: Sequence[Piece],
    sums: TokenSums,
    cards: Mapping[int, RunCard],
    *,
    days: Mapping[int, date],
    asked: StreamAsked,
) -> Iterator[StreamItem]:
    card = _summary_card(session, prompt, sums)
    held = {stretch.session.pk: stretch for stretch in lineage_of(session)}
    before: Piece | None = None
    for piece in pieces:
        if card and before and before.last <= card.entry.covers_through < piece.first:
            yield card
        if prompt:
            yield from _headings(prompt, before, piece)
        if piece.opened:
            if _begins_shared(session, before, piece, asked):
                yield _shared_heading(held[piece.holder.pk], piece)
            yield from _runs(piece, cards, days)
        else:
            holder = piece.holder if piece.holder.pk != session.pk else None
            tokens = sums.between(piece.first, piece.last)
            yield Folded(piece.first, piece.last, piece.fate, piece.reason, tokens, holder)
        before = piece
    at_end = asked.within is None or asked.to_end
    if card and before and at_end and before.last <= card.entry.covers_through:
        yield card


def _runs(piece: Piece, cards: Mapping[int, RunCard], days: Mapping[int, date]) -> Iterator[StreamItem]:
    for position in range(piece.first, piece.last + 1):
        if position in days:
            yield DayLine(days[position], piece.fate)
        if position in cards:
            yield Shown(cards[position])


def _summary_card(session: Session, prompt: PromptPlan | None, sums: TokenSums) -> SummaryCard | None:
    if prompt is None or prompt.summary_number is None or prompt.covers_through is None:
        return None
    entry = Summary.objects.in_use().filter(session=session, number=prompt.summary_number).first()
    if entry is None:
        return None
    return SummaryCard(entry, sums.through(prompt.covers_through))


def _headings(prompt: PromptPlan, before: Piece | None, piece: Piece) -> Iterator[StreamItem]:
    values, cut = prompt.settings.values, prompt.cut
    if before and cut and before.last == cut.position:
        yield CutLine(cut.position, cut.needs, cut.left)
    offset = values.offset if values.strategy is Strategy.SUMMARY else 0
    if before and piece.opened and offset and piece.first == prompt.finished - offset + 1:
        yield OffsetLine(piece.first, prompt.finished, offset, piece.fate)


def _begins_shared(session: Session, before: Piece | None, piece: Piece, asked: StreamAsked) -> bool:
    """Whether shared runs begin here."""
    if piece.holder.pk == session.pk or asked.is_one_run:
        return False
    return before is None or before.holder.pk != piece.holder.pk or not before.opened


def _shared_heading(held: Stretch, piece: Piece) -> SharedHeading:
    return SharedHeading(held.session, held.first, held.last, piece.fate)
