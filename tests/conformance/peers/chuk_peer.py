"""Answers what chuk-ai-session-manager does: a JSON object a line in, its answer a line out."""

import asyncio
import json
import logging
import sys
from typing import Any

from chuk_ai_session_manager.models.event_source import EventSource
from chuk_ai_session_manager.models.event_type import EventType
from chuk_ai_session_manager.models.session import Session
from chuk_ai_session_manager.models.session_event import SessionEvent
from chuk_ai_session_manager.models.token_usage import TokenUsage
from chuk_ai_session_manager.session_prompt_builder import build_prompt_from_session, truncate_prompt_to_token_limit
from chuk_ai_session_manager.storage import SessionStoreProvider
from chuk_ai_session_manager.storage.providers.memory import InMemorySessionStore

logging.disable(logging.CRITICAL)


def event_of(given: dict[str, Any]) -> SessionEvent[Any]:
    metadata = {"parent_event_id": given["parent"]} if given.get("parent") else {}
    return SessionEvent(
        id=given["id"],
        message=given["message"],
        type=EventType(given["type"]),
        source=EventSource(given["source"]),
        metadata=metadata,
    )


async def build(asked: dict[str, Any]) -> Any:
    """The prompt of a session below others, from the root on, each with its summaries."""
    store = InMemorySessionStore()
    SessionStoreProvider.set_store(store)
    parent_id = None
    for summaries in asked.get("ancestors", []):
        events = [SessionEvent(message=each, type=EventType.SUMMARY) for each in summaries]
        parent = Session(events=events, parent_id=parent_id)
        await store.save(parent)
        parent_id = parent.id
    session = Session(events=[event_of(each) for each in asked["events"]], parent_id=parent_id)
    return await build_prompt_from_session(
        session,
        asked["strategy"],
        max_tokens=asked.get("max_tokens"),
        include_parent_context=asked["include_parent_context"],
    )


async def truncate(asked: dict[str, Any]) -> Any:
    """A prompt under each of the limits, and the tokens of each by the first of its two measures."""
    answers = []
    for limit in asked["limits"]:
        kept = await truncate_prompt_to_token_limit(asked["prompt"], limit, asked["model"])
        answers.append({"kept": kept, "tokens": await counted(kept, asked["model"])})
    return answers


async def counted(prompt: list[dict[str, Any]], model: str) -> int:
    text = "\n".join(f"{message['role']}: {message.get('content') or ''}" for message in prompt)
    found = TokenUsage.count_tokens(text, model)
    return await found if asyncio.iscoroutine(found) else found


OPERATIONS = {each.__name__: each for each in (build, truncate)}


async def answer(line: str) -> dict[str, Any]:
    asked = json.loads(line)
    try:
        return {"answer": await OPERATIONS[asked["operation"]](asked)}
    except Exception as error:  # noqa: BLE001 (what the package raises is an answer too)
        return {"error": f"{type(error).__name__}: {error}"}


async def main() -> None:
    for line in sys.stdin:
        print(json.dumps(await answer(line)), flush=True)


asyncio.run(main())
