"""What the conversations are made of, read from `texts/`: goals and facts, and what else people say there."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

TEXTS = Path(__file__).parent / "texts"
COMMON = {"en": "en.toml"}


class Kind(StrEnum):
    """What a fact is about."""

    FIRST_PERSON = "first-person"
    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    DECISION = "decision"


class Speaker(StrEnum):
    """Who says a fact, or shows it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth remembering, said once; `key` are the words of it which a summary must contain, all of them.

    A tool shows it as the value of `field`.
    """

    kind: Kind
    says: str
    key: tuple[str, ...]
    by: Speaker = Speaker.USER
    field: str = ""

    def is_in(self, text: str) -> bool:
        """Whether a text contains the whole key, in whatever case and order."""
        plain = " ".join(text.casefold().split())
        return all(words.casefold() in plain for words in self.key)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a conversation begins, and the facts that are planted in it."""

    goal: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """One subject in one language; in `filler` and `tools` stand `<slots>` for what differs each time."""

    name: str
    system: str
    joiner: str
    slots: Mapping[str, Sequence[str]]
    filler: Mapping[str, Sequence[str]]
    tools: Sequence[Mapping[str, str]]
    plans: Sequence[Plan]

    @property
    def language(self) -> str:
        """The language's code."""
        return self.name[:2]


@cache
def scripts() -> tuple[Script, ...]:
    """Return all scripts, by name."""
    paths = (path for path in sorted(TEXTS.glob("*.toml")) if path.name not in COMMON.values())
    return tuple(_script(path) for path in paths)


def _script(path: Path) -> Script:
    own, shared = _read(path), _shared(path)
    filler = {
        name: [*shared["filler"].get(name, ()), *own["filler"].get(name, ())] for name in _filler_names(shared, own)
    }
    return Script(
        name=path.stem,
        system=own["system"],
        joiner=own.get("joiner", " "),
        slots=shared["slots"] | own["slots"],
        filler=filler,
        tools=own["tools"],
        plans=[Plan(each["goal"], tuple(map(_fact, each["facts"]))) for each in own["conversations"]],
    )


def _shared(path: Path) -> dict[str, Any]:
    name = COMMON.get(path.stem[:2])
    return _read(TEXTS / name) if name else {"slots": {}, "filler": {}}


def _filler_names(*parts: Mapping[str, Any]) -> list[str]:
    return sorted({name for part in parts for name in part["filler"]})


def _fact(row: Mapping[str, Any]) -> Fact:
    by = Speaker(row.get("by", Speaker.USER))
    return Fact(Kind(row["kind"]), row["says"], tuple(row["key"]), by, row.get("field", ""))


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
