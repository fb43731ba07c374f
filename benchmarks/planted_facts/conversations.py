"""The conversations: what people say in long talks, and five facts planted near the beginning."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.planted_facts.scripts import Fact, Plan, Script, Speaker, scripts
from benchmarks.planted_facts.writing import Turn, Writer

TURNS = 260
PLANTED_WITHIN = 6


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact and the turn in which it is said, from 1."""

    fact: Fact
    turn: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as messages of OpenAI, and what is planted in it."""

    name: str
    language: str
    messages: Sequence[dict[str, Any]]
    planted: Sequence[Planted]


def conversations() -> Iterator[Conversation]:
    """Make all conversations, always the same ones."""
    for script in scripts():
        for number, plan in enumerate(script.plans, 1):
            yield conversation(script, plan, name=f"{script.name}-{number}")


def conversation(script: Script, plan: Plan, *, name: str) -> Conversation:
    """Make one conversation; its name is its seed."""
    chance = Random(name)
    writer = Writer(script, chance)
    turns = [writer.turn() for _ in range(TURNS)]
    turns[0].asked = [plan.goal, *writer.remarks()]
    planted = [Planted(fact, chance.randint(1, PLANTED_WITHIN)) for fact in plan.facts]
    for each in planted:
        _plant(each.fact, turns[each.turn - 1], writer, chance, first=each.turn == 1)
    told = [
        message for number, turn in enumerate(turns, 1) for message in turn.messages(script.joiner, f"call_{number}")
    ]
    return Conversation(name, script.language, [{"role": "system", "content": script.system}, *told], planted)


def _plant(fact: Fact, turn: Turn, writer: Writer, chance: Random, *, first: bool) -> None:
    """Let the fact be said or shown anywhere in the turn, but not before what the conversation is about."""
    match fact.by:
        case Speaker.USER:
            turn.asked.extend(writer.remarks())
            turn.asked.insert(chance.randint(int(first), len(turn.asked)), fact.says)
        case Speaker.ASSISTANT:
            turn.answered.insert(chance.randint(0, len(turn.answered)), fact.says)
        case Speaker.TOOL:
            turn.call = turn.call or writer.call()
            fields = list(turn.call.records[0].items())
            fields.insert(chance.randint(0, len(fields)), (fact.field, fact.says))
            turn.call.records[0] = dict(fields)
