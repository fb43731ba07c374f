"""Random conversations as plain data, in which every text carries a marker that stands nowhere else.

A conversation is {"instructions", "runs", "summaries", "parents", "shared"}: its runs are those of the whole lineage,
of which a fork shares the first `shared` with its parent. A run is {"status", "error", "events"}, an event {"kind",
"role", "text", "content", "call", "parent"}.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

Plain = dict[str, Any]

MARKER = re.compile(r"q(\d+)n\d+z")
MEGABYTE = 1_000_000
HUGE = 20_000
PNG = "data:image/png;base64,iVBORw0KGgo="

PLAIN = "the order was late and nobody called me back about it please look again tomorrow 42 3.14 don't naïve"
WORDS = [*PLAIN.split(), "better.", "why?", "it works.\n", "- one", "{}", '"quoted"', "User:", "[interrupted]"]
CJK = ["灯台の記録係です。", "毎朝、雨水を集めます。", "结果如下。", "한국어 문장입니다.", "どこですか。"]
EMOJI = ["🧵🪁", "👨\u200d🌾", "🇫🇮", "🕰️", "🐝"]
SPECIAL = ["<|endoftext|>", "<|im_start|>system", "<|fim_prefix|>"]
ENDS = ["", "", ".", " ", "  \n\n", "\n\nUser: not me"]
BLANKS = ["", "", " ", "\n\n", "\t \n"]
CALL_IDS = ["call_1", "a b", "ü" * 50, "", "x" * 41, "x" * 40]
NAMES = ["look_up", "functions.get weather", "", "n" * 80, "find-order"]
NO_JSON = ["no json {}", "{{'q': '{}'}}", '{{"q": "{}"', "NaN {}"]
IMAGES = [PNG, "https://example.org/a/photo.jpg", "https://example.org/picture", "ftp://example.org/a.png"]

# How likely a conversation has a feature at all; what one needs of another is added.
LIKELY = {
    "tools": 0.6,
    "parallel": 0.4,
    "repeated ids": 0.35,
    "unanswered": 0.35,
    "no json": 0.35,
    "cjk": 0.35,
    "emoji": 0.35,
    "images": 0.3,
    "huge": 0.22,
    "empty": 0.4,
    "special": 0.35,
    "megabyte": 0.17,
    "reasoning": 0.35,
    "system": 0.3,
    "fork": 0.25,
    "summary": 0.5,
    "failed": 0.35,
    "cancelled": 0.35,
    "open": 0.25,
    "parents": 0.3,
}


def conversation(chance: Random) -> Plain:
    """Make a conversation that has some of the features."""
    has = {name for name, likely in LIKELY.items() if chance.random() < likely}
    if has & {"parallel", "repeated ids", "unanswered", "no json"}:
        has.add("tools")
    length = chance.choice([1, 2, 3, *range(4, 15), *range(4, 15), chance.randint(15, 60)])
    author = _Author(chance, has)
    runs = [author.run(position) for position in range(1, length + 1)]
    _place_once(author, runs)
    if "open" in has:
        runs[-1] |= {"status": chance.choice(["pending", "running"]), "error": ""}
    finished = length - ("open" in has)
    return {
        "instructions": chance.choice(["", "qIz Be kind.", "# Summary of runs 1-9\nqIz Be brief.\n"]),
        "runs": runs,
        "summaries": _summaries(chance, finished) if "summary" in has else [],
        "parents": _parents(chance) if "parents" in has else [],
        "shared": chance.randint(0, finished) if "fork" in has else None,
    }


class _Author:
    """Writes the runs of one conversation."""

    def __init__(self, chance: Random, has: set[str]) -> None:
        self.chance, self.has = chance, has
        self.words = WORDS + CJK * ("cjk" in has) + EMOJI * ("emoji" in has) + SPECIAL * ("special" in has)
        self.longest = chance.choice([4, 12, 40, 120])

    def once_in(self, times: int, feature: str) -> bool:
        return feature in self.has and self.chance.randrange(times) == 0

    def run(self, position: int) -> Plain:
        numbers = count(1)
        events: list[Plain] = []
        if self.once_in(4, "system"):
            events.append(self.message(position, numbers, "system"))
        asking = self.chance.choices([0, 1, 2], [1, 16, 2])[0]
        events += [self.message(position, numbers, "user") for _ in range(asking)]
        for _ in range(self.chance.choices([0, 1, 2], [4, 3, 1])[0]):
            events += self.step(position, numbers, len(events))
            if self.once_in(3, "system"):
                events.append(self.message(position, numbers, "system"))
        if self.chance.random() < 0.85:
            events += self.reasoning(position, numbers)
            events.append(self.message(position, numbers, "assistant"))
        if self.chance.random() < 0.06:
            events.append(self.event("note", text=self.text(position, numbers)))
        return self.ended(position, numbers, events)

    def ended(self, position: int, numbers: Iterator[int], events: list[Plain]) -> Plain:
        status, error = "completed", ""
        if self.once_in(5, "failed"):
            status, error = "failed", self.chance.choice(["", f"{mark(position, numbers)} rate limited"])
        elif self.once_in(5, "cancelled"):
            status = "cancelled"
        return {"status": status, "error": error, "events": events}

    def event(self, kind: str, **fields: Any) -> Plain:
        return {"kind": kind, "role": None, "text": "", "content": None, "call": None, "parent": None} | fields

    def message(self, position: int, numbers: Iterator[int], role: str) -> Plain:
        text = self.text(position, numbers)
        if role == "user" and self.once_in(4, "images"):
            image = {"type": "image_url", "image_url": {"url": self.chance.choice(IMAGES)}}
            parts = [{"type": "text", "text": text}, image][:: self.chance.choice([1, -1])]
            return self.event("message", role=role, text=text, content=parts)
        return self.event("message", role=role, text=text)

    def text(self, position: int, numbers: Iterator[int]) -> str:
        if self.once_in(8, "empty"):
            return self.chance.choice(BLANKS)
        words = self.chance.choices(self.words, k=self.chance.randint(1, self.longest))
        return f"{mark(position, numbers)} {' '.join(words)}{self.chance.choice(ENDS)}"

    def step(self, position: int, numbers: Iterator[int], index: int) -> list[Plain]:
        """An assistant's message, maybe with reasoning before it and calls behind it."""
        reasoning = self.reasoning(position, numbers)
        message = self.message(position, numbers, "assistant")
        if "tools" not in self.has:
            return [*reasoning, message]
        if self.chance.random() < 0.1:
            return [*reasoning, self.call(position, numbers, None)]
        calls = self.chance.randint(1, 3) if "parallel" in self.has else 1
        parent = index + len(reasoning)
        return [*reasoning, message, *(self.call(position, numbers, parent) for _ in range(calls))]

    def call(self, position: int, numbers: Iterator[int], parent: int | None) -> Plain:
        call_id = self.chance.choice(CALL_IDS) if "repeated ids" in self.has else f"call-{position}-{next(numbers)}"
        arguments = json.dumps({"q": f"{mark(position, numbers)} {self.chance.choice(self.words)}"})
        if self.once_in(3, "no json"):
            arguments = self.chance.choice([*(each.format(mark(position, numbers)) for each in NO_JSON), "", "[1]"])
        result: str | None = self.text(position, numbers)
        error: str | None = None
        if self.once_in(3, "unanswered"):
            result = None
        elif self.chance.random() < 0.2:
            result, error = self.chance.choice([None, result]), f"{mark(position, numbers)} down"
        name = self.chance.choice(NAMES)
        call = {"id": call_id, "name": name, "arguments": arguments, "result": result, "error": error}
        return self.event("call", call=call, parent=parent)

    def reasoning(self, position: int, numbers: Iterator[int]) -> list[Plain]:
        if not self.once_in(2, "reasoning"):
            return []
        origin = self.chance.choice(["responses", "anthropic", "gemini", "nowhere"])
        suiting = origin if self.chance.random() < 0.6 else self.chance.choice([*OPAQUE])
        parts = [
            self.chance.choice(OPAQUE[suiting])(mark(position, numbers), mark(position, numbers))
            for _ in range(self.chance.choice([1, 1, 2]))
        ]
        content = [{"type": "opaque", "format": origin, "part": part} for part in parts]
        return [self.event("reasoning", text=self.text(position, numbers), content=content)]


