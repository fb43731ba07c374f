"""Tool results that a prompt has cut, or a mark in the place of, and what is told of them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from django.db.models import Q

from sessions_app.domain.as_sent import result_as_sent
from sessions_app.domain.cut_results import CUTTING, HIDING, CutSegment, cut_in
from sessions_app.domain.memory_settings import Layer
from sessions_app.domain.plan import Prompt, PromptPlan
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import EventKind, ToolCall
from sessions_app.models import Event, Session, lineage_runs_at

_LAYERS: Mapping[Layer, str] = {
    Layer.REQUEST: "set by the draft",
    Layer.SESSION: "set by the session",
    Layer.PROJECT: "set by the project",
    Layer.BUILT_IN: "built in",
}


def cut_results(prompt: PromptPlan | None) -> dict[int, list[CutSegment]]:
    """Return what is cut, by the position of its run; where results may be cut, a plan is always a built prompt."""
    found = defaultdict[int, list[CutSegment]](list)
    for each in cut_in(prompt) if isinstance(prompt, Prompt) else ():
        found[each.position].append(each)
    return dict(found)


def differing_results(a: PromptPlan | None, b: PromptPlan) -> set[int]:
    """Return the positions of runs whose results one prompt has cut and the other has not, or has cut otherwise."""
    cut_a, cut_b = cut_results(a), cut_results(b)
    return {position for position in {*cut_a, *cut_b} if _texts(cut_a, position) != _texts(cut_b, position)}


def _texts(cut: Mapping[int, list[CutSegment]], position: int) -> list[str]:
    return [each.segment.text for each in cut.get(position, [])]


def told_cuts(session: Session, prompt: PromptPlan | None, positions: Collection[int]) -> dict[int, str]:
    """Return what is told of the cut results of runs, by position: how much of them is left."""
    cut = {position: found for position, found in cut_results(prompt).items() if position in positions}
    if prompt is None or not cut:
        return {}
    sizes = _sizes(session, cut, prompt.settings.model.counter)
    return {position: "; ".join(_told(found, sizes.get(position, []), prompt)) for position, found in cut.items()}


def amounts_left(session: Session, prompt: Prompt, positions: Collection[int]) -> dict[int, str]:
    """Return how much is left of the results of runs that are cut, by position; a mark leaves nothing of one."""
    cut = {position: found for position, found in cut_results(prompt).items() if position in positions}
    most = prompt.settings.values.tool_result_max_tokens
    if most is None or not cut:
        return {}
    sizes = _sizes(session, cut, prompt.settings.model.counter)
    return {
        position: _amount(most, len(found) - hidden, sizes.get(position, [])[hidden:])
        for position, found in cut.items()
        if (hidden := sum(each.is_hidden for each in found)) < len(found)
    }


def _told(found: list[CutSegment], sizes: list[int], prompt: PromptPlan) -> Iterator[str]:
    """Tell those that are left out, the oldest of the run, then those that are cut."""
    hidden = sum(each.is_hidden for each in found)
    if hidden:
        yield f"{_count(hidden)} left out ({HIDING}, {_layer(prompt, HIDING)})"
    cut = len(found) - hidden
    if cut:
        most = prompt.settings.values.tool_result_max_tokens or 0
        yield f"{_count(cut)} cut: {_amount(most, cut, sizes[hidden:])} ({CUTTING}, {_layer(prompt, CUTTING)})"


def _amount(most: int, cut: int, sizes: list[int]) -> str:
    whole = [size for size in sizes if size > most]
    return f"{most:,} of {whole[0]:,} tokens" if cut == len(whole) == 1 else f"at most {most:,} tokens each"


def _count(results: int) -> str:
    return "a tool result is" if results == 1 else f"{results:,} tool results are"


def _layer(prompt: PromptPlan, name: str) -> str:
    return _LAYERS[prompt.settings.origins[name]]


def _sizes(session: Session, positions: Collection[int], counter: TokenCounter) -> Mapping[int, list[int]]:
    """Return what each result needs whole, in order, by the position of its run."""
    runs = dict(lineage_runs_at(session, positions).values_list("pk", "position"))
    answered = Event.objects.filter(run__in=runs, kind=EventKind.TOOL_CALL).exclude(
        Q(result=None), Q(error=None) | Q(error="")
    )
    sizes = defaultdict[int, list[int]](list)
    for run, result, error in answered.order_by("run", "index").values_list("run", "result", "error"):
        text = result_as_sent(ToolCall("", "", "", result=result, error=error))
        sizes[runs[run]].append(counter.scaled(counter.text(text)))
    return sizes
