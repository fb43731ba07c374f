"""What only the provider that wrote it can read: reasoning and signatures, sent back in its own format alone.

A reasoning event keeps them in `content` as parts {"type": "opaque", "format": FORMAT, "part": {...}}: the format that
they came from, and the part exactly as the provider gave it. They belong to what stands next in the run, an assistant's
message or a tool call. Parts without that envelope came from nowhere in particular and are never sent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.transcript import Event, EventKind

OPAQUE: Final = "opaque"
NOT_READABLE: Final = "[not readable]"
CARRYING_FORMATS: Final = (PromptFormat.RESPONSES, PromptFormat.ANTHROPIC, PromptFormat.GEMINI)


def opaque_parts(event: Event, origin: PromptFormat) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of a reasoning event that came from a format."""
    if event.kind is not EventKind.REASONING:
        return
    for part in event.content or ():
        given = part.get("part")
        if part.get("type") == OPAQUE and part.get("format") == origin and isinstance(given, Mapping):
            yield given


def check_opaque_parts(content: Sequence[Mapping[str, Any]]) -> None:
    """Refuse an opaque part that does not say where it came from."""
    opaque = [(place, part) for place, part in enumerate(content) if part.get("type") == OPAQUE]
    errors = [error for place, part in opaque for error in _errors(place, part)]
    if errors:
        raise InvalidInput(errors[0].detail, errors=errors)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value, names of objects left out; these are what an opaque part is counted by."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def opaque_text(content: Sequence[Mapping[str, Any]]) -> str:
    """Return what people can read of checked opaque parts, maybe nothing."""
    return "\n\n".join(text for part in content if part.get("type") == OPAQUE for text in _readable(part["part"]))


def readable_text(part: Mapping[str, Any]) -> str:
    """Return what people can read of a provider's own part, or that there is nothing."""
    return "\n\n".join(_readable(part)) or NOT_READABLE


def _readable(part: Mapping[str, Any]) -> Iterator[str]:
    summary = part.get("summary")
    items = [item for item in summary if isinstance(item, Mapping)] if isinstance(summary, list) else []
    for text in (part.get("thinking"), part.get("text"), *(item.get("text") for item in items)):
        if isinstance(text, str) and text.strip():
            yield text


def _errors(place: int, part: Mapping[str, Any]) -> Iterator[FieldError]:
    if part.get("format") not in CARRYING_FORMATS:
        known = ", ".join(CARRYING_FORMATS)
        yield FieldError(f"/content/{place}/format", f"An opaque part names the format that it came from: {known}.")
    if not isinstance(part.get("part"), Mapping):
        yield FieldError(f"/content/{place}/part", "An opaque part has the provider's own object as its part.")
