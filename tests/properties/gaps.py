"""Judges that runs are lost, where an extract is to stand in for them, only because not even the least one fits."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.domain.recount import count_text
from tests.properties.fates import MOST_EXTRACTED, Judged
from tests.properties.handed_down import bare_request, summary_in_use
from tests.properties.sent import MODELS, Sent, scaled

Plain = dict[str, Any]
# Of the extract itself, under its heading.
LEAST_TOKENS = 8
# For the frames of messages, and for line ends that another counting puts elsewhere.
FRAMES = 12


def gap_faults(judged: Judged, again: Callable[[Plain], Plain]) -> Iterator[str]:
    """With `on_gap` stopgap only what is older than 200 extracted runs is lost, or all if there is no room for any."""
    lost = [position for position, fate in judged.told.items() if fate == "lost"]
    if not lost or judged.sent.asked["settings"]["on_gap"] != "stopgap":
        return
    if judged.extracted:
        if len(judged.extracted) != MOST_EXTRACTED or max(lost) > judged.extracted[0]:
            yield f"gaps: {lost} are lost beside an extract of {judged.extracted}"
        return
    alone = Sent(bare_request(judged.sent.asked), again(bare_request(judged.sent.asked)))
    half, least = (judged.sent.answer["budget"] - alone.tokens) // 2, _least(judged)
    if least <= half:
        yield f"gaps: {lost} are lost though an extract needs {least} tokens at most, of {half}"


def _least(judged: Judged) -> int:
    """Return the most that the first word of the summary in the prompt and an extract of a few words may need."""
    encoding, tenths, _ = MODELS[judged.sent.asked["settings"]["model"]]
    texts = [f"# Instructions\n\n\n# Extract of runs {judged.finished}-{judged.finished}, not summarized yet\n\n\n"]
    entry = summary_in_use(judged.conversation, judged.sent.asked)
    if judged.covered and entry:
        introduction = "Summary of the conversation so far:"
        texts.append(f"# Summary of runs 1-{judged.covered}\n\n\n{introduction} {entry['text'].split()[0]} [shortened]")
    return scaled(sum(count_text(text, encoding) for text in texts) + FRAMES, tenths) + LEAST_TOKENS
