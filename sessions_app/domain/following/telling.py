"""What became of followed words, in sentences."""

from collections.abc import Callable, Mapping, Sequence

from sessions_app.domain.following.sights import Interval, Place, Why

PLACE_WORDS: Mapping[Place, str] = {
    Place.WORDS: "Word for word",
    Place.SUMMARY: "In the summary",
    Place.QUESTION: "Only in the question",
    Place.CUT_AWAY: "Cut in a tool result",
    Place.NOWHERE: "Nowhere",
    Place.NOT_SAID: "Not said yet",
}
_MOST_NAMED = 4


def told(intervals: Sequence[Interval], first_said: int | None) -> list[str]:
    """Return why the words were where they were, an interval each; `first_said` is the first run that says them."""
    return [_TELLING[each.why](each, intervals[:place], first_said) for place, each in enumerate(intervals)]


def headline(intervals: Sequence[Interval], words: Sequence[str], turn: int | None = None) -> str:
    """Return what matters most of the intervals, `words` being what is told of each: where they were missing.

    Of several such intervals it is the one of the turn, or the first.
    """
    missing = [place for place, each in enumerate(intervals) if each.is_missing]
    chosen = [
        place for place in missing if turn is not None and intervals[place].first <= turn <= intervals[place].last
    ]
    if missing:
        place = (chosen or missing)[0]
        behind = intervals[place + 1 : place + 2]
        asked = [f"; at {_turns(each)} only the question itself says it" for each in behind if _is_asked(each)]
        return f"Missing in {_named(intervals[place])}{''.join(asked)}: {words[place]}"
    asking = [each for each in intervals if _is_asked(each)]
    if asking:
        return f"At {_named(asking[0])} only the question itself says it"
    if all(each.place is Place.NOT_SAID for each in intervals):
        return "Only the newest run says it, and no turn came after it yet" if intervals else "There is no turn yet"
    return "Every prompt had it since it was said"


def _is_asked(interval: Interval) -> bool:
    return interval.place is Place.QUESTION


def _named(interval: Interval) -> str:
    return f"turn{'s' if interval.count > 1 else ''} {_turns(interval)}"


def _turns(interval: Interval) -> str:
    return f"{interval.first:,}" if interval.count == 1 else f"{interval.first:,} to {interval.last:,}"


def _not_said(interval: Interval, before: Sequence[Interval], first_said: int | None) -> str:  # noqa: ARG001
    if first_said is None or first_said > interval.last:
        return "no run says it before"
    return f"run {first_said:,} says it first; from turn {first_said + 1:,} on it can be in a prompt"


def _in_run(interval: Interval, before: Sequence[Interval], first_said: int | None) -> str:  # noqa: ARG001
    is_again = bool(before) and before[-1].is_forgotten
    if len(interval.runs) == 1:
        return f"run {interval.runs[0]:,} {'says it again' if is_again else 'in the prompt'}"
    return f"{_runs(interval.runs)} in the prompt"


def _in_summary(interval: Interval, before: Sequence[Interval], first_said: int | None) -> str:  # noqa: ARG001
    return ", then ".join(f"#{number}" for number in interval.summaries[-_MOST_NAMED:]) or "in the summary"


def _summarized_away(interval: Interval, before: Sequence[Interval], first_said: int | None) -> str:  # noqa: ARG001
    number, run = interval.summaries[0], interval.runs[-1]
    if before and before[-1].why is Why.IN_SUMMARY:
        return f"left at summary #{number}, which covers run {run:,} without it"
    return f"summary #{number} covers run {run:,} without it"


def _lost(interval: Interval, before: Sequence[Interval], first_said: int | None) -> str:  # noqa: ARG001
    summary = f"not in #{interval.summaries[-1]}" if interval.summaries else "not summarized yet"
    return f"run {interval.runs[-1]:,} is lost: dropped by the budget, {summary}"


def _says(sentence: str) -> Callable[[Interval, Sequence[Interval], int | None], str]:
    """Return what tells a sentence; in it {run} is the newest run that says the words."""

    def tell(interval: Interval, before: Sequence[Interval], first_said: int | None) -> str:  # noqa: ARG001
        run = f"run {interval.runs[-1]:,}" if interval.runs else "the run"
        return sentence.format(run=run)

    return tell


def _runs(runs: Sequence[int]) -> str:
    if len(runs) > _MOST_NAMED:
        return f"{len(runs):,} runs, the newest run {runs[-1]:,},"
    *others, last = (f"{run:,}" for run in runs)
    return f"runs {', '.join(others)} and {last}"


_TELLING: Mapping[Why, Callable[[Interval, Sequence[Interval], int | None], str]] = {
    Why.NOT_SAID: _not_said,
    Why.IN_RUN: _in_run,
    Why.IN_SUMMARY: _in_summary,
    Why.IN_INSTRUCTIONS: _says("the instructions say it"),
    Why.IN_PARENT: _says("in what the parent handed down"),
    Why.IN_EXTRACT: _says("in the stopgap extract of runs that did not fit"),
    Why.IN_QUESTION: _says("only the question itself says it; {run}, which told it before, is not in the prompt"),
    Why.ASKED_RESULT_CUT: _says(
        "only the question itself says it; {run}, which told it before, is in the prompt with its tool result shortened"
    ),
    Why.ASKED_RESULT_HIDDEN: _says(
        "only the question itself says it; {run}, which told it before, is in the prompt "
        "with a mark in the place of its tool result"
    ),
    Why.ASKED_PART_LEFT_OUT: _says(
        "only the question itself says it; {run}, which told it before, is in the prompt without that part"
    ),
    Why.RESULT_CUT: _says("{run} is in the prompt, but its tool result is shortened"),
    Why.RESULT_HIDDEN: _says("{run} is in the prompt, but a mark stands in the place of its tool result"),
    Why.SUMMARIZED_AWAY: _summarized_away,
    Why.EXTRACTED_AWAY: _says("{run} does not fit, and the stopgap extract leaves it out"),
    Why.CAPPED: _says("{run} is no longer remembered"),
    Why.LAST_N: _says("{run} is not among the newest that are sent"),
    Why.STRATEGY: _says("the strategy leaves {run} out"),
    Why.PART_LEFT_OUT: _says("only another part of {run} is sent"),
    Why.FORMAT: _says("{run} is in the prompt, but its format sends no tool calls"),
    Why.UNFINISHED: _says("{run} never finished"),
    Why.PRUNED: _says("{run} is pruned: dropped by the budget, and the strategy does not summarize"),
    Why.LOST: _lost,
    Why.NO_PROMPT: _says("no prompt could be built"),
}
