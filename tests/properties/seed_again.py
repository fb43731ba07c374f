"""The format seed under chuk's own strategies, told once more: its dictionaries, its truncation, and the fates."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.domain.recount import count_prompt
from tests.properties.sent import MODELS, Sent, scaled
from tests.properties.wanted import past_of

Plain = dict[str, Any]
Dictionary = tuple[int, Plain]
"""The run that a dictionary comes from, and the dictionary."""
STRATEGIES = ("minimal", "task", "tool", "conversation", "hierarchical")
PARENT = "Context from previous conversation: "


def has_seed_rule(settings: Mapping[str, Any]) -> bool:
    """Whether a prompt is chuk's own."""
    return settings["format"] == "seed" and settings["strategy"] in STRATEGIES


def seed_faults(conversation: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    """What is sent is chuk's choice, the first that fits, and each run's fate says so."""
    wanted = _dictionaries(conversation, sent.asked)
    head = next((at for at, each in enumerate(sent.own) if not _is_head(each)), len(sent.own))
    tail = len(sent.asked["context"]) + (sent.asked["query"] is not None)
    own = (
        sent.own[head : len(sent.own) - tail] if not _is_context_first(conversation, sent) else sent.own[head + tail :]
    )
    yield from _parent_faults(conversation, sent)
    room = sent.answer["budget"] - sent.tokens + _tokens(sent, own)
    choice = _truncated(sent, wanted, room)
    if own != [dictionary for _, dictionary in choice]:
        yield f"seed: {len(own)} dictionaries are sent, chosen are {len(choice)} of {len(wanted)}"
    if len(choice) < len(wanted) and not sent.asked["settings"]["autoprune"]:
        yield "refusals: runs are dropped though that is forbidden"
    yield from _fate_faults(conversation, sent, wanted, choice)


def _is_head(message: Mapping[str, Any]) -> bool:
    content = message["content"]
    return message["role"] == "system" and any(name in content for name in ("qIz", "qJz", PARENT))


def _is_context_first(conversation: Mapping[str, Any], sent: Sent) -> bool:
    """Without a question, context blocks stand in the head."""
    asked = sent.asked
    is_open = conversation["runs"][-1]["status"] in ("pending", "running")
    return asked["query"] is None and asked["at"] is None and not is_open


def _tokens(sent: Sent, dictionaries: Sequence[Plain]) -> int:
    encoding, tenths, _ = MODELS[sent.asked["settings"]["model"]]
    return count_prompt("seed", dictionaries, None, encoding, tenths) - scaled(3, tenths)


def _truncated(sent: Sent, wanted: Sequence[Dictionary], room: int) -> list[Dictionary]:
    for choice in _choices(wanted):
        if _tokens(sent, [each for _, each in choice]) <= room:
            return choice
    rest = _choices(wanted)[-1]
    while rest and _tokens(sent, [each for _, each in rest]) > room:
        rest = rest[1:]
    return rest


def _choices(wanted: Sequence[Dictionary]) -> list[list[Dictionary]]:
    """All; the first user's and what stands from the last assistant's on; of these one result; none."""
    users = [at for at, (_, each) in enumerate(wanted) if each["role"] == "user"][:1]
    assistants = [at for at, (_, each) in enumerate(wanted) if each["role"] == "assistant"]
    tools = [at for at, (_, each) in enumerate(wanted) if each["role"] == "tool"]
    ends = {*users, *(range(assistants[-1], len(wanted)) if assistants else ())}
    places = (range(len(wanted)), ends, ends - set(tools[1:]), ends - set(tools))
    return [[wanted[at] for at in sorted(each)] for each in places]


def _parent_faults(conversation: Mapping[str, Any], sent: Sent) -> Iterator[str]:
    settings = sent.asked["settings"]
    may = settings["strategy"] == "hierarchical" and settings["include_parent_context"]
    nearest = len(conversation["parents"]) - 1
    for level in range(len(conversation["parents"])):
        if f"qP{level}" in sent.everything and not (may and level == nearest):
            yield f"parents: {level} is sent unasked"
    if may and nearest >= 0 and any(run["events"] for run in conversation["runs"]):
        is_whole = conversation["parents"][-1]["text"] in sent.everything
        if is_whole == ("parent_context_cut" in {each["code"] for each in sent.answer["warnings"]}) and (
            is_whole or any(_past_events(conversation, sent))
        ):
            yield "warnings: of what the parent hands down"


def _past_events(conversation: Mapping[str, Any], sent: Sent) -> Iterator[bool]:
    past = past_of(conversation, sent.asked)
    yield from (bool(past.events(position)) for position in range(past.first, past.finished + 1))


def _dictionaries(conversation: Mapping[str, Any], asked: Mapping[str, Any]) -> list[Dictionary]:
    """Return what the strategy takes, in its order."""
    messages = _messages(conversation, asked)
    users = [each for each in messages if each["role"] == "user"]
    answer = next((each for each in reversed(messages) if each["role"] != "user"), None)
    strategy = asked["settings"]["strategy"]
    if strategy == "conversation":
        return list(_newest(messages, asked["settings"]["max_history"]))
    if strategy in ("task", "tool") and not users:
        return []
    asking = {"task": [*users[:1], *users[1:][-1:]], "tool": users[-1:]}.get(strategy, users[:1])
    return [*map(_whole, asking), *(_answer(answer, strategy) if answer else ())]


def _messages(conversation: Mapping[str, Any], asked: Mapping[str, Any]) -> list[Plain]:
    past = past_of(conversation, asked)
    positions = list(range(past.first, past.finished + 1))
    found = [message for position in positions for message in _of_run(position, past.events(position))]
    if asked["query"] is None and past.finished < len(conversation["runs"]):
        events = past.events(past.finished + 1)
        asks = [each for each in events if each["role"] == "user"]
        found += _of_run(past.finished + 1, events if asked["at"] is None else asks)
    return found


def _of_run(position: int, events: Sequence[Mapping[str, Any]]) -> Iterator[Plain]:
    for place, event in enumerate(events):
        if event["kind"] == "message":
            calls = [each["call"] for each in events if each["call"] and each["parent"] == place]
            yield {**event, "position": position, "calls": calls}


def _newest(messages: Sequence[Plain], most: int) -> Iterator[Dictionary]:
    newest = messages[-most:] if most else []
    for message in newest:
        if message is newest[-1] and message["role"] != "user":
            yield from _answer(message, "conversation")
        else:
            yield _whole(message)


def _whole(message: Mapping[str, Any]) -> Dictionary:
    content = message["text"] if message["content"] is None else message["content"]
    return message["position"], {"role": "user" if message["role"] == "user" else "assistant", "content": content}


def _answer(message: Mapping[str, Any], strategy: str) -> Iterator[Dictionary]:
    """The place of the answer without its text, and its results, those of `tool` with their errors."""
    yield message["position"], {"role": "assistant", "content": None}
    for call in message["calls"]:
        content: Any = {} if call["result"] is None else call["result"]
        if strategy == "tool" and call["error"]:
            content = {"error": call["error"], "details": content}
        yield message["position"], {"role": "tool", "name": call["name"], "content": json.dumps(content)}


def _fate_faults(
    conversation: Mapping[str, Any], sent: Sent, wanted: Sequence[Dictionary], choice: Sequence[Dictionary]
) -> Iterator[str]:
    past = past_of(conversation, sent.asked)
    told = {at: each["fate"] for each in sent.answer["fates"] for at in range(each["first"], each["last"] + 1)}
    is_open = past.finished < len(conversation["runs"]) and sent.asked["at"] is None
    if list(told) != list(range(1, past.finished + is_open + 1)):
        yield f"fates: told of {list(told)}"
    sent_runs, wanted_runs = {at for at, _ in choice}, {at for at, _ in wanted}
    newest = max(wanted_runs, default=0)
    is_warned = "newest_run_dropped" in {each["code"] for each in sent.answer["warnings"]}
    if is_warned != bool(newest and newest not in sent_runs):
        yield "warnings: of the newest run that is dropped"
    most = sent.asked["settings"]["max_runs"]
    for position, fate in told.items():
        is_capped = most != "unlimited" and position <= past.finished - most
        other = "capped" if is_capped else "pruned" if position in wanted_runs else "skipped"
        right = "kept" if position in sent_runs else other
        if fate != right:
            yield f"fates: run {position} is {right}, told is {fate}"
