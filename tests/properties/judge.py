"""Judges a built prompt by itself: budget, validity, order, fates, warnings. Imports nothing of the product.

A judgement is a list of sentences, each beginning with the law that is broken; it is empty if all is well.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from tests.properties.fates import Judged, fate_faults
from tests.properties.gaps import gap_faults
from tests.properties.handed_down import handed_down_faults
from tests.properties.necessity import necessity_faults
from tests.properties.refusals import must_be_refused, refusal_faults
from tests.properties.results import result_faults
from tests.properties.seed_again import has_seed_rule, seed_faults
from tests.properties.sent import MODELS, Sent
from tests.properties.speakers import speaker_faults
from tests.properties.wanted import PROVIDER_FORMATS
from tests.provider_rules import broken_rules

Plain = dict[str, Any]
GAP = re.compile(r"\[(\d+) runs? not shown\]")


def faults(
    conversation: Mapping[str, Any],
    asked: Mapping[str, Any],
    answer: Mapping[str, Any],
    again: Callable[[Plain], Plain],
) -> list[str]:
    """Return what is wrong with the answer to a request; `again` asks the engine something else of the same runs."""
    if answer["refusal"]:
        return list(refusal_faults(conversation, asked, answer, again))
    sent = Sent(asked, answer)
    if sent.around is None:
        return ["base: it is not sent as it was given"]
    found = [*budget_faults(sent), *validity_faults(conversation, sent), *fixed_faults(conversation, sent)]
    found += [f"refusals: built in spite of {pointer}" for pointer in must_be_refused(conversation, asked)]
    if has_seed_rule(asked["settings"]):
        return [*found, *seed_faults(conversation, sent)]
    judged = Judged(conversation, sent)
    return [
        *found,
        *handed_down_faults(conversation, sent, again),
        *fate_faults(judged),
        *gap_faults(judged, again),
        *order_faults(judged),
        *result_faults(judged),
        *speaker_faults(judged),
        *necessity_faults(judged, again),
    ]


def budget_faults(sent: Sent) -> Iterator[str]:
    """Recount what is sent; the answer's own sum must be the same, and the budget the smaller of both limits."""
    answer, settings = sent.answer, sent.asked["settings"]
    encoding, tenths, window = MODELS[settings["model"]]
    limits = [settings["max_input_tokens"]] if settings["max_input_tokens"] != "unlimited" else []
    limits += [window - settings["reserve_output_tokens"]] if window else []
    if answer["budget"] != min(limits):
        yield f"budget: it is said to be {answer['budget']}, and is {min(limits)}"
    if sent.tokens - sent.seams > min(limits):
        yield f"budget: {sent.tokens} tokens over {min(limits)}"
    said = answer["tokens"]["total"]
    if not sent.tokens - sent.seams <= said <= sent.tokens + sent.seams + sent.rounding:
        yield f"budget: {said} tokens are told, {sent.tokens} are sent"
    if said > answer["budget"]:
        yield f"budget: {said} tokens are told, over {answer['budget']}"
    if (answer["encoding"], answer["margin"]) != (encoding, tenths / 10):
        yield "budget: another encoding or margin is told"
    if sum(tokens for part, tokens in answer["tokens"].items() if part != "total") != said:
        yield "budget: the parts do not sum to the total"


def validity_faults(conversation: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    """Ask the rules of the provider, for all but the caller's own base."""
    if sent.format not in PROVIDER_FORMATS:
        return
    follows = sent.asked["query"] is None and not is_open_run_asked(conversation, sent.asked)
    inside, behind = sent.around or ([], [])
    lists = [(inside, follows or bool(behind) or sent.asked["base"] is not None), (behind, True)]
    for messages, last_is_history in lists:
        try:
            broken = broken_rules(
                messages, last_is_history=last_is_history, format=sent.format, system=sent.answer["system"]
            )
        except (KeyError, TypeError, ValueError) as error:
            broken = [f"unreadable: {error!r}"]
        yield from (f"validity: {each}" for each in broken)


def is_open_run_asked(conversation: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether the open run, or that of the past turn, is the question."""
    is_open = conversation["runs"][-1]["status"] in ("pending", "running")
    return asked["query"] is None and (is_open if asked["at"] is None else True)


def fixed_faults(conversation: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    """Instructions, context blocks and the query are sent once and whole, and the query comes last."""
    asked, everything = sent.asked, sent.everything
    instructions = conversation["instructions"] if asked["instructions"] is None else asked["instructions"]
    whole = [text for text in (instructions, *asked["context"], asked["query"]) if text]
    yield from (f"fixed: {text!r} is not sent once and whole" for text in whole if everything.count(text) != 1)
    strangers = {"qIz", "qJz", "qQz", "qC0z", "qC1z"} - set(re.findall(r"q\w+z", "\n".join(whole)))
    yield from (f"fixed: {name} is sent unasked" for name in sorted(strangers) if name in everything)
    if asked["query"] is not None and not _ends_with(sent, asked["query"]):
        yield "fixed: the query is not the last"


def _ends_with(sent: Sent, query: str) -> bool:
    if sent.answer["text"] is not None:
        return sent.answer["text"].endswith(f"User: {query}\n\nAssistant:")
    return sent.body.endswith(query)


def order_faults(judged: Judged) -> Iterator[str]:
    """Runs stand in their order, each text of them once, and a mark stands for those between two."""
    sent = judged.sent
    if sent.positions != sorted(sent.positions):
        yield f"order: {sent.positions}"
    times = Counter(re.findall(r"q\d+n\d+z", sent.body))
    yield from (f"order: {marker} is sent {count} times" for marker, count in times.items() if count > 1)
    kept = [position for position, fate in judged.told.items() if fate == "kept" and position <= judged.finished]
    gaps = [after - before - 1 for before, after in pairwise([*kept, judged.finished + 1])]
    marks = [int(number) for number in GAP.findall(sent.body)]
    if marks != [gap for gap in gaps if gap]:
        yield f"order: marks for {marks} runs that are left out, between which {gaps} are"
