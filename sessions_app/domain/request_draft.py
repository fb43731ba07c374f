"""What one request asks for beside the session, as a person writes it: texts of a form or an address."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.base_messages import Base
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.strict_json import TOO_DEEP, is_shallow, strict_json
from sessions_app.domain.text_cleaning import clean_json, clean_text

TOOLS_FORM = 'a list of tool definitions in OpenAI\'s form, [{"type": "function", "function": {"name": ...}}]'
BASE_FORM = 'a list of messages in OpenAI\'s form, [{"role": "user", "content": "..."}]'


@dataclass(frozen=True, slots=True)
class RequestDraft:
    """The texts as they were written, by the names of their fields, and what they come to.

    `arguments` are those of `build_prompt`; `errors` say by field what is allowed. Blank texts are left out.
    """

    texts: Mapping[str, tuple[str, ...]]
    arguments: Mapping[str, Any]
    errors: Mapping[str, str]

    @property
    def query(self) -> str:
        """The question, empty if there is none."""
        return self.text("query")

    @property
    def context(self) -> tuple[str, ...]:
        """The context blocks."""
        return self.texts.get("context", ())

    @property
    def has_more(self) -> bool:
        """Whether anything is asked for besides the question."""
        return any(name != "query" for name in self.texts)

    @property
    def has_texts(self) -> bool:
        """Whether any of that is a text, rather than a turn or a switch."""
        return any(name in self.texts for name in ("instructions", "context", "tools", "base"))

    @property
    def count(self) -> int:
        """How many inputs there are besides the question; the index belongs to its messages."""
        return sum(len(texts) for name, texts in self.texts.items() if name not in ("query", "index"))

    def text(self, name: str) -> str:
        """Return what was written into a field of one text."""
        return self.texts.get(name, ("",))[0]


def read_request(given: Mapping[str, Sequence[str]]) -> RequestDraft:
    """Return what the texts ask for; names that are no field are somebody else's."""
    texts = {name: kept for name in _READERS if (kept := _kept(name, given.get(name, ())))}
    arguments: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, kept in texts.items():
        try:
            arguments[name] = _READERS[name](kept)
        except ValueError as refusal:
            errors[name] = str(refusal)
    index = arguments.pop("index", None)
    if "base" in arguments:
        arguments["base"] = Base(arguments["base"], index)
    elif "index" in texts and "base" not in texts:
        errors.setdefault("index", "An index says where among base messages the memory goes; there are none.")
    return RequestDraft(texts, arguments, errors)


def request_body(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as the body of the API's call."""
    base: Base | None = arguments.get("base")
    body = {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}
    return body if base is None else body | {"base": {"messages": list(base.messages), "index": base.index}}


def _kept(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that say something, with the line ends that they were written with before a form sent them."""
    cleaned = [clean_text(text.replace("\r\n", "\n")) for text in texts]
    if name != "context":
        cleaned = [text.strip() for text in cleaned[-1:]]
    return tuple(text for text in cleaned if text.strip() and (name != "shorten" or text == "true"))


def _whole_number(name: str, allowed: str) -> Callable[[Sequence[str]], int]:
    def read(texts: Sequence[str]) -> int:
        digits = texts[0].removeprefix("-")
        is_whole = digits.isascii() and digits.isdigit() and len(digits) <= len(str(LARGEST_INTEGER))
        if not is_whole or int(digits) > LARGEST_INTEGER:
            raise ValueError(f"{name} is {allowed}; this is not one.")
        return int(texts[0])

    return read


def _objects(name: str, allowed: str) -> Callable[[Sequence[str]], list[Mapping[str, Any]]]:
    def read(texts: Sequence[str]) -> list[Mapping[str, Any]]:
        value = _json(name, texts[0], allowed)
        if not is_shallow(value):
            raise ValueError(TOO_DEEP)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise ValueError(f"{name} is {allowed}.")
        return clean_json(value)  # type: ignore[no-any-return]

    return read


def _json(name: str, text: str, allowed: str) -> Any:
    try:
        return strict_json(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
    except ValueError as error:
        where = str(error)
    except RecursionError:
        where = "it is nested too deeply"
    raise ValueError(f"This is not JSON, {where}. {name} is {allowed}.")


_READERS: Mapping[str, Callable[[Sequence[str]], Any]] = {
    "query": lambda texts: texts[0],
    "at": _whole_number("at", "the number of a turn, a whole number from 1 on"),
    "shorten": lambda texts: texts[0] == "true",
    "index": _whole_number("index", "a whole number, which may be negative and then counts from the end"),
    "instructions": lambda texts: texts[0],
    "context": tuple,
    "tools": _objects("tools", TOOLS_FORM),
    "base": _objects("base", BASE_FORM),
}
