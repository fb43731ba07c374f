"""Which runs, and what of them, a prompt may hold, and in which precedence: the strategies told once more.

Written from the description of the strategies, over plain data, and imports nothing of the product.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.properties.conversations import MARKER

PROVIDER_FORMATS = ("openai", "responses", "anthropic", "gemini")


@dataclass(frozen=True)
class Want:
    """A run at its position, and the places of those of its events that are wanted."""

    position: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class Past:
    """The finished runs 1..`finished` of a conversation, and those from `first` on that the settings leave."""

    runs: Sequence[Mapping[str, Any]]
    finished: int
    first: int

    def events(self, position: int) -> Sequence[Mapping[str, Any]]:
        return self.runs[position - 1]["events"]

    def whole(self, position: int) -> Want:
        return Want(position, tuple(range(len(self.events(position)))))

    def roles(self, position: int) -> list[str]:
        return [event["role"] for event in self.events(position) if event["role"]]


def past_of(conversation: Mapping[str, Any], asked: Mapping[str, Any]) -> Past:
    """Return what lies before the question, as `max_runs` and `last_n` leave it."""
    runs = conversation["runs"]
    is_open = bool(runs) and runs[-1]["status"] in ("pending", "running")
    finished = len(runs) - is_open if asked["at"] is None else asked["at"] - 1
    limits = [asked["settings"][name] for name in ("max_runs", "last_n")]
    return Past(runs, finished, max([1, *(finished - limit + 1 for limit in limits if limit != "unlimited")]))


def wants(past: Past, settings: Mapping[str, Any], covered: int) -> list[Want]:
    """Return what is wanted, in precedence, of the runs that no summary in the prompt covers."""
    found = [want for want in _STRATEGIES[settings["strategy"]](past, settings) if want.position > covered]
    return list({want.position: want for want in reversed(found)}.values())[::-1]


def _newest_first(past: Past, first: int, last: int) -> Iterator[Want]:
    return map(past.whole, range(last, first - 1, -1))


def _all(past: Past, settings: Mapping[str, Any]) -> Iterator[Want]:
    return _newest_first(past, past.first, past.finished)


def _tool(past: Past, settings: Mapping[str, Any]) -> Iterator[Want]:
    return _newest_first(past, max(past.first, past.finished), past.finished)


def _head_tail(past: Past, settings: Mapping[str, Any]) -> Iterator[Want]:
    behind = min(past.first + settings["head_runs"], past.finished)
    yield from _tool(past, settings)
    yield from _newest_first(past, past.first, behind - 1)
    yield from _newest_first(past, behind, past.finished - 1)


def _minimal(past: Past, settings: Mapping[str, Any]) -> Iterator[Want]:
    yield from _answered(past)
    yield from _first_input(past, past.first)


def _task(past: Past, settings: Mapping[str, Any]) -> Iterator[Want]:
    answered = [
        Want(want.position, tuple(place for place in want.places if not _failed(past.events(want.position)[place])))
        for want in _answered(past)
    ]
    if not (answered and answered[0].position == past.finished):
        yield from _first_input(past, max(past.first, past.finished))
    yield from answered
    yield from _first_input(past, past.first)


def _conversation(past: Past, settings: Mapping[str, Any]) -> Iterator[Want]:
    messages = [
        (position, place)
        for position in range(past.first, past.finished + 1)
        for place, event in enumerate(past.events(position))
        if event["kind"] == "message"
    ]
    newest = messages[-settings["max_history"] :] if settings["max_history"] else []
    while newest and past.events(newest[0][0])[newest[0][1]]["role"] != "user":
        newest.pop(0)
    if newest:
        position, place = newest[0]
        yield from _newest_first(past, position + 1, past.finished)
        whole = past.whole(position)
        is_first = (position, place) == next(each for each in messages if each[0] == position)
        yield whole if is_first else Want(position, whole.places[place:])


def _answered(past: Past) -> list[Want]:
    answered = [p for p in range(past.first, past.finished + 1) if "assistant" in past.roles(p)]
    return [past.whole(answered[-1])] if answered else []


def _first_input(past: Past, first: int) -> list[Want]:
    asked = [position for position in range(first, past.finished + 1) if "user" in past.roles(position)]
    if not asked:
        return []
    places = [place for place, event in enumerate(past.events(asked[0])) if event["role"] == "user"]
    return [Want(asked[0], tuple(places))]


def _failed(event: Mapping[str, Any]) -> bool:
    return bool(event["call"] and event["call"]["error"])


_STRATEGIES = {
    "buffer": _all,
    "summary": _all,
    "minimal": _minimal,
    "hierarchical": _minimal,
    "task": _task,
    "tool": _tool,
    "conversation": _conversation,
    "head_tail": _head_tail,
}


@dataclass(frozen=True)
class Marks:
    """The markers that a run must have in a prompt, and those that it may have."""

    must: frozenset[str]
    may: frozenset[str]


def marks_of(run: Mapping[str, Any], places: Sequence[int], settings: Mapping[str, Any]) -> Marks:
    """Return the markers of what is sent of some of a run's events in a format."""
    events = [run["events"][place] for place in places]
    texts = [event["text"] for event in events if event["kind"] == "message"]
    texts += [run["error"]] if run["status"] == "failed" else []
    calls = [event["call"] for event in events if _is_call_sent(event, settings["format"])]
    if settings["format"] != "seed":
        texts += [call["arguments"] for call in calls]
    results = [text for call in calls for text in (call["result"], call["error"]) if text]
    are_whole = settings["tool_result_max_tokens"] == settings["keep_tool_results"] == "unlimited"
    must = markers(texts + (results if are_whole else []))
    return Marks(must, must | markers(results) | markers(_opaque(events, settings["format"])))


def markers(texts: Sequence[str]) -> frozenset[str]:
    """Return the markers in the texts."""
    return frozenset(found[0] for text in texts for found in MARKER.finditer(text))


def _is_call_sent(event: Mapping[str, Any], format: str) -> bool:
    if format == "seed":
        return event["call"] is not None and event["parent"] is not None
    return event["call"] is not None and format != "text"


def _opaque(events: Sequence[Mapping[str, Any]], format: str) -> list[str]:
    parts = [part for event in events if event["kind"] == "reasoning" for part in event["content"] or ()]
    return [text for part in parts if part["format"] == format for text in strings_in(part["part"])]


def strings_in(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from strings_in(each)
