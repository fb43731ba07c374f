"""The figures over all turns of a replay, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django import template

from sessions_app.domain.plan import Fate
from sessions_app.domain.replays.replayed import ReplayTotals
from sessions_app.queries.comparison_views import CUT_RESULTS
from sessions_app.queries.replay_views import ReplayedSide, TurnFigures, side_at
from sessions_app.templatetags.comparisons import MINUS, exact_money, figure_change
from sessions_app.templatetags.formats import NOTHING, number

register = template.Library()

PART_CACHED, NOTHING_CACHED = "Input cost, part cached", "Input cost, nothing cached"
COSTS = {
    PART_CACHED: "What the input of the prompts of this session costs if the provider reuses what is repeated",
    NOTHING_CACHED: "What it costs if nothing is reused, every token at the full price",
}


@register.simple_tag
def shows_cuts(sides: Sequence[ReplayedSide]) -> bool:
    """Whether any tool result is cut at any turn."""
    return any(side.totals.turns_with_cut_results for side in sides)


@register.simple_tag
def fates_shown(sides: Sequence[ReplayedSide]) -> list[Fate]:
    """Return the fates that any run has at any turn, in the order of precedence."""
    columns = [side.replay.columns for side in sides]
    return [fate for fate in Fate if any(any(each[fate]) for each in columns)]


@register.simple_tag
def assumptions(sides: Sequence[ReplayedSide]) -> list[tuple[list[str], str]]:
    """Return what is taken for granted, each once, with the letters of the settings for which it holds."""
    told: dict[str, list[str]] = {}
    for side in sides:
        for sentence in side.replay.assumptions:
            told.setdefault(sentence, []).append(side.key)
    return [(keys, sentence) for sentence, keys in sorted(told.items(), key=lambda each: -len(each[1]))]


@register.filter
def nth(items: Sequence[TurnFigures], place: int) -> TurnFigures:
    """Return the item at a place, from 0 on."""
    return items[place]


@dataclass(frozen=True, slots=True)
class Total:
    """A figure over all turns: for each setting, by its letter, the words and a smaller note."""

    name: str
    lines: Sequence[tuple[str, str, str]]
    help: str


@register.simple_tag
def replay_totals(sides: Sequence[ReplayedSide]) -> list[Total]:
    """Return the figures over all turns, side by side; the second's notes say by how much it differs."""
    last = [side_at(side, side.totals.turns) for side in sides]
    unseen = [each.unseen for each in last]
    totals = [side.totals for side in sides]
    costs = {
        PART_CACHED: [each.cached_input_cost for each in totals],
        NOTHING_CACHED: [each.input_cost for each in totals],
    }
    nothing = [""] * len(totals)
    return [
        Total(
            "Cannot see, last turn",
            _lines(sides, [_runs(each) for each in unseen], _changes(unseen)),
            "Runs that are neither word for word nor in the summary in the last prompt of this session",
        ),
        *_turns_counted(sides),
        Total(
            "Prompt tokens, all turns",
            _lines(sides, [number(each.tokens) for each in totals], _shares([each.tokens for each in totals])),
            "What all prompts of this session send together",
        ),
        Total(
            "Same beginning as the turn before",
            _lines(sides, [_share(each.stable_prefix, each.tokens) for each in totals], nothing),
            "How much of the prompts begins word for word like the one before: a cache can reuse it at a lower price",
        ),
        *(
            Total(name, _lines(sides, [*map(exact_money, each)], _shares(each)), COSTS[name])
            for name, each in costs.items()
        ),
        Total(
            "Summaries",
            _lines(sides, [_summary_words(each) for each in totals], nothing),
            "How many would be made for this session, and what that costs",
        ),
    ]


def _turns_counted(sides: Sequence[ReplayedSide]) -> Iterator[Total]:
    """Yield in how many turns runs are lost and, if any are, tool results are cut."""
    losing = [side.totals.turns_with_lost for side in sides]
    help_ = "Turns whose prompt left out runs that no summary had yet"
    yield Total("Turns with lost runs", _lines(sides, [*map(number, losing)], _changes(losing)), help_)
    if shows_cuts(sides):
        cutting = [side.totals.turns_with_cut_results for side in sides]
        lines = _lines(sides, [*map(number, cutting)], _changes(cutting))
        yield Total("Turns with cut tool results", lines, CUT_RESULTS)


def _lines(sides: Sequence[ReplayedSide], words: Sequence[str], notes: Sequence[str]) -> list[tuple[str, str, str]]:
    return [(side.key, word, note) for side, word, note in zip(sides, words, notes, strict=True)]


def _changes(counts: Sequence[int]) -> list[str]:
    """Return how much each count differs from the first, signed; nothing for the first."""
    return ["" if count == counts[0] else figure_change(count - counts[0]) for count in counts]


def _shares(amounts: Sequence[int | Decimal | None]) -> list[str]:
    """Return by what share each amount differs from the first, signed; nothing for the first."""
    base = amounts[0] if amounts else None
    if not base:
        return [""] * len(amounts)
    shares = [None if each is None else 100 * float(each - base) / float(base) for each in amounts]
    return ["" if not share else f"{share:+.1f} %".replace("-", MINUS) for share in shares]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def _runs(count: int) -> str:
    return f"{number(count)} run{'' if count == 1 else 's'}"


def _summary_words(totals: ReplayTotals) -> str:
    return f"{number(totals.summaries)} · {exact_money(totals.summary_cost)}" if totals.summaries else "none"
