"""Tool results that a prompt has cut, or a mark in the place of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sessions_app.domain.as_sent import ERROR
from sessions_app.domain.plan import Prompt, Segment
from sessions_app.domain.text_cutting import CUT_MARK
from sessions_app.domain.tool_results import NO_ROOM, RESULT_NOT_SHOWN

HIDING = "keep_tool_results"
CUTTING = "tool_result_max_tokens"
_SPEAKERS = ("user", "assistant", "system")


@dataclass(frozen=True, slots=True)
class CutSegment:
    """A piece of a prompt that is a run's tool result, cut, or if it `is_hidden`, the mark in its place."""

    position: int
    is_hidden: bool
    segment: Segment

    @property
    def setting(self) -> str:
        """The setting that did it."""
        return HIDING if self.is_hidden else CUTTING


def cut_segments(segments: Iterable[Segment], *, keep: int | None, tokens: int | None) -> Iterator[CutSegment]:
    """Yield them in order; `keep` newest results of `tokens` at most were to stay whole, None: any."""
    if keep is None and tokens is None:
        return
    for segment in segments:
        if segment.position is None or segment.role in _SPEAKERS:
            continue
        found = CutSegment(segment.position, segment.text == RESULT_NOT_SHOWN, segment)
        if keep is not None if found.is_hidden else tokens is not None and _is_cut(segment.text):
            yield found


def cut_in(prompt: Prompt) -> Iterator[CutSegment]:
    """Yield those of a prompt in order."""
    values = prompt.settings.values
    yield from cut_segments(prompt.segments, keep=values.keep_tool_results, tokens=values.tool_result_max_tokens)


def count_cut_results(prompt: Prompt) -> int:
    """Return how many tool results of a prompt are cut, or have a mark in their place."""
    return sum(1 for _ in cut_in(prompt))


def _is_cut(text: str) -> bool:
    """Whether a result is cut, at its end or before its error."""
    return text == NO_ROOM or text.endswith(CUT_MARK) or f"{CUT_MARK}\n{ERROR}" in text
