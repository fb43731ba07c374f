"""What a prompt shows only in part: runs through a summary, cut tool results; nothing of a parent behind the fork."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sessions_app.domain.causes import Cause
from sessions_app.domain.cut_results import cut_in
from sessions_app.domain.memory_settings import stored_value
from sessions_app.domain.plan import Fate, Prompt
from sessions_app.models import Session
from sessions_app.queries.result_cuts import amounts_left


@dataclass(frozen=True, slots=True)
class Summarized:
    """The runs first..last, which stand in the prompt only as far as summary `number` says them, or an extract."""

    first: int
    last: int
    number: int | None


@dataclass(frozen=True, slots=True)
class CutResults:
    """A run of which the prompt has tool results cut, or a mark in their place, and the setting that did it.

    `left` is how much of them is there.
    """

    position: int
    is_hidden: bool
    cause: Cause
    left: str = ""


@dataclass(frozen=True, slots=True)
class BehindFork:
    """The runs first..last of the conversation that a fork left, said there behind the fork."""

    parent: Session
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class InPart:
    """All of it; `results` at most as many as a page shows, and how many more there are; `runs_cut` have one."""

    summarized: Sequence[Summarized]
    results: Sequence[CutResults]
    more_results: int
    behind_fork: BehindFork | None
    runs_cut: int = 0

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.summarized or self.results or self.behind_fork)


MOST_RESULTS = 5


def seen_in_part(*, session: Session, prompt: Prompt) -> InPart:
    """Return what the prompt of a session shows only in part."""
    results = list(_results(prompt))
    shown = results[-MOST_RESULTS:]
    amounts = amounts_left(session, prompt, {each.position for each in shown if not each.is_hidden})
    return InPart(
        list(_summarized(prompt)),
        [each if each.is_hidden else replace(each, left=amounts.get(each.position, "")) for each in shown],
        len(results) - len(shown),
        _behind_fork(session, prompt.finished),
        runs_cut=len({each.position for each in results}),
    )


def _summarized(prompt: Prompt) -> Iterator[Summarized]:
    first, last = prompt.extract or (0, 0)
    for fates in prompt.fates:
        if fates.fate is Fate.SUMMARIZED:
            is_extract = first <= fates.first <= last
            yield Summarized(fates.first, fates.last, None if is_extract else prompt.summary_number)


def _results(prompt: Prompt) -> Iterator[CutResults]:
    """Yield each run with such a result, once."""
    seen = set[tuple[int, bool]]()
    settings = prompt.settings
    for each in cut_in(prompt):
        key = (each.position, each.is_hidden)
        if key not in seen:
            seen.add(key)
            value = stored_value(getattr(settings.values, each.setting))
            yield CutResults(*key, Cause(each.setting, value, settings.origins[each.setting]))


def _behind_fork(session: Session, finished: int) -> BehindFork | None:
    """Return what the parent has behind the fork, for a prompt that reaches into the fork's own runs."""
    parent, shared = session.parent, session.forked_at
    if parent is None or shared is None or finished < shared or parent.last_position <= shared:
        return None
    return BehindFork(parent, shared + 1, parent.last_position)
