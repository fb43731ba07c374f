"""The call of the API that answers with the prompt on a page, ready to be pasted."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call in two languages; both read the key from the variable CONVOWEB_KEY."""

    curl: str
    python: str


def prompt_call(*, url: str, settings: Mapping[str, Any], query: str) -> ApiCall:
    """Return the call for the prompt of `url` under sparse settings and with a query, if there is one."""
    body: dict[str, Any] = {"settings": dict(settings)} if settings else {}
    if query:
        body["query"] = query
    return ApiCall(curl=_curl(url, body), python=_python(url, body))


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
