"""JSON Lines of OpenAI chat messages, a conversation a line, as the import of the same name reads them.

Beside the messages stands what they cannot say of their runs (`domain.run_facts`).
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from sessions_app.domain.conversation_files import ExportFormat, StoredConversation
from sessions_app.domain.openai_writing import leading_messages, run_messages
from sessions_app.domain.run_facts import FIELD, RUNS, facts_of

# Ends of lines to readers that do not keep to JSON Lines.
_OTHER_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


def write(conversation: StoredConversation) -> Iterator[str]:
    """Yield the line; the runs are read twice, since their facts stand behind their messages."""
    first = next(conversation.runs(), None)
    leading = leading_messages(conversation.instructions, first)
    messages = chain.from_iterable(run_messages(run) for run in conversation.runs())
    yield "{"
    for name, value in _head(conversation):
        yield f"{_json(name)}: {_json(value)}, "
    yield '"messages": ['
    yield from _items(chain(leading, messages))
    yield f'], "{FIELD}": {{"{RUNS}": ['
    yield from _items(facts_of(run, messages=sum(1 for _ in run_messages(run))) for run in conversation.runs())
    yield "]}}\n"


OPENAI = ExportFormat(
    name="openai",
    label="OpenAI messages, JSON Lines",
    suffix="jsonl",
    content_type="application/jsonl; charset=utf-8",
    write=write,
)


def _head(conversation: StoredConversation) -> Iterator[tuple[str, Any]]:
    yield "id", conversation.session_id
    others = {
        "title": conversation.title,
        "user_id": conversation.user_id,
        "tags": list(conversation.tags),
        "metadata": conversation.metadata,
    }
    yield from ((name, value) for name, value in others.items() if value)


def _items(values: Iterable[Any]) -> Iterator[str]:
    for place, value in enumerate(values):
        yield f"{', ' if place else ''}{_json(value)}"


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _OTHER_LINE_ENDS.sub(lambda end: f"\\u{ord(end.group()):04x}", text)
