"""What is sent with the prompt on a page, and the call of the API that answers with it, ready to be pasted."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.plan import Prompt
from sessions_app.domain.request_draft import RequestDraft, request_body

MOST_SENT = 60_000


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call in two languages; both read the key from the variable CONVOWEB_KEY."""

    curl: str
    python: str


def prompt_call(*, url: str, settings: Mapping[str, Any], asked: RequestDraft) -> ApiCall:
    """Return the call for the prompt of `url` under sparse settings and with what is asked."""
    body: dict[str, Any] = {"settings": dict(settings)} if settings else {}
    # Values as JSON has them, so that a program can hold them as literals.
    body = json.loads(json.dumps(body | request_body(asked.arguments)))
    return ApiCall(curl=_curl(url, body), python=_python(url, body))


def sent_json(prompt: Prompt, asked: RequestDraft) -> str:
    """Return what is sent and the tool definitions beside it, as JSON; nothing if that is too long for a page."""
    tools = asked.arguments.get("tools")
    sent = {"system": prompt.system, "messages": prompt.messages, "text": prompt.text, "tools": tools}
    written = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(
        {name: each for name, each in sent.items() if each is not None}
    )
    # Written only as far as it can be shown: a prompt may be of megabytes.
    text = ""
    for piece in written:
        text += piece
        if len(text) > MOST_SENT:
            return ""
    return text


def _curl(url: str, body: Mapping[str, Any]) -> str:
    return (
        f"curl -sS {shlex.quote(url)} \\\n"
        '  -H "Authorization: Bearer $CONVOWEB_KEY" -H "Content-Type: application/json" \\\n'
        f"  -d {shlex.quote(json.dumps(body))}\n"
    )


def _python(url: str, body: Mapping[str, Any]) -> str:
    return f"""import json, os, urllib.request

request = urllib.request.Request(
    {url!r},
    json.dumps({body!r}).encode(),
    {{"Authorization": "Bearer " + os.environ["CONVOWEB_KEY"], "Content-Type": "application/json"}},
)
with urllib.request.urlopen(request) as answer:
    prompt = json.load(answer)
print(json.dumps(prompt, indent=2))
"""
