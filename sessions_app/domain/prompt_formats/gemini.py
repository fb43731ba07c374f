"""Gemini's contents: roles user and model, the system text beside them, function responses as the user's parts.

Counted as messages of parts: 3, the role, and every text; a function call its name, its arguments as JSON and 8, a
function response its name and its response as JSON; thoughts and signatures by every text in them. The system text is a
message of the role system.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sessions_app.domain.as_sent import arguments_object, is_blank, json_text, result_as_sent, tool_name_as_sent
from sessions_app.domain.images import NOT_SENT, image_of
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.opaque_parts import opaque_parts
from sessions_app.domain.pieces import (
    Head,
    Payload,
    Piece,
    Tail,
    system_apart,
    system_pieces,
    weighed_piece,
)
from sessions_app.domain.plan import Part
from sessions_app.domain.tokens import PROMPT_FRAME, TokenCounter
from sessions_app.domain.transcript import Event, Run, ToolCall
from sessions_app.domain.turn_segments import SentTurn, turn_segments
from sessions_app.domain.turns import (
    ASSISTANT,
    OpaquePart,
    Turn,
    left_out_of_turns,
    render_turns_of_tail,
    run_turns,
    with_results,
)

MODEL = "model"
SIGNATURE = "thoughtSignature"
THOUGHT_FIELDS = frozenset({"thought", "text", SIGNATURE})
# Google's documented signature for calls that another model made.
FOREIGN_SIGNATURE = "skip_thought_signature_validator"


def overhead(counter: TokenCounter) -> int:
    """Return the frame of a prompt."""
    return counter.scaled(PROMPT_FRAME)


def render_head(head: Head, counter: TokenCounter) -> list[Piece]:
    """Render the system text, if there is anything to say."""
    return system_pieces(head, counter)


def render_run(run: Run, counter: TokenCounter) -> list[Piece]:
    """Render a finished run so that it starts with the user and ends with the model."""
    return _pieces(run_turns(run, _thoughts), Part.RUNS, run.position, counter=counter)


def render_tail(tail: Tail, counter: TokenCounter) -> list[Piece]:
    """Render context blocks inside the content of the query or of the open run's input."""
    return render_turns_of_tail(tail, partial(_pieces, counter=counter), _thoughts)


def left_out(run: Run) -> str:
    """Say which notes and which reasoning are not sent, and of an open run what follows its last finished step."""
    return left_out_of_turns(run, _thoughts)


def payload(pieces: Sequence[Piece]) -> Payload:
    """Return the contents and the system text; calls and responses are paired by their order and have no ids."""
    system, contents = system_apart(pieces)
    return Payload(messages=tuple(map(dict, contents)), system=system)


def _thoughts(event: Event) -> Iterator[Mapping[str, Any]]:
    """Yield the thoughts and signatures that may be sent back."""
    for part in opaque_parts(event, PromptFormat.GEMINI):
        text, signature = part.get("text"), part.get(SIGNATURE)
        has_text = part.get("thought") is True and isinstance(text, str) and not is_blank(text)
        is_signed = isinstance(signature, str) and not is_blank(signature)
        is_whole = (has_text or "text" not in part) and (is_signed if SIGNATURE in part else has_text)
        if set(part) <= THOUGHT_FIELDS and is_whole:
            yield part


def _pieces(turns: Sequence[Turn], part: Part, position: int | None, *, counter: TokenCounter) -> list[Piece]:
    return [_piece(turn, part, position, counter) for turn in with_results(turns)]


def _piece(turn: Turn, part: Part, position: int | None, counter: TokenCounter) -> Piece:
    role = MODEL if turn.speaker == ASSISTANT else turn.speaker
    responses, parts = [*map(_response, turn.results)], _signed_parts(turn)
    calls = [each["functionCall"] for each in parts if "functionCall" in each]
    sent = SentTurn(
        role=role,
        speaker=turn.speaker,
        results=[
            (
                result_as_sent(call),
                [response["functionResponse"]["name"], json_text(response["functionResponse"]["response"])],
            )
            for call, response in zip(turn.results, responses, strict=True)
        ],
        opaque=[each for each in parts if each.get("thought")],
        signatures=[each[SIGNATURE] for each in parts if SIGNATURE in each and not each.get("thought")],
        texts=[each["text"] for each in parts if "text" in each and not each.get("thought")],
        images=sum("inlineData" in each or "fileData" in each for each in parts),
        calls=tuple((call["name"], json_text(call["args"])) for call in calls),
    )
    message = {"role": role, "parts": [*responses, *parts]}
    return weighed_piece(message, turn_segments(sent, part, position, counter), counter)


def _signed_parts(turn: Turn) -> list[dict[str, Any]]:
    """Return the parts of a turn without its responses; a signature that stood alone goes to the part behind it."""
    parts: list[dict[str, Any]] = []
    signature: dict[str, Any] = {}
    for block in turn.blocks():
        if isinstance(block, OpaquePart) and "text" not in block.part:
            signature = {SIGNATURE: block.part[SIGNATURE]}
        elif isinstance(block, OpaquePart):
            parts.append(dict(block.part))
        else:
            parts.append(({"text": block} if isinstance(block, str) else _image(block)) | signature)
            signature = {}
    calls = [*map(_call, turn.calls)]
    if calls:
        calls[0] |= signature or {SIGNATURE: FOREIGN_SIGNATURE}
    return [*parts, *calls]


def _image(part: Mapping[str, Any]) -> dict[str, Any]:
    image = image_of(part)
    if image is None:
        return {"text": NOT_SENT}
    if image.data:
        return {"inlineData": {"mimeType": image.media_type, "data": image.data}}
    media_type = {"mimeType": image.media_type} if image.media_type else {}
    return {"fileData": {"fileUri": image.url, **media_type}}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"functionCall": {"name": tool_name_as_sent(call.name), "args": arguments_object(call.arguments)}}


def _response(call: ToolCall) -> dict[str, Any]:
    response = {"error" if call.error else "output": result_as_sent(call)}
    return {"functionResponse": {"name": tool_name_as_sent(call.name), "response": response}}
