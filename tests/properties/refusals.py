"""Judges refusals: each kind is right only where what it says is so."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.properties.handed_down import bare_request
from tests.properties.seed_again import has_seed_rule
from tests.properties.sent import MODELS, Sent

Plain = dict[str, Any]
ROOMY = 5_000_000
BUDGETLESS = {"gpt-4": "gpt-4-turbo"}
LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def must_be_refused(conversation: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return where a request asks for what cannot be."""
    pointers = ["/query"] if asked["query"] is not None and not asked["query"].strip() else []
    pointers += [f"/context/{place}" for place, text in enumerate(asked["context"]) if not text.strip()]
    pointers += [
        f"/tools/{place}/function/name"
        for place, tool in enumerate(asked["tools"])
        if not LEGAL_NAME.fullmatch(tool["function"]["name"])
    ]
    if asked["at"] is not None and not 1 <= asked["at"] <= len(conversation["runs"]):
        pointers.append("/at")
    return [*pointers, *_base_faults(asked)]


def _base_faults(asked: Mapping[str, Any]) -> list[str]:
    if asked["base"] is None:
        return []
    if asked["settings"]["format"] not in ("openai", "text"):
        return ["/base"]
    roles = [message["role"] for message in asked["base"]["messages"]]
    return [f"/base/messages/{place}/role" for place, role in enumerate(roles) if role == "nobody"]


def refusal_faults(
    conversation: Mapping[str, Any],
    asked: Mapping[str, Any],
    answer: Mapping[str, Any],
    again: Callable[[Plain], Plain],
) -> Iterator[str]:
    """Return why a refusal is wrong."""
    settings = asked["settings"]
    match answer["refusal"]:
        case "InvalidInput":
            if not answer["pointers"] or set(answer["pointers"]) - set(must_be_refused(conversation, asked)):
                yield f"refusals: of {answer['pointers']}, which are right"
        case "WindowUnknown":
            if MODELS[settings["model"]][2] is not None or settings["max_input_tokens"] != "unlimited":
                yield "refusals: for a window that is known"
        case "RunsLost":
            other = again(_with(asked, on_gap="warn"))
            if settings["on_gap"] != "error" or "lost" not in _fates(other):
                yield "refusals: for lost runs that are not"
        case "BudgetTooSmall":
            yield from _budget_faults(asked, answer, again)
        case other:
            yield f"refusals: {other} is not for prompts"


def _budget_faults(
    asked: Mapping[str, Any], answer: Mapping[str, Any], again: Callable[[Plain], Plain]
) -> Iterator[str]:
    """Fixed parts that do not fit, or a history that does not and may not be pruned."""
    settings = asked["settings"]
    _, _, window = MODELS[settings["model"]]
    limits = [settings["max_input_tokens"]] if settings["max_input_tokens"] != "unlimited" else []
    budget = min([*limits, *([window - settings["reserve_output_tokens"]] if window else [])])
    if sum(answer["needs"].values()) <= budget:
        yield f"refusals: {answer['needs']} would fit {budget}"
    model = BUDGETLESS.get(settings["model"], settings["model"])
    bare = bare_request(_with(asked, max_input_tokens=ROOMY, model=model))
    alone = again(bare)
    if alone["refusal"]:
        yield f"refusals: the fixed parts are refused where there is room: {alone['detail']}"
    elif _most(Sent(bare, alone)) > budget:
        return
    elif settings["autoprune"]:
        yield f"refusals: the fixed parts need {Sent(bare, alone).tokens}, the budget is {budget}"
    elif not _drops(asked, again):
        yield "refusals: of a history that fits"


def _most(sent: Sent) -> int:
    """Return the most that a right count may give."""
    return sent.tokens + sent.seams + sent.rounding


def _drops(asked: Mapping[str, Any], again: Callable[[Plain], Plain]) -> bool:
    """Whether runs are dropped or cut where that is allowed; of the seed's dictionaries any."""
    pruned = again(_with(asked, autoprune=True, on_gap="warn"))
    codes = {warning["code"] for warning in pruned["warnings"]}
    if {"pruned", "lost"} & _fates(pruned) or "newest_run_shortened" in codes:
        return True
    whole = again(_with(asked, autoprune=True, max_input_tokens=ROOMY))
    return has_seed_rule(asked["settings"]) and whole["tokens"]["runs"] > pruned["tokens"]["runs"]


def _fates(answer: Mapping[str, Any]) -> set[str]:
    return {each["fate"] for each in answer.get("fates", ())}


def _with(asked: Mapping[str, Any], **settings: Any) -> Plain:
    return {**asked, "settings": asked["settings"] | settings}
