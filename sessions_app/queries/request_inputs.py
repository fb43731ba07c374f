"""The inputs of a request beside the settings, as the tune page shows them and its addresses carry them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.request_draft import RequestDraft

LONGEST_ADDRESS = 2_000
SETTINGS_POINTER = "settings"


@dataclass(frozen=True, slots=True)
class Carried:
    """The texts that addresses carry, and the names of those that are too long for that."""

    texts: Mapping[str, Sequence[str]]
    left_out: Sequence[str]


def carried(asked: RequestDraft) -> Carried:
    """Choose what addresses carry, so that they stay short; an index goes with its messages."""
    texts: dict[str, Sequence[str]] = {}
    for name, values in asked.texts.items():
        longer = texts | {name: values}
        if sum(map(len, values)) <= LONGEST_ADDRESS and len(urlencode(longer, doseq=True)) <= LONGEST_ADDRESS:
            texts = longer
    if "base" in asked.texts and "base" not in texts:
        texts.pop("index", None)
    return Carried(texts, [name for name in asked.texts if name not in texts])


def field_errors(asked: RequestDraft, refusals: Sequence[ConvowebError | None]) -> dict[str, str]:
    """Return what is wrong by field or setting: texts that cannot be read, then what the builder refused."""
    found = dict(_refused(refusals))
    return found | dict(asked.errors)


def _refused(refusals: Sequence[ConvowebError | None]) -> Iterator[tuple[str, str]]:
    for refusal in refusals:
        for error in refusal.errors if refusal else ():
            name, _, inner = error.pointer.removeprefix("/").partition("/")
            if name == SETTINGS_POINTER:
                yield inner, error.detail
            else:
                yield name, f"{name}/{inner}: {error.detail}" if inner else error.detail
