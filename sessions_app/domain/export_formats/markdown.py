"""Markdown for people to read: a heading for each run, and every text such that it can only be shown as itself.

A text of plain prose is a quotation. All others, which Markdown might take for a picture, a link or a tag, stand in
code fences that are longer than any inside.
"""

import re
from collections.abc import Iterator
from datetime import UTC

from sessions_app.domain.conversation_files import ExportFormat, StoredConversation
from sessions_app.domain.text_cleaning import REPLACEMENT
from sessions_app.domain.transcript import Event, EventKind, NewRun, RunStatus, ToolCall

# Signs that mean something inside a line.
_SIGNS = re.compile(r"([\\`*\[\]<>&~|$#@^{}!]|(?<![^\W_])_|_(?![^\W_])|:(?=//|\w)|(?<=www)\.)", re.IGNORECASE)
# A line that begins with a letter or a number that numbers no list, and has no sign that means anything.
_PLAIN_LINE = re.compile(r"(?!\d{1,9}[.)])[^\W_](?: ?(?:[^\W_]|[.,;:?!'\"()%/€£°\u2010-\u2027-]))*")
_ADDRESS_OR_SIGN = re.compile(r"://|www\.|:\w+:", re.IGNORECASE)
_TICKS = re.compile("`+")
# What steers a terminal instead of being read.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")


def write(conversation: StoredConversation) -> Iterator[str]:
    """Yield the text of a conversation, run by run."""
    yield f"# {_escaped(conversation.title or conversation.session_id)}\n\n"
    for name, value in _facts(conversation):
        yield f"- {name}: {value}\n"
    if conversation.instructions:
        yield f"\n**Instructions**\n\n{_block(conversation.instructions)}"
    for position, run in enumerate(conversation.runs(), 1):
        yield f"\n## Run {position}\n\n{_about(run)}"
        calling = {event.parent for event in run.events if event.tool is not None}
        for index, event in enumerate(run.events):
            if event.text or event.content or index not in calling:
                yield from _event(event)
        if run.error:
            yield f"\n**Error**\n\n{_block(run.error)}"
    yield "\n"


MARKDOWN = ExportFormat(
    name="markdown",
    label="Markdown, to read",
    suffix="md",
    content_type="text/markdown; charset=utf-8",
    write=write,
)


def _facts(conversation: StoredConversation) -> Iterator[tuple[str, str]]:
    yield "Session", _escaped(conversation.session_id)
    if conversation.user_id:
        yield "User", _escaped(conversation.user_id)
    if conversation.tags:
        yield "Tags", ", ".join(map(_escaped, conversation.tags))


def _about(run: NewRun) -> str:
    words = [] if run.created_at is None else [f"{run.created_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"]
    if run.status is not RunStatus.COMPLETED:
        words.append(str(run.status))
    if run.model:
        words.append(_escaped(run.model))
    return f"{', '.join(words)}\n" if words else ""


def _event(event: Event) -> Iterator[str]:
    if event.tool is not None:
        yield from _call(event.tool)
        return
    yield f"\n**{_SPEAKERS[event.role or event.kind]}**\n\n"
    if event.text:
        yield _block(event.text)
    for kind in _other_parts(event):
        yield f"*Not text: {_escaped(kind)}*\n\n"
    if not event.text and not event.content:
        yield "*Nothing was said.*\n"


def _call(call: ToolCall) -> Iterator[str]:
    yield f"\n**Tool call: {_escaped(call.name) or 'no name'}**\n\n"
    if call.arguments:
        yield _fenced(_readable(call.arguments))
    if call.result is not None:
        yield f"\n**Result**\n\n{_block(call.result)}"
    if call.error is not None:
        yield f"\n**Error of the tool**\n\n{_block(call.error)}"
    if call.result is None and call.error is None:
        yield "\n*No result.*\n"


_SPEAKERS = {
    "user": "User",
    "assistant": "Assistant",
    "system": "System",
    EventKind.REASONING: "Reasoning",
    EventKind.NOTE: "Note",
}


def _other_parts(event: Event) -> Iterator[str]:
    kinds = (str(part.get("type", "part")) for part in event.content or ())
    return (kind for kind in kinds if kind not in ("text", "input_text", "output_text", "refusal"))


def _block(text: str) -> str:
    text = _readable(text)
    lines = text.split("\n")
    if all(not line or _is_plain(line) for line in lines) and lines[0] and lines[-1]:
        return _quoted(lines)
    return _fenced(text)


def _is_plain(line: str) -> bool:
    return _PLAIN_LINE.fullmatch(line) is not None and not _ADDRESS_OR_SIGN.search(line)


def _quoted(lines: list[str]) -> str:
    """Return paragraphs as a quotation, in which a backslash ends a line that others follow."""
    following = [*lines[1:], ""]
    ends = ["\\" if line and after else "" for line, after in zip(lines, following, strict=True)]
    return "".join(f">{' ' if line else ''}{line}{end}\n" for line, end in zip(lines, ends, strict=True))


def _fenced(text: str) -> str:
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}\n"


def _escaped(text: str) -> str:
    """Return a short text on one line of which every sign means itself."""
    return _SIGNS.sub(r"\\\1", " ".join(_readable(text).split()))


def _readable(text: str) -> str:
    return _CONTROL.sub(REPLACEMENT, text.replace("\r\n", "\n"))
