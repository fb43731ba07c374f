"""Judges what stands in front of the runs: the summary in use and what the parents hand down, cut or not, warned of."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.properties.sent import Sent
from tests.properties.wanted import past_of

Plain = dict[str, Any]


def covered_by(conversation: Mapping[str, Any], sent: Sent) -> int:
    """Return up to which run the summary that stands in the prompt covers them; 0 if there is none."""
    found = [
        each["covers_through"]
        for each in conversation["summaries"]
        if any(f"qS{each['number']}az" in text for text in _where(sent))
    ]
    return max(found, default=0)


def summary_in_use(conversation: Mapping[str, Any], asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the newest entry that leaves the newest `offset` runs word for word."""
    if asked["settings"]["strategy"] != "summary":
        return None
    most = past_of(conversation, asked).finished - asked["settings"]["offset"]
    return next((each for each in reversed(conversation["summaries"]) if each["covers_through"] <= most), None)


def handed_down_faults(conversation: Mapping[str, Any], sent: Sent, again: Callable[[Plain], Plain]) -> Iterator[str]:
    """Judge the summary, the parents, and that both keep to their half."""
    yield from _summary_faults(conversation, sent)
    yield from _parent_faults(conversation, sent)
    yield from _half_faults(sent, again)


def _where(sent: Sent) -> list[str]:
    return sent.heads if sent.answer["text"] is None else [sent.answer["text"]]


def _summary_faults(conversation: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    entry, head = summary_in_use(conversation, sent.asked), "\n".join(_where(sent))
    others = [each["number"] for each in conversation["summaries"] if each is not entry]
    yield from (f"summary: entry {number} is not in use" for number in others if f"qS{number}" in sent.everything)
    covered = covered_by(conversation, sent)
    if (sent.answer["covers_through"] or 0) != covered:
        yield f"summary: it covers {covered}, told is {sent.answer['covers_through']}"
    if entry is None:
        return
    start = f"qS{entry['number']}az"
    headed = f"# Summary of runs 1-{entry['covers_through']}\n{start}"
    if start in head and headed not in head and sent.format not in ("text", "seed"):
        yield "summary: it stands under another heading"
    is_whole = entry["text"].rstrip() in head
    if is_whole == ("summary_cut" in _codes(sent)):
        yield f"warnings: the summary is {'whole' if is_whole else 'cut'}"


def _parent_faults(conversation: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    settings, head = sent.asked["settings"], "\n".join(_where(sent))
    are_wanted = settings["include_parent_context"] or settings["strategy"] == "hierarchical"
    wanted = conversation["parents"][-settings["parent_depth"] :] if are_wanted else []
    levels = [level for level in range(len(conversation["parents"])) if f"qP{level}" in sent.everything]
    first = len(conversation["parents"]) - len(wanted)
    if any(level < first for level in levels):
        yield f"parents: {levels} are sent, from {first} on are wanted"
    places = [head.find(f"qP{level}az") for level in levels]
    if places != sorted(places) or -1 in places:
        yield "parents: they do not stand in order, the root first"
    is_cut = any(each["text"].rstrip() not in head for each in wanted)
    if is_cut != ("parent_context_cut" in _codes(sent)):
        yield f"warnings: what the parents hand down is {'cut' if is_cut else 'whole'}"


def _half_faults(sent: Sent, again: Callable[[Plain], Plain]) -> Iterator[str]:
    """Summary, extract and parents need at most half of what the fixed parts leave, by comparing with a bare prompt."""
    if not (sent.answer["tokens"]["summary"] or sent.answer["tokens"]["parent_context"]):
        return
    bare = again(bare_request(sent.asked))
    if bare["refusal"]:
        yield f"budget: without history it is refused: {bare['detail']}"
        return
    alone = Sent(bare_request(sent.asked), bare)
    handed = _head_tokens(sent) - _head_tokens(alone)
    if handed - sent.seams > (sent.answer["budget"] - alone.tokens) // 2:
        yield f"budget: {handed} tokens are handed down beside {alone.tokens} of the fixed parts"


def bare_request(asked: Mapping[str, Any]) -> Plain:
    """Return a request for the fixed parts alone."""
    nothing = {"strategy": "buffer", "last_n": 0, "include_parent_context": False, "autoprune": True}
    return {**asked, "settings": asked["settings"] | nothing}


def _head_tokens(sent: Sent) -> int:
    """Return what the head needs by itself."""
    if sent.answer["text"] is not None:
        return sum(sent.answer["tokens"][part] for part in ("instructions", "summary", "parent_context"))
    system = sent.heads if sent.format in ("openai", "responses", "seed") else []
    messages = [{"role": "system", "content": text} for text in system]
    beside = sent.answer["system"]
    return Sent({**sent.asked, "tools": []}, {"text": None, "messages": messages, "system": beside}).tokens


def _codes(sent: Sent) -> set[str]:
    return {warning["code"] for warning in sent.answer["warnings"]}
