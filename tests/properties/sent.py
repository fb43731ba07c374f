"""What a built answer really sends, taken apart: the caller's base, the head, and the body with the runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.domain.recount import count_prompt, count_text
from tests.properties.conversations import MARKER
from tests.properties.wanted import strings_in

# Encoding, margin in tenths and window of each model: written down here, not asked of the product.
MODELS: dict[str, tuple[str, int, int | None]] = {
    "gpt-4.1-mini": ("o200k_base", 10, 1_047_576),
    "gpt-4o": ("o200k_base", 10, 128_000),
    "gpt-4": ("cl100k_base", 10, 8_192),
    "gpt-4-turbo": ("cl100k_base", 10, 128_000),
    "claude-sonnet-4-5": ("o200k_base", 13, 200_000),
    "someone/unheard-of": ("o200k_base", 13, None),
}
SYSTEM_ROLE = ("openai", "responses", "seed")
# Texts longer than this are counted in slices, here and there at other places, and each seam may cost a token.
SLICE = 98_304
EXTRACT = re.compile(r"Extract of runs (\d+)-(\d+), not summarized yet(?:\n|: )")
BEHIND_EXTRACT = re.compile(r"\n\n# Context\n|$", re.DOTALL)
LABELS = {"user": "User: ", "assistant": "Assistant: "}
ANY_MARKER = re.compile(r"q[A-Z]\w*z|q\d+n\d+z")


@dataclass(frozen=True)
class Sent:
    """An answer beside what was asked for."""

    asked: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def format(self) -> str:
        return self.asked["settings"]["format"]

    @property
    def base(self) -> list[Any]:
        return [] if self.asked["base"] is None else self.asked["base"]["messages"]

    @cached_property
    def around(self) -> tuple[list[Any], list[Any]] | None:
        """What stands inside the base, and behind it; None if the base is not as it was given."""
        if self.answer["text"] is not None:
            return ([], []) if self._is_base_in_text else None
        messages, index = list(self.answer["messages"] or ()), (self.asked["base"] or {}).get("index")
        before, after = self.base[:index], [] if index is None else self.base[index:]
        rest = messages[len(before) :]
        if messages[: len(before)] != before:
            return None
        if not after:
            return rest, []
        places = [at for at in range(len(rest)) if rest[at : at + len(after)] == after]
        return (rest[: places[0]], rest[places[0] + len(after) :]) if len(places) == 1 else None

    @property
    def _is_base_in_text(self) -> bool:
        """Whether the base's paragraphs stand in order, with the runs at their place among them."""
        index = (self.asked["base"] or {}).get("index")
        paragraphs = [LABELS.get(each["role"], "") + each["content"] + "\n\n" for each in self.base]
        runs = [found.start() for found in MARKER.finditer(self.answer["text"])]
        places = [self.answer["text"].find(each) for each in paragraphs]
        ends = [*places[:index], *runs, *([] if index is None else places[index:])] if self._is_closed else places
        return -1 not in places and ends == sorted(ends)

    @property
    def _is_closed(self) -> bool:
        """Whether no run can stand behind the base, as an open one does."""
        return self.asked["query"] is not None

    @cached_property
    def own(self) -> list[Any]:
        """The messages that are not the caller's."""
        inside, behind = self.around or ([], [])
        return [*inside, *behind]

    @cached_property
    def heads(self) -> list[str]:
        """The system texts in front, apart from the base."""
        if self.answer["system"] is not None:
            return [self.answer["system"]]
        count = next((at for at, each in enumerate(self.own) if each.get("role") != "system"), len(self.own))
        return [each["content"] for each in self.own[:count]] if self.format in SYSTEM_ROLE else []

    @cached_property
    def everything(self) -> str:
        """All that is sent, the base included, as one text."""
        if self.answer["text"] is not None:
            return self.answer["text"]
        return "\n".join(strings_in([self.answer["system"] or "", self.answer["messages"]]))

    @cached_property
    def extract(self) -> tuple[int, int, str] | None:
        """The extract in the place of lost runs, with the runs it names; the format seed does not name them."""
        text = self.answer["text"] if self.answer["text"] is not None else "\n\n".join(self.heads)
        found = EXTRACT.search(text)
        if found is None:
            return self._unnamed_extract
        first, last, start = int(found[1]), int(found[2]), found.end()
        if self.answer["text"] is None:
            end = BEHIND_EXTRACT.search(text, start)
            return first, last, text[start : end.start() if end else len(text)]
        behind = (each.start() for each in ANY_MARKER.finditer(text, start) if not _is_among(each[0], first, last))
        other = next(behind, len(text))
        paragraph = text.rfind("\n\nUser: ", start, other)
        return first, last, text[start : other if paragraph < 0 else paragraph]

    @property
    def _unnamed_extract(self) -> tuple[int, int, str] | None:
        if self.format != "seed" or not self.answer["extract"]:
            return None
        return (*self.answer["extract"], self.heads[-1] if self.heads else "")

    @cached_property
    def body(self) -> str:
        """What is sent word for word: all but head, base and extract."""
        if self.answer["text"] is not None:
            return self.everything.replace(self.extract[2], "\n", 1) if self.extract else self.everything
        messages = self.own if self.format in ("anthropic", "gemini") else self.own[len(self.heads) :]
        return "\n".join(strings_in(messages))

    @cached_property
    def positions(self) -> list[int]:
        """The runs whose markers stand in the body, in order."""
        return [int(found[1]) for found in MARKER.finditer(self.body)]

    @cached_property
    def tokens(self) -> int:
        """What is sent, counted by the words of the counter, with the tool definitions."""
        encoding, tenths, _ = MODELS[self.asked["settings"]["model"]]
        tools = scaled(definition_tokens(self.asked["tools"], encoding), tenths)
        if self.answer["text"] is not None:
            return tools + scaled(count_text(self.answer["text"], encoding), tenths)
        return tools + count_prompt(self.format, self.answer["messages"], self.answer["system"], encoding, tenths)

    @cached_property
    def seams(self) -> int:
        """By how many tokens two right counts may differ."""
        texts = strings_in([self.answer["text"], self.answer["system"], self.answer["messages"]])
        seams = sum(2 * (len(text) // SLICE + 1) for text in texts if len(text) > SLICE)
        return scaled(seams, MODELS[self.asked["settings"]["model"]][1])

    @cached_property
    def rounding(self) -> int:
        """By how much a string's own sum may be higher: its paragraphs are rounded up one by one."""
        tenths = MODELS[self.asked["settings"]["model"]][1]
        return self.answer["text"].count("\n\n") + 1 if self.answer["text"] is not None and tenths > 10 else 0


def scaled(tokens: int, tenths: int) -> int:
    """Return a count with a margin, rounded up."""
    return -(-tokens * tenths // 10)


def definition_tokens(tools: Sequence[Mapping[str, Any]], encoding: str) -> int:
    """Count tool definitions by the rule of OpenAI's cookbook."""
    return sum(_function_tokens(tool["function"], encoding) for tool in tools) + 12 if tools else 0


def _function_tokens(function: Mapping[str, Any], encoding: str) -> int:
    line = f"{function['name']}:{function.get('description', '').rstrip('.')}"
    return 7 + count_text(line, encoding) + _properties_tokens(function.get("parameters", {}), encoding)


def _properties_tokens(schema: Mapping[str, Any], encoding: str) -> int:
    tokens = 3 if schema.get("properties") else 0
    for name, each in schema.get("properties", {}).items():
        line = f"{name}:{each.get('type', '')}:{each.get('description', '').rstrip('.')}"
        tokens += 3 + count_text(line, encoding) + _properties_tokens(each, encoding)
        tokens += _properties_tokens(each.get("items", {}), encoding)
        tokens += sum(3 + count_text(value, encoding) for value in each["enum"]) - 3 if "enum" in each else 0
    return tokens


def _is_among(marker: str, first: int, last: int) -> bool:
    found = MARKER.fullmatch(marker)
    return found is not None and first <= int(found[1]) <= last