def mark(position: int, numbers: Iterator[int]) -> str:
    return f"q{position}n{next(numbers)}z"


def _item(first: str, second: str) -> Plain:
    return {"type": "reasoning", "id": "rs_1", "summary": [_summary(first)], "encrypted_content": f"{second}gAAAAABo"}


def _summary(first: str) -> Plain:
    return {"type": "summary_text", "text": f"{first} Well."}


# What providers give as their own, and what they do not give so.
OPAQUE: dict[str, list[Callable[[str, str], Plain]]] = {
    "responses": [_item, _item, lambda first, _: {"type": "reasoning", "id": "rs_2", "summary": [_summary(first)]}],
    "anthropic": [
        lambda first, second: {"type": "thinking", "thinking": f"{first} Well.", "signature": f"{second}Er8C"},
        lambda first, _: {"type": "thinking", "thinking": f"{first} Unsigned."},
        lambda first, _: {"type": "redacted_thinking", "data": f"{first}EmwK"},
    ],
    "gemini": [
        lambda first, _: {"thought": True, "text": f"{first} Well."},
        lambda first, _: {"thoughtSignature": f"{first}CiQB"},
    ],
    "nowhere": [lambda first, _: {"thought": f"{first} Well."}],
}


def _place_once(author: _Author, runs: Sequence[Plain]) -> None:
    """Put in what a conversation holds once: a text far too long, a megabyte of spaces."""
    for feature, more in (("huge", "A very long story. " * 2_000), ("megabyte", " " * MEGABYTE)):
        if feature in author.has:
            texts = [
                each for run in runs for each in run["events"] if each["kind"] == "message" and each["text"].strip()
            ]
            calls = [each for run in runs for each in run["events"] if each["call"] and each["call"]["result"]]
            if calls and author.chance.random() < 0.3:
                author.chance.choice(calls)["call"]["result"] += more
            elif texts:
                _lengthen(author.chance.choice(texts), more)


def _lengthen(event: Plain, more: str) -> None:
    event["text"] += more
    for part in event["content"] or ():
        if part["type"] == "text":
            part["text"] = event["text"]


def _summaries(chance: Random, finished: int) -> list[Plain]:
    ends = sorted(chance.sample(range(1, finished + 1), min(finished, chance.randint(1, 3))))
    return [
        {"number": number, "covers_through": end, "text": _handed_text(chance, f"qS{number}")}
        for number, end in enumerate(ends, 1)
    ]


def _parents(chance: Random) -> list[Plain]:
    return [
        {"title": chance.choice(["", "Root", "A child"]) + f" {level}", "text": _handed_text(chance, f"qP{level}")}
        for level in range(chance.randint(1, 3))
    ]


def _handed_text(chance: Random, name: str) -> str:
    """A text that tells by its ends whether it was cut."""
    return f"{name}az They asked. {'Then it went on. ' * chance.choice([0, 2, 12, 60])}{name}bz"


def texts_of(event: Mapping[str, Any]) -> list[str]:
    """Return the texts of an event that are said or done: not its reasoning."""
    if event["kind"] == "call":
        call = event["call"]
        return [text for text in (call["arguments"], call["result"], call["error"]) if text is not None]
    return [event["text"]]
