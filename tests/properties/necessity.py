"""Judges that what is dropped had to be: with so many tokens more it is sent, and that is over the limit."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.properties.fates import Judged
from tests.properties.requests import with_settings
from tests.properties.sent import SLICE, Sent
from tests.properties.wanted import strings_in

Plain = dict[str, Any]
# A run put between others changes the marks of how many are left out.
MARKS = 20
MOVING = {"summary_cut", "parent_context_cut", "runs_extracted", "newest_run_shortened"}


def necessity_faults(judged: Judged, again: Callable[[Plain], Plain]) -> Iterator[str]:
    """Build again, the same and with the tokens that were missing; a quarter of all prompts will do."""
    answer, asked = judged.sent.answer, dict(judged.sent.asked)
    if int(answer["fingerprint"][-1], 16) % 4:
        return
    if again(asked) != answer:
        yield "again: the same request gives another prompt"
    if answer["cut"] is not None and _is_settled(judged):
        yield from _cut_faults(judged, again)


def _is_settled(judged: Judged) -> bool:
    """Whether nothing but the runs gets more room under a higher limit."""
    sent = judged.sent
    return not judged.codes & MOVING and sent.answer["budget"] == sent.asked["settings"]["max_input_tokens"]


def _cut_faults(judged: Judged, again: Callable[[Plain], Plain]) -> Iterator[str]:
    sent, cut = judged.sent, judged.sent.answer["cut"]
    kept = sum(judged.told.get(want.position) == "kept" for want in judged.wanted)
    if kept == len(judged.wanted) or cut["position"] != judged.wanted[kept].position:
        yield f"fates: the budget is said to end at run {cut['position']}"
    missing = cut["needs"] - cut["left"]
    if missing <= 0:
        yield f"fates: run {cut['position']} is dropped though it is said to fit"
        return
    marks = MARKS if sent.asked["settings"]["strategy"] == "head_tail" else 0
    asked = with_settings(sent.asked, max_input_tokens=sent.answer["budget"] + missing + marks)
    answer = again(asked)
    if not answer["refusal"]:
        yield from _more_faults(judged, Judged(judged.conversation, Sent(asked, answer)))


def _more_faults(judged: Judged, more: Judged) -> Iterator[str]:
    position = judged.sent.answer["cut"]["position"]
    if not _is_settled(more):
        return
    # The whole of a text in slices may need a token more than its parts.
    if any(len(text) > SLICE for text in strings_in(judged.conversation["runs"][position - 1]["events"])):
        return
    if more.told.get(position) != "kept":
        yield f"fates: run {position} is dropped with the tokens that it is said to need, too"
    elif more.sent.tokens + more.sent.seams + more.sent.rounding <= judged.sent.answer["budget"]:
        yield f"fates: run {position} is dropped though it fits"
