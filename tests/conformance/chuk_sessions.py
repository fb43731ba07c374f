"""chuk-ai-session-manager's sessions: random ones as both sides have them, and our prompts of them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Prompt
from sessions_app.domain.transcript import Event, EventKind, ParentContext, Role, Run, RunStatus, ToolCall
from tests.conformance.conversations import text
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, run, settings, system, user

MODEL = "gpt-4o"
STRATEGIES = ["minimal", "task", "tool", "conversation", "hierarchical"]
PLENTY = 1_000_000
SOURCES = {Role.USER: "user", Role.ASSISTANT: "llm", Role.SYSTEM: "system"}
FINISHED = [RunStatus.COMPLETED, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED]
RESULTS = [None, "found", "", "é", '{"status": "error"}', '{"status": "ok", "n": [1.5, null]}', "null", "[]", '"text"']


def random_run(chance: Random) -> Run:
    events: list[Event] = [message(chance, user) for _ in range(chance.choice([0, 1, 1, 1, 2]))]
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        speaker = system if chance.random() < 0.15 else assistant
        events.append(message(chance, speaker))
        parent = len(events) - 1 if speaker is assistant and chance.random() < 0.9 else None
        events += [tool(chance, parent) for _ in range(chance.choice([0, 0, 1, 2]))]
        events += [note(chance, parent) for _ in range(chance.choice([0, 0, 0, 1, 2]))]
    return run(*events, status=chance.choice(FINISHED), error="no model")


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


def session_case(chance: Random, strategy: str) -> tuple[InMemoryTranscript, dict[str, Any]]:
    runs = [random_run(chance) for _ in range(chance.choice([0, 1, 1, 2, 3, 4]))]
    if runs and chance.random() < 0.2:
        runs[-1] = replace(runs[-1], status=RunStatus.RUNNING)
    summary = f"P {text(chance, 5)}" if chance.random() < 0.5 else None
    reader = InMemoryTranscript(runs, parents=[ParentContext("", summary)] if summary else [])
    asked = {
        "operation": "build",
        "strategy": strategy,
        "include_parent_context": chance.random() < 0.7,
        "ancestors": [parent_summaries(chance, summary)] if summary else [],
        "events": chuk_events(runs, wrapped=chance.random() < 0.25),
    }
    return reader, asked


def parent_summaries(chance: Random, newest: str) -> list[Any]:
    """Return messages of which the package takes the newest, in the shapes that it knows."""
    shapes = [newest, {"note": newest}, {"content": newest}, {"content": "another", "note": newest}]
    return [*chance.choice([[], [{"note": "an older one"}]]), chance.choice(shapes)]


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
    given: Any
    if event.kind is EventKind.NOTE:
        kind = event.content[0]["type"] if event.content else "summary"
        # Both shapes give the text.
        given = {"note": event.text} if len(event.text) % 2 else event.text
        return {"type": kind, "source": "system", "message": given}
    given = event.text if event.content is None else list(event.content)
    assert event.role is not None
    return {"type": "message", "source": SOURCES[event.role], "message": {"content": given} if wrapped else given}


def chuk_call(call: ToolCall) -> dict[str, Any]:
    result = call.result if call.result_was_text or call.result is None else json.loads(call.result)
    given = {} if call.result is None else {"result": result}
    return {"tool_name": call.name, **given, **({} if call.error is None else {"error": call.error})}


def seed_prompt(reader: InMemoryTranscript, asked: dict[str, Any], budget: int = PLENTY) -> Prompt:
    """Build our prompt as that package's dictionaries."""
    given = settings(
        format="seed",
        model=MODEL,
        strategy=asked["strategy"],
        include_parent_context=asked["include_parent_context"],
        max_input_tokens=budget,
    )
    return build_prompt(reader=reader, settings=given, query=None)
