"""What chuk-ai-session-manager makes of events: dictionaries of role and content; and how those are counted."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.as_sent import json_text
from sessions_app.domain.pieces import Piece, shown_text, weighed_piece
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.seeds.events import SeedMessage, messages_of, result_value
from sessions_app.domain.tokens import IMAGE_TOKENS, TokenCounter
from sessions_app.domain.transcript import Run, ToolCall

PARENT_SENTENCE = "Context from previous conversation: {}"
NO_TEXT = "null"


@dataclass(frozen=True, slots=True)
class SeedDictionary:
    """One dictionary of the prompt, the run that it comes from, and what of it is sent, in words."""

    message: Mapping[str, Any]
    position: int
    what: str


def message_dictionary(message: SeedMessage) -> SeedDictionary:
    """Return a message with its text; whatever is not the user's is the assistant's."""
    role = "user" if message.is_users else "assistant"
    return SeedDictionary({"role": role, "content": message.content}, message.position, f"its {role} messages")


def silent_dictionary(message: SeedMessage) -> SeedDictionary:
    """Return the assistant's place without what it said."""
    return SeedDictionary({"role": "assistant", "content": None}, message.position, "its answer without the text")


def note_dictionary(message: SeedMessage) -> SeedDictionary:
    """Return the newest summary note of a message."""
    return SeedDictionary({"role": "system", "content": message.notes[-1]}, message.position, "its summary note")


def tool_dictionary(call: ToolCall, position: int, *, with_error: bool = False) -> SeedDictionary:
    """Return a tool's result; with its error, if it has one and that is asked for."""
    content = result_value(call)
    if with_error and call.error:
        content = {"error": call.error, "details": content}
    message = {"role": "tool", "name": call.name, "content": json.dumps(content, default=str)}
    return SeedDictionary(message, position, "its tool results")


def run_dictionaries(run: Run) -> list[SeedDictionary]:
    """Return all messages of a run, each with its results behind it."""
    return [
        dictionary
        for message in messages_of(run)
        for dictionary in (
            message_dictionary(message),
            *(tool_dictionary(call, message.position, with_error=True) for call in message.calls),
        )
    ]


def seed_piece(
    message: Mapping[str, Any], part: Part, position: int | None, counter: TokenCounter, *, heading: str = ""
) -> Piece:
    """Return a dictionary with what it needs."""
    content = message["content"]
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    images = sum(each.get("type") == "image_url" for each in parts)
    texts = [_text(each) for each in parts if each.get("type") != "image_url"]
    named = [message["name"]] if "name" in message else []
    shown = NO_TEXT if content is None else shown_text(texts, images)
    tokens = counter.message(message["role"], [*named, *texts]) + images * IMAGE_TOKENS
    segment = Segment(part, message["role"], shown, tokens, position=position, heading=heading)
    return weighed_piece(message, [segment], counter)


def _text(part: Mapping[str, Any]) -> str:
    text = part.get("text")
    return text if part.get("type") == "text" and isinstance(text, str) else json_text(part)
