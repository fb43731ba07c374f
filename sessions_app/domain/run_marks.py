"""Marks for what is left out: a run's answer, and runs between two that are sent."""

from dataclasses import replace

from sessions_app.domain.as_sent import NO_ANSWER, ending_as_sent, is_blank
from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus

ANSWER_NOT_SHOWN = "[answer not shown]"


def gap_mark(runs: int) -> str:
    """Return the mark that stands for so many runs, empty for none."""
    return f"[{runs} run{'s'[: runs != 1]} not shown]" if runs else ""


def with_marks(excerpt: Excerpt, *, gap: int) -> Run:
    """Return what is taken of a run, with marks at its end: `gap` is how many runs are left out behind it."""
    run = excerpt.run
    if not gap and not excerpt.answer_left_out:
        return run
    end = ANSWER_NOT_SHOWN if excerpt.answer_left_out else NO_ANSWER if _waits(run) else ""
    marks = [mark for mark in (ending_as_sent(run) or end, gap_mark(gap)) if mark]
    said = tuple(Event(EventKind.MESSAGE, mark, Role.ASSISTANT) for mark in marks)
    return replace(run, status=RunStatus.COMPLETED, events=(*run.events, *said))


def _waits(run: Run) -> bool:
    """Whether the run does not end with words of the assistant."""
    spoken = [event for event in run.events if event.kind in (EventKind.MESSAGE, EventKind.TOOL_CALL)]
    return not spoken or spoken[-1].role is not Role.ASSISTANT or is_blank(spoken[-1].text)
