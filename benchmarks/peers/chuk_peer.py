"""Times chuk-ai-session-manager in an environment of its own: a JSON object in, seconds out."""

import asyncio
import json
import logging
import sys
import time

from chuk_ai_session_manager.models.event_source import EventSource
from chuk_ai_session_manager.models.event_type import EventType
from chuk_ai_session_manager.models.session import Session
from chuk_ai_session_manager.models.session_event import SessionEvent
from chuk_ai_session_manager.session_prompt_builder import build_prompt_from_session

logging.disable(logging.CRITICAL)
ROUNDS = 3


async def main() -> None:
    asked = json.load(sys.stdin)
    session = Session()
    start = time.perf_counter()
    for question, answer in asked["turns"]:
        for text, source in ((question, EventSource.USER), (answer, EventSource.LLM)):
            event = await SessionEvent.create_with_tokens(
                message=text, prompt=text, model=asked["model"], source=source, type=EventType.MESSAGE
            )
            await session.add_event(event)
    written = time.perf_counter() - start
    seconds = {}
    for strategy in asked["strategies"]:
        taken = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            await build_prompt_from_session(session, strategy)
            taken.append(time.perf_counter() - start)
        seconds[strategy] = min(taken)
    print(json.dumps({"seconds": seconds, "write": written / len(asked["turns"])}))


asyncio.run(main())
