"""About how long replaying takes, so that nobody waits unawares; measured on a machine of 2024, in milliseconds."""

from typing import Final

from sessions_app.domain.memory_settings import EffectiveSettings, Strategy
from sessions_app.domain.replays.replay import check_replayable
from sessions_app.domain.run_tokens import are_exact

# A turn that is decided from stored sums, one whose run is read and rendered, one whose prompt is built.
FROM_SUMS, RENDERED, BUILT = 0.03, 0.3, 0.65
EACH_TOKEN = 0.0003
# Where results may be cut, each is counted at several lengths.
EACH_TOKEN_CUT = 0.0009

_FROM_SUMS: Final = frozenset({Strategy.BUFFER, Strategy.SUMMARY, Strategy.TOOL})
_BUILT: Final = frozenset({Strategy.MINIMAL, Strategy.TASK, Strategy.HIERARCHICAL})


def milliseconds(settings: EffectiveSettings, *, turns: int, tokens: int) -> float:
    """Estimate a replay of so many turns that need so many tokens in all; raises what `check_replayable` raises."""
    terms = check_replayable(settings)
    each_token = EACH_TOKEN if terms.values.tool_result_max_tokens is None else EACH_TOKEN_CUT
    if terms.values.strategy in _BUILT:
        return turns * BUILT + tokens * each_token
    if terms.values.strategy in _FROM_SUMS and are_exact(terms.values, terms.counter):
        return turns * FROM_SUMS
    return turns * RENDERED + tokens * each_token
