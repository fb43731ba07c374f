"""Writes the turns of a conversation from a script, different ones each time."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.planted_facts.scripts import Script

_SLOT = re.compile(r"<(?:(?P<low>\d+)\.\.(?P<high>\d+)|(?P<name>[a-z]+)(?P<number>\d*))>")
# Those behind the colon are Chinese and Japanese.
_ENDS = tuple(".!?\u2026:\u3002\uff01\uff1f\uff1a")

# How often something occurs.
CHAT, TOOL, LIST, COURTESY, REMARK, SECOND_REMARK, CLOSER = 0.15, 0.45, 0.45, 0.25, 0.45, 0.2, 0.6
MOST_EXTRA_REMARKS, MOST_RECORDS = 4, 3


@dataclass
class Call:
    """A call of a tool and the records that it finds."""

    name: str
    arguments: str
    records: list[dict[str, Any]]

    @property
    def result(self) -> str:
        """The JSON of one record by itself, or of all that were found."""
        found = self.records[0] if len(self.records) == 1 else {"found": len(self.records), "results": self.records}
        return json.dumps(found, ensure_ascii=False)


@dataclass
class Turn:
    """What the user says, the tool that is called, and what the assistant answers, sentence by sentence."""

    asked: list[str]
    answered: list[str]
    listed: list[str] = field(default_factory=list)
    call: Call | None = None

    def messages(self, joiner: str, call_id: str) -> list[dict[str, Any]]:
        """Return the turn as messages of OpenAI."""
        answer = "\n\n".join(filter(None, [_joined(self.answered, joiner), "\n".join(self.listed)]))
        return [
            {"role": "user", "content": _joined(self.asked, joiner)},
            *_call_messages(self.call, call_id),
            {"role": "assistant", "content": answer},
        ]


class Writer:
    """Writes turns, using each sentence of a script once before one comes again."""

    def __init__(self, script: Script, chance: Random) -> None:
        self._script, self._chance = script, chance
        self._decks: dict[str, list[str]] = {}
        self._filled: dict[str, str] = {}

    def turn(self) -> Turn:
        """Return the next turn: small talk, or a question and its answer."""
        self._filled = {}
        turn = self._chat() if self._happens(CHAT) else self._question()
        if self._happens(REMARK):
            turn.asked.insert(0, self._next("remarks"))
        if self._happens(COURTESY):
            turn.asked.insert(0, self._next("courtesy"))
        return turn

    def remarks(self) -> list[str]:
        """Return what else somebody says who is talkative at the beginning."""
        return [self._next("remarks") for _ in range(self._chance.randint(0, MOST_EXTRA_REMARKS))]

    def call(self) -> Call:
        """Return a call of one of the tools, which finds a record or a few."""
        tool = self._chance.choice(self._script.tools)
        arguments, record = self._fill(tool["arguments"]), self._fill(tool["result"])
        others = [self._fill(tool["result"], known={}) for _ in range(self._chance.randrange(MOST_RECORDS))]
        return Call(tool["name"], arguments, list(map(json.loads, [record, *others])))

    def _chat(self) -> Turn:
        return Turn([self._next("chats")], [self._next("replies")])

    def _question(self) -> Turn:
        asked = [self._next("asks")]
        if self._happens(SECOND_REMARK):
            asked.append(self._next("remarks"))
        call = self.call() if self._happens(TOOL) else None
        answered = [self._next("openers"), *(self._next("answers") for _ in range(self._chance.randint(3, 7)))]
        listed = self._list() if self._happens(LIST) else []
        (listed or answered).extend([self._next("closers")] if self._happens(CLOSER) else [])
        return Turn(asked, answered, listed, call)

    def _list(self) -> list[str]:
        numbered = self._chance.random() < 0.5
        items = list(dict.fromkeys(self._next("items") for _ in range(self._chance.randint(3, 6))))
        marks = [f"{number}." if numbered else "-" for number in range(1, len(items) + 1)]
        return [self._next("headings"), *map(" ".join, zip(marks, items, strict=True)), ""]

    def _happens(self, share: float) -> bool:
        return self._chance.random() < share

    def _next(self, deck: str) -> str:
        if not self._decks.get(deck):
            self._decks[deck] = self._chance.sample(self._script.filler[deck], len(self._script.filler[deck]))
        return self._fill(self._decks[deck].pop())

    def _fill(self, text: str, known: dict[str, str] | None = None) -> str:
        """Put a new number or a value into each slot; a value is the same throughout a turn, or where it is known."""
        values = self._filled if known is None else known
        return _SLOT.sub(lambda slot: self._value(slot, values), text)

    def _value(self, slot: re.Match[str], values: dict[str, str]) -> str:
        if slot["low"]:
            return str(self._chance.randint(int(slot["low"]), int(slot["high"])))
        name = slot["name"] + slot["number"]
        if name not in values:
            values[name] = self._fill(self._chance.choice(self._script.slots[slot["name"]]), values)
        return values[name]


def _joined(sentences: Sequence[str], joiner: str) -> str:
    """Who ends no sentence with a full stop goes on in a new line."""
    *others, last = sentences
    return "".join(each + (joiner if each.endswith(_ENDS) else "\n") for each in others) + last


def _call_messages(call: Call | None, call_id: str) -> list[dict[str, Any]]:
    if call is None:
        return []
    made = {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": call_id, "content": call.result},
    ]
