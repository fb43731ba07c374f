"""chuk-ai-session-manager's prompts: every strategy, dictionary by dictionary, in the format seed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.transcript import Event, EventKind, ParentContext, Role, Run, RunStatus, ToolCall
from tests.conformance.conversations import cases, text
from tests.conformance.real_packages import Peer, Tally
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, run, settings, system, user

STRATEGIES = ["minimal", "task", "tool", "conversation", "hierarchical"]
SOURCES = {Role.USER: "user", Role.ASSISTANT: "llm", Role.SYSTEM: "system"}
RESULTS = [None, "found", "", "é", '{"status": "error"}', '{"status": "ok", "n": [1.5, null]}', "null", "[]", '"text"']


def random_run(chance: Random) -> Run:
    events: list[Event] = [message(chance, user) for _ in range(chance.choice([0, 1, 1, 1, 2]))]
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        speaker = system if chance.random() < 0.15 else assistant
        events.append(message(chance, speaker))
        parent = len(events) - 1 if speaker is assistant and chance.random() < 0.9 else None
        events += [tool(chance, parent) for _ in range(chance.choice([0, 0, 1, 2]))]
        events += [note(chance, parent) for _ in range(chance.choice([0, 0, 0, 1, 2]))]
    return run(*events)


def message(chance: Random, speaker: Any) -> Event:
    event: Event = speaker(text(chance))
    parts = ({"type": "text", "text": event.text},)
    return replace(event, content=parts) if chance.random() < 0.1 and speaker is not system else event


def tool(chance: Random, parent: int | None) -> Event:
    result = chance.choice(RESULTS)
    was_text = result is None or result in ("found", "", "é") or chance.random() < 0.3
    error = chance.choice([None, None, "boom", ""])
    return Event(
        EventKind.TOOL_CALL,
        tool=ToolCall("c", chance.choice(["look_up", "Zählen", ""]), "{}", result, error, result_was_text=was_text),
        parent=parent,
    )


def note(chance: Random, parent: int | None) -> Event:
    kind = chance.choice(["summary", "summary", "reference"])
    content = None if kind == "summary" and chance.random() < 0.5 else ({"type": kind},)
    return Event(EventKind.NOTE, text(chance, 5), content=content, parent=parent)


def case(chance: Random, strategy: str) -> tuple[InMemoryTranscript, dict[str, Any]]:
    runs = [random_run(chance) for _ in range(chance.choice([0, 1, 1, 2, 3, 4]))]
    if runs and chance.random() < 0.2:
        runs[-1] = replace(runs[-1], status=RunStatus.RUNNING)
    parent = f"P {text(chance, 5)}" if chance.random() < 0.5 else None
    reader = InMemoryTranscript(runs, parents=[ParentContext("", parent)] if parent else [])
    asked = {
        "operation": "build",
        "strategy": strategy,
        "include_parent_context": chance.random() < 0.7,
        "parent_summary": parent,
        "events": chuk_events(runs, wrapped=chance.random() < 0.25),
    }
    return reader, asked


def chuk_events(runs: Sequence[Run], *, wrapped: bool = False) -> list[dict[str, Any]]:
    """Return the events of runs as that package has them; `wrapped` puts each text into an object."""
    events = []
    for number, each in enumerate(runs):
        for index, event in enumerate(each.events):
            parent = None if event.parent is None else f"{number}-{event.parent}"
            events.append({"id": f"{number}-{index}", "parent": parent, **chuk_event(event, wrapped=wrapped)})
    return events


def chuk_event(event: Event, *, wrapped: bool) -> dict[str, Any]:
    if event.tool is not None:
        return {"type": "tool_call", "source": "system", "message": chuk_call(event.tool)}
    if event.kind is EventKind.NOTE:
        kind = event.content[0]["type"] if event.content else "summary"
        return {"type": kind, "source": "system", "message": {"note": event.text}}
    given: Any = event.text if event.content is None else list(event.content)
    assert event.role is not None
    return {"type": "message", "source": SOURCES[event.role], "message": {"content": given} if wrapped else given}


def chuk_call(call: ToolCall) -> dict[str, Any]:
    result = call.result if call.result_was_text or call.result is None else json.loads(call.result)
    given = {} if call.result is None else {"result": result}
    return {"tool_name": call.name, **given, **({} if call.error is None else {"error": call.error})}


def ours(reader: InMemoryTranscript, asked: dict[str, Any]) -> list[Any]:
    given = settings(
        format="seed",
        strategy=asked["strategy"],
        include_parent_context=asked["include_parent_context"],
        max_input_tokens=1_000_000,
    )
    return list(build_prompt(reader=reader, settings=given, query=None).messages or ())


def the_whole_message_object_is_sent(asked: dict[str, Any]) -> bool:
    """Without an answer, minimal sends an object with a content whole, not its content."""
    messages = [each for each in asked["events"] if each["type"] == "message"]
    only_user = bool(messages) and all(each["source"] == "user" for each in messages)
    return asked["strategy"] in ("minimal", "hierarchical") and only_user and isinstance(messages[0]["message"], dict)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_gives_the_same_dictionaries(chuk: Peer, strategy: str):
    tally = Tally(f"{chuk.package} {strategy}")
    given = [case(chance, strategy) for chance in cases(strategy)]
    answers = chuk.ask([asked for _, asked in given])
    for (reader, asked), answer in zip(given, answers, strict=True):
        if the_whole_message_object_is_sent(asked):
            tally.leave_out("the_whole_message_object_is_sent")
        else:
            tally.compare(ours(reader, asked), answer["answer"], asked)
    tally.settle()


@pytest.mark.parametrize("strategy", ["minimal", "hierarchical"])
def test_chuk_sends_a_message_object_whole_and_ours_its_text(chuk: Peer, strategy: str):
    runs = [run(user("hi"))]
    asked = {
        "operation": "build",
        "strategy": strategy,
        "include_parent_context": False,
        "events": chuk_events(runs, wrapped=True),
    }
    (answer,) = chuk.ask([asked])
    assert answer["answer"] == [{"role": "user", "content": {"content": "hi"}}]
    assert ours(InMemoryTranscript(runs), asked) == [{"role": "user", "content": "hi"}]
