"""The five strategies of chuk-ai-session-manager 0.1.1, dictionary by dictionary; what it leaves out is left out.

`minimal`: the first user message; the newest message of another, without its text; its tool results, else its newest
summary note. `task`: the same with the newest user message in front of the assistant; no failed results, no notes.
`tool`: the newest user message, the assistant, all results with their errors. `conversation`: the newest messages; of
the last, if it is not the user's, the results and no text. `hierarchical`: minimal, the parent's summary in front.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sessions_app.domain.memory_settings import MemorySettings, PromptFormat, Strategy
from sessions_app.domain.seeds.dictionaries import (
    SeedDictionary,
    message_dictionary,
    note_dictionary,
    silent_dictionary,
    tool_dictionary,
)
from sessions_app.domain.seeds.events import SeedEvents, SeedMessage, result_value

ERROR_STATUS = "error"

Rule = Callable[[SeedEvents, MemorySettings], Iterator[SeedDictionary]]


def has_seed_rule(settings: MemorySettings) -> bool:
    """Whether a prompt is chuk's own: its format and one of its strategies."""
    return settings.format is PromptFormat.SEED and settings.strategy in SEED_RULES


def takes_parent(settings: MemorySettings) -> bool:
    """Whether the parent's summary is taken: by one strategy, and there only on demand."""
    return settings.strategy is Strategy.HIERARCHICAL and settings.include_parent_context


def seed_dictionaries(events: SeedEvents, settings: MemorySettings) -> list[SeedDictionary]:
    """Return the dictionaries of a strategy."""
    return list(SEED_RULES[settings.strategy](events, settings))


def _results(message: SeedMessage) -> list[SeedDictionary]:
    return [tool_dictionary(call, message.position) for call in message.calls]


def _minimal(events: SeedEvents, settings: MemorySettings) -> Iterator[SeedDictionary]:  # noqa: ARG001
    first, answer = events.first_of_user, events.last_of_others
    if first is not None:
        yield message_dictionary(first)
    if answer is None:
        return
    yield silent_dictionary(answer)
    yield from _results(answer)
    if answer.notes and not answer.calls:
        yield note_dictionary(answer)


def _task(events: SeedEvents, settings: MemorySettings) -> Iterator[SeedDictionary]:  # noqa: ARG001
    first, newest, answer = events.first_of_user, events.last_of_user, events.last_of_others
    if first is None or newest is None:
        return
    yield message_dictionary(first)
    if (newest.position, newest.number) != (first.position, first.number):
        yield message_dictionary(newest)
    if answer is not None:
        yield silent_dictionary(answer)
        for call in answer.calls:
            if not _failed(result_value(call)):
                yield tool_dictionary(call, answer.position)


def _tool(events: SeedEvents, settings: MemorySettings) -> Iterator[SeedDictionary]:  # noqa: ARG001
    newest, answer = events.last_of_user, events.last_of_others
    if newest is None:
        return
    yield message_dictionary(newest)
    if answer is not None:
        yield silent_dictionary(answer)
        for call in answer.calls:
            yield tool_dictionary(call, answer.position, with_error=True)


def _conversation(events: SeedEvents, settings: MemorySettings) -> Iterator[SeedDictionary]:
    messages = events.newest(settings.max_history)
    for message in messages:
        if message is messages[-1] and not message.is_users:
            yield silent_dictionary(message)
            yield from _results(message)
        else:
            yield message_dictionary(message)


def _failed(result: Any) -> bool:
    return isinstance(result, dict) and result.get("status") == ERROR_STATUS


SEED_RULES: Final[Mapping[Strategy, Rule]] = {
    Strategy.MINIMAL: _minimal,
    Strategy.TASK: _task,
    Strategy.TOOL: _tool,
    Strategy.CONVERSATION: _conversation,
    Strategy.HIERARCHICAL: _minimal,
}


def truncated(
    dictionaries: Sequence[SeedDictionary], fits: Callable[[Sequence[SeedDictionary]], bool]
) -> list[SeedDictionary]:
    """Return what fits, as chuk's truncation chooses where its choice fits and is in order.

    That is: all; else the first user message and what stands from the last assistant's on; else of these without the
    tool results but the first; else without any. Where not even that fits, which it would send all the same, the oldest
    go until the rest does.
    """
    for choice in _choices(dictionaries):
        if fits(choice):
            return choice
    rest = _choices(dictionaries)[-1]
    while rest and not fits(rest):
        rest = rest[1:]
    return rest


def _choices(dictionaries: Sequence[SeedDictionary]) -> list[list[SeedDictionary]]:
    roles = [each.message["role"] for each in dictionaries]
    first = roles.index("user") if "user" in roles else len(roles)
    last = len(roles) - 1 - roles[::-1].index("assistant") if "assistant" in roles else len(roles)
    kept = [each for place, each in enumerate(dictionaries) if place == first or place >= last]
    spoken = [each for each in kept if each.message["role"] != "tool"]
    results = [each for each in dictionaries if each.message["role"] == "tool"]
    with_one = [each for each in kept if each.message["role"] != "tool" or each is results[0]]
    return [list(dictionaries), kept, with_one, spoken]
