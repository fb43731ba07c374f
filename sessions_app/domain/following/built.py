"""Where a prompt that was built has the words, and if it has not, why."""

from sessions_app.domain.fates import NEVER_FINISHED, STOPGAP_EXTRACT
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import Hit, Part, Sight, Why
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.pieces import TOOL_CALLS
from sessions_app.domain.plan import Fate, FateRange, Prompt, Segment
from sessions_app.domain.plan import Part as PromptPart
from sessions_app.domain.tool_results import RESULT_NOT_SHOWN


def sight_in(prompt: Prompt, phrase: Phrase, hit: Hit | None) -> Sight:
    """Return where a prompt has the words; `hit` is the newest run of its history that says them, None if none does."""
    saying = [segment for segment in prompt.segments if says(segment, phrase)]
    for part, why in _IN_ORDER:
        found = [segment for segment in saying if segment.part is part]
        if found:
            said = None if part is PromptPart.INSTRUCTIONS or hit is None else hit.position
            run = found[-1].position if part is PromptPart.RUNS else said
            return Sight(_extract(found[-1], why), run, prompt.summary_number)
    if hit is None:
        return Sight(Why.NOT_SAID, None, prompt.summary_number)
    return Sight(_why(prompt, hit), hit.position, prompt.summary_number)


_IN_ORDER = (
    (PromptPart.INSTRUCTIONS, Why.IN_INSTRUCTIONS),
    (PromptPart.RUNS, Why.IN_RUN),
    (PromptPart.SUMMARY, Why.IN_SUMMARY),
    (PromptPart.PARENT_CONTEXT, Why.IN_PARENT),
)


def says(segment: Segment, phrase: Phrase) -> bool:
    """Whether a piece of a prompt says the words, a tool call in its name or arguments too."""
    return phrase.is_in(segment.text) or any(phrase.is_in(text) for call in segment.calls for text in call)


def _extract(segment: Segment, why: Why) -> Why:
    return Why.IN_EXTRACT if why is Why.IN_SUMMARY and segment.heading.startswith("Extract") else why


def _why(prompt: Prompt, hit: Hit) -> Why:
    fates = next((each for each in prompt.fates if each.first <= hit.position <= each.last), None)
    if fates is None or fates.fate is Fate.KEPT:
        return _kept_without(prompt, hit)
    if fates.fate is Fate.SKIPPED:
        return _skipped(fates)
    if fates.fate is Fate.SUMMARIZED:
        return Why.EXTRACTED_AWAY if fates.reason == STOPGAP_EXTRACT else Why.SUMMARIZED_AWAY
    return _DROPPED[fates.fate]


_DROPPED = {Fate.CAPPED: Why.CAPPED, Fate.PRUNED: Why.PRUNED, Fate.LOST: Why.LOST}


def _skipped(fates: FateRange) -> Why:
    if fates.reason == NEVER_FINISHED:
        return Why.UNFINISHED
    return Why.LAST_N if fates.reason.startswith("last_n ") else Why.STRATEGY


def _kept_without(prompt: Prompt, hit: Hit) -> Why:
    hidden = any(segment.position == hit.position and segment.text == RESULT_NOT_SHOWN for segment in prompt.segments)
    reasons = (each.reason for each in prompt.fates if each.first <= hit.position <= each.last)
    return kept_without(hit, prompt.settings.values, left_out=next(reasons, ""), hidden=hidden)


def kept_without(hit: Hit, values: MemorySettings, *, left_out: str, hidden: bool) -> Why:
    """Return why a run that is in the prompt does not say the words there.

    `left_out` is what its format leaves out, in words; `hidden`: a mark stands in the place of its results.
    """
    if TOOL_CALLS in left_out and hit.parts <= {Part.TOOL_CALL, Part.TOOL_RESULT}:
        return Why.FORMAT
    if hit.parts != {Part.TOOL_RESULT}:
        return Why.PART_LEFT_OUT
    if hidden:
        return Why.RESULT_HIDDEN
    return Why.PART_LEFT_OUT if values.tool_result_max_tokens is None else Why.RESULT_CUT
