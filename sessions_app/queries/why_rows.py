"""The Why table: every run's fate under two settings, newest first, as the budget is filled."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from sessions_app.domain.fates import STOPGAP_EXTRACT
from sessions_app.domain.plan import Fate, PromptPlan
from sessions_app.models import Session, Stretch
from sessions_app.queries.bands import Band, Piece, Span, bands_of, bands_within, newest_window, pieces_of
from sessions_app.queries.result_cuts import differing_results, told_cuts
from sessions_app.queries.run_inputs import run_inputs
from sessions_app.queries.token_sums import TokenSums, token_sums

CHANGED = "changed"
REASONS: Mapping[str, str] = {STOPGAP_EXTRACT: "stopgap extract: does not fit and is not summarized yet"}


@dataclass(frozen=True, slots=True)
class WhyRow:
    """Run first, or the runs first..last as a group; `used` is what the runs from here on up need of the budget."""

    first: int
    last: int
    grouped: bool
    input: str
    tokens: int
    look_a: str
    look_b: str
    reason: str
    used: int | None
    results_differ: bool = False
    kind: str = "run"

    @property
    def count(self) -> int:
        """How many runs the row stands for."""
        return self.last - self.first + 1

    @property
    def differs(self) -> bool:
        """Whether the fate differs between A and B, or what of its tool results is sent."""
        return self.results_differ or (bool(self.look_a and self.look_b) and self.look_a != self.look_b)

    @property
    def parts(self) -> list[tuple[str, int]]:
        """What the bar of the used budget draws."""
        return [(Fate.KEPT, self.used or 0)]

    @property
    def used_text(self) -> str:
        """The bar in words."""
        return f"{self.used or 0:,} tokens used"


@dataclass(frozen=True, slots=True)
class BudgetCut:
    """Where the budget ended: `left` of `room` tokens, run `position` needs more."""

    left: int
    position: int
    needs: int
    kind: str = "cut"


@dataclass(frozen=True, slots=True)
class WhyTable:
    """The rows, the tokens that runs may need under B, and the counts of the filters."""

    rows: Sequence[WhyRow | BudgetCut]
    room: int
    counts: Mapping[Fate, int]
    changed: int


@dataclass(frozen=True, slots=True)
class WhyAsked:
    """What is asked for: a fate under B or CHANGED, a span to open, a span to stay within."""

    only: str = ""
    opened: Span | None = None
    within: Span | None = None


def why_table(*, session: Session, a: PromptPlan | None, b: PromptPlan, asked: WhyAsked) -> WhyTable:
    """Return the table under the prompts A and B; its cost does not grow with the session."""
    bands_a = bands_of(a, session.last_position)
    bands_b = list(_cut_at(bands_of(b, session.last_position), bands_a))
    others = differing_results(a, b) if a else set[int]()
    bands = _asked_for(bands_b, bands_a, others, asked)
    only = set(Fate) if asked.only else None
    window = [] if asked.within else newest_window(bands, only=only)
    opened = [*window, *([asked.opened] if asked.opened else [])]
    whole = [Stretch(session, 1, session.last_position)]
    pieces = pieces_of(bands, stretches=whole, opened=opened)[::-1]
    return WhyTable(
        rows=list(_rows(session, a, b, pieces, others)),
        room=_room(b),
        counts={fate: sum(band.count for band in bands_b if band.fate is fate) for fate in Fate},
        changed=sum(band.count for band in _changed_bands(bands_b, bands_a, others)),
    )


def _cut_at(bands: Sequence[Band], others: Sequence[Band]) -> Iterator[Band]:
    """Cut bands wherever one of the others begins, so that each has one fate among the others too."""
    for band in bands:
        starts = [band.first, *(other.first for other in others if band.first < other.first <= band.last)]
        for first, following in zip(starts, [*starts[1:], band.last + 1], strict=True):
            yield replace(band, first=first, last=following - 1)


def _asked_for(bands: list[Band], bands_a: Sequence[Band], others: Collection[int], asked: WhyAsked) -> list[Band]:
    if asked.within:
        bands = bands_within(bands, asked.within)
    if asked.only == CHANGED:
        return list(_changed_bands(bands, bands_a, others))
    return [band for band in bands if not asked.only or band.fate == asked.only]


def _changed_bands(bands: Sequence[Band], bands_a: Sequence[Band], others: Collection[int]) -> Iterator[Band]:
    """Yield those of another fate under A, and of the rest the runs whose tool results are others."""
    for band in bands:
        if _changed(band, bands_a):
            yield band
            continue
        within = sorted(position for position in others if band.first <= position <= band.last)
        starts = [p for p in within if p - 1 not in others or p == band.first]
        ends = [p for p in within if p + 1 not in others or p == band.last]
        yield from (replace(band, first=first, last=last) for first, last in zip(starts, ends, strict=True))


def _changed(band: Band, bands_a: Sequence[Band]) -> bool:
    fate = _fate_at(bands_a, band.first)
    return fate is not None and fate is not band.fate


def _fate_at(bands: Sequence[Band], position: int) -> Fate | None:
    return next((band.fate for band in bands if band.first <= position <= band.last), None)


def _room(prompt: PromptPlan) -> int:
    return prompt.free + prompt.tokens.runs


def _rows(
    session: Session,
    a: PromptPlan | None,
    b: PromptPlan,
    pieces: Sequence[Piece],
    others: set[int],
) -> Iterator[WhyRow | BudgetCut]:
    singles = [p for piece in pieces if piece.opened for p in range(piece.last, piece.first - 1, -1)]
    edges = {edge for piece in pieces for edge in (piece.first, piece.last)}
    sums, inputs = token_sums(session, {*singles, *edges, b.finished}), run_inputs(session, singles)
    bands_a, cuts = bands_of(a, session.last_position), told_cuts(session, b, singles)
    cuts_a = told_cuts(session, a, others.intersection(singles).difference(cuts))
    exact, used = b.run_tokens, _used(b)
    for piece in pieces:
        if b.cut and piece.last == b.cut.position:
            yield BudgetCut(b.cut.left, b.cut.position, b.cut.needs)
        spans = [Span(p, p) for p in range(piece.last, piece.first - 1, -1)] if piece.opened else [piece]
        for span in spans:
            under_a = f"under A {cuts_a[span.first]}" if span.first in cuts_a else ""
            told = (cuts.get(span.first) or under_a) if piece.opened else ""
            reason = "; ".join(filter(None, (REASONS.get(piece.reason, piece.reason), told)))
            yield WhyRow(
                first=span.first,
                last=span.last,
                grouped=not piece.opened,
                input=inputs.get(span.first, "") if piece.opened else "",
                tokens=_tokens(exact, sums, span.first, span.last),
                look_a="query" if a and span.first == a.open_position else str(_fate_at(bands_a, span.first) or ""),
                look_b="query" if span.first == b.open_position else str(piece.fate),
                reason=reason,
                used=used.get(span.first, sums.between(span.first, b.finished)) if _takes_room(piece, b) else None,
                results_differ=any(span.first <= position <= span.last for position in others),
            )


def _tokens(exact: Mapping[int, int], sums: TokenSums, first: int, last: int) -> int:
    kept = [exact[position] for position in exact if first <= position <= last]
    return sum(kept) if len(kept) == last - first + 1 else sums.between(first, last)


def _takes_room(piece: Piece, prompt: PromptPlan) -> bool:
    return piece.fate is Fate.KEPT and piece.first != prompt.open_position


def _used(prompt: PromptPlan) -> Mapping[int, int]:
    """Return what the runs from each one on up need, by position, where that is not what is stored with them."""
    history = sorted((position for position in prompt.run_tokens if position != prompt.open_position), reverse=True)
    return dict(zip(history, accumulate(prompt.run_tokens[position] for position in history), strict=True))
