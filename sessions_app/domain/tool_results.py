"""Tool results on their way into a prompt: only the newest stay whole, and none is longer than it may be."""

from dataclasses import dataclass, replace

from sessions_app.domain.as_sent import result_as_sent
from sessions_app.domain.text_cutting import CUT_MARK, cut_anywhere
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Event, Run, ToolCall

RESULT_NOT_SHOWN = "[result not shown]"
NO_ROOM = "…"


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """At most `keep` newest results of a prompt stay whole, each of at most `tokens`; None means unlimited."""

    keep: int | None
    tokens: int | None
    counter: TokenCounter

    def counted(self, results: int) -> int:
        """Return how many newer results an older run is told of: where so many are kept anyway, more change nothing."""
        return min(results, self.keep or 0)

    def applied(self, run: Run, *, newer: int) -> Run:
        """Return the run with its results as they are sent; `newer` results stand behind it in the prompt."""
        if self.keep is None and self.tokens is None:
            return run
        hidden = 0 if self.keep is None else results_in(run) - max(0, self.keep - newer)
        events = []
        for event in run.events:
            if event.tool is not None and _has_result(event):
                events.append(replace(event, tool=self._hidden(event.tool) if hidden > 0 else self._cut(event.tool)))
                hidden -= 1
            else:
                events.append(event)
        return replace(run, events=tuple(events))

    def _hidden(self, call: ToolCall) -> ToolCall:
        return replace(call, result=RESULT_NOT_SHOWN, error=None)

    def _cut(self, call: ToolCall) -> ToolCall:
        """Cut the result, or where even its beginning finds no room beside the error, the error alone, marked too."""
        if self._fits(call):
            return call
        result = call.result and cut_anywhere(call.result, fits=lambda text: self._fits(replace(call, result=text)))
        if result or not call.error:
            return replace(call, result=result or NO_ROOM)
        bare = replace(call, result=None)
        error = cut_anywhere(
            call.error, fits=lambda text: text.endswith(CUT_MARK) and self._fits(replace(bare, error=text))
        )
        return replace(bare, error=error) if error else replace(bare, result=NO_ROOM, error=None)

    def _fits(self, call: ToolCall) -> bool:
        return self.tokens is None or self.counter.scaled(self.counter.text(result_as_sent(call))) <= self.tokens


def results_in(run: Run) -> int:
    """Return how many results the run holds."""
    return sum(map(_has_result, run.events))


def _has_result(event: Event) -> bool:
    return event.tool is not None and (event.tool.result is not None or bool(event.tool.error))
