"""Judges tool results: only the newest stay whole where that is asked, and none is longer than it may be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.domain.recount import count_text
from tests.properties.fates import Judged
from tests.properties.sent import MODELS, scaled
from tests.properties.wanted import PROVIDER_FORMATS, markers

HIDDEN = "[result not shown]"
SHORT = ("…", "[no result]", HIDDEN)


def result_faults(judged: Judged) -> Iterator[str]:
    """Judge the results of the providers' formats, where runs are not cut."""
    sent, settings = judged.sent, judged.sent.asked["settings"]
    if sent.format not in PROVIDER_FORMATS or "newest_run_shortened" in judged.codes:
        return
    texts = [text for message in sent.own for text in _texts(message)]
    most, keep = settings["tool_result_max_tokens"], settings["keep_tool_results"]
    encoding, tenths, _ = MODELS[settings["model"]]
    if most != "unlimited":
        counts = [scaled(count_text(text, encoding), tenths) for text in texts if text not in SHORT]
        yield from (f"results: one of {count} tokens, {most} are allowed" for count in counts if count > most)
    results = _results(judged)
    whole = len(results) if keep == "unlimited" else min(keep, len(results))
    if texts.count(HIDDEN) != len(results) - whole:
        yield f"results: {texts.count(HIDDEN)} are hidden, {whole} of {len(results)} may be whole"
    hidden, shown = results[: len(results) - whole], results[len(results) - whole :]
    if markers(hidden) & judged.all_markers:
        yield "results: an old one is sent"
    if most == "unlimited" and not markers(shown) <= judged.all_markers:
        yield "results: a newest one is not whole"


def _results(judged: Judged) -> list[str]:
    """Return the results of all that is sent, oldest first."""
    kept = [want for want in judged.wanted if judged.told.get(want.position) == "kept"]
    found = [
        _result(judged.conversation["runs"][want.position - 1]["events"][place])
        for want in sorted(kept, key=lambda want: want.position)
        for place in want.places
    ]
    if judged.open_position and judged.sent.asked["query"] is None:
        found += map(_result, judged.conversation["runs"][judged.open_position - 1]["events"])
    return [text for text in found if text is not None]


def _result(event: Mapping[str, Any]) -> str | None:
    call = event["call"] or {"result": None, "error": None}
    texts = [text for text in (call["result"], call["error"]) if text is not None]
    return "\n".join(texts) if texts else None


def _texts(message: Mapping[str, Any]) -> Sequence[str]:
    """Return the results in a message, an item or a content."""
    if message.get("role") == "tool":
        return [message["content"]]
    if message.get("type") == "function_call_output":
        return [message["output"]]
    blocks = message.get("content") if isinstance(message.get("content"), list) else message.get("parts", ())
    found = [block["content"] for block in blocks or () if block.get("type") == "tool_result"]
    responses = [part["functionResponse"]["response"] for part in blocks or () if "functionResponse" in part]
    return [*found, *(text for response in responses for text in response.values())]
