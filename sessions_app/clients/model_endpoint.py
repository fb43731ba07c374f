"""Asking an OpenAI-compatible endpoint through the openai SDK: one call, no retries, bounded in time and size.

Every failure is a SummarizerFailed with a plain sentence. No key is in it, nor in an answer, even where the endpoint
repeats it.
"""

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any

import httpcore2
import httpx2
from openai import APIStatusError, BadRequestError, OpenAI

from sessions_app.clients.bounded_transport import AnswerTooLong, BoundedTransport
from sessions_app.clients.endpoints import Endpoint
from sessions_app.domain.endpoint_names import key_variable
from sessions_app.domain.errors import SummarizerFailed
from sessions_app.domain.summarizers.openai import ModelAnswer, ModelRequest
from sessions_app.domain.text_cleaning import clean_text

# What may stand around a text, and what a token of it needs at most, escaped.
LONGEST_FRAME = 1_000_000
BYTES_PER_TOKEN = 32
# What models that think before they answer may take for it.
THINKING_TOKENS = 8_192
LONGEST_QUOTE = 300
LONGEST_WAIT = 24 * 3600


def ask(endpoint: Endpoint, request: ModelRequest, timeout: float) -> ModelAnswer:
    """Return what a model answers within `timeout` seconds, from the connection to the last byte."""
    key = endpoint.key.get_secret_value() if endpoint.key else None
    most_bytes = LONGEST_FRAME + BYTES_PER_TOKEN * request.max_tokens
    transport = BoundedTransport(seconds=timeout, most_bytes=most_bytes, key=key)
    wait = None
    try:
        with httpx2.Client(transport=transport, timeout=timeout, trust_env=False) as http:
            return _answer(_body(endpoint, request, http), key)
    except APIStatusError as error:
        wait = _wait_seconds(error.response.headers.get("retry-after", ""))
        problem = _refusal(error, endpoint, wait)
    except httpcore2.TimeoutException:
        problem = f"did not answer within {timeout:g} s"
    except AnswerTooLong:
        problem = f"answered with more than {most_bytes:,} bytes"
    except httpcore2.ConnectError as error:
        problem = f"cannot be reached: {error}"
    except (httpcore2.NetworkError, httpcore2.ProtocolError):
        problem = "closed the connection before its answer was whole"
    except _Unreadable as error:
        problem = f"answered {error}"
    raise SummarizerFailed(f"The endpoint {endpoint.name} {_shown(problem, key)}.", retry_after=wait)


class _Unreadable(Exception):
    """What an answer is instead of a chat completion."""


def _body(endpoint: Endpoint, request: ModelRequest, http: httpx2.Client) -> bytes:
    # The transport sends the key; whatever stands here keeps the SDK from looking for one in the environment.
    client = OpenAI(api_key="-", base_url=endpoint.url, max_retries=0, http_client=http)
    create = client.chat.completions.with_raw_response.create
    asked: dict[str, Any] = {"model": request.model, "messages": [{"role": "user", "content": request.text}]}
    try:
        return create(**asked, max_tokens=request.max_tokens).content
    except BadRequestError as error:
        # What models that think first say; others know only the older name.
        if "max_completion_tokens" not in error.response.text:
            raise
    return create(**asked, max_completion_tokens=request.max_tokens + THINKING_TOKENS).content


def _answer(body: bytes, key: str | None) -> ModelAnswer:
    try:
        completion = json.loads(body)
        choice = completion["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        usage = completion.get("usage")
    except (ValueError, RecursionError):
        raise _Unreadable("with something that is not JSON") from None
    except (LookupError, TypeError, AttributeError):
        raise _Unreadable("with JSON that is not a chat completion") from None
    if not isinstance(text, str | None):
        raise _Unreadable("with a message whose content is not a text")
    given = _counts(usage)
    return ModelAnswer(
        text=_hidden(text or "", key),
        finish_reason=_hidden(str(choice.get("finish_reason") or ""), key),
        refusal=_hidden(str(refusal or ""), key),
        input_tokens=given.get("prompt_tokens"),
        cached_tokens=_counts(usage.get("prompt_tokens_details")).get("cached_tokens", 0) if given else 0,
        output_tokens=given.get("completion_tokens"),
    )


def _counts(usage: Any) -> dict[str, int]:
    """Return the numbers of tokens in an answer's usage, as far as they are some."""
    items = usage.items() if isinstance(usage, Mapping) else ()
    return {name: count for name, count in items if type(count) is int and 0 <= count < 2**31}


def _refusal(error: APIStatusError, endpoint: Endpoint, wait: int | None) -> str:
    code = error.status_code
    if 300 <= code < 400:
        return f"answered {code}, a redirect, which is not followed"
    answered = f"answered {code}"
    if code in {401, 403}:
        answered += f"; {key_variable(endpoint.name)} is {'not accepted' if endpoint.key else 'not set'}"
    if wait is not None:
        answered += f" and asks to wait {wait} s"
    said = error.body.get("message") if isinstance(error.body, Mapping) else error.response.text
    return f"{answered}: {said}" if isinstance(said, str) and said.strip() else answered


def _wait_seconds(retry_after: str) -> int | None:
    """Return the seconds of a Retry-After header, which holds them or a date; at most a day, None where it is none."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return ceil(min(max(0.0, seconds), LONGEST_WAIT))


def _shown(problem: str, key: str | None) -> str:
    """Return a problem in one line, without the key, which some endpoints repeat."""
    line = " ".join(clean_text(_hidden(problem, key)).split()).rstrip(".")
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


def _hidden(text: str, key: str | None) -> str:
    return text.replace(key, "[key]") if key else text
