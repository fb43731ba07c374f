"""What a tool was asked and what it gave, in few words: of JSON the names and plain values, however deep they lie."""

import json
from collections.abc import Iterator
from itertools import islice

from sessions_app.domain.summarizers import cues
from sessions_app.domain.summarizers.sentences import pieces_of
from sessions_app.domain.transcript import ToolCall

LONGEST_GIST = 200
# Of a longer one only so much, since it lists more than is to the point.
LONGEST_PART = 120
LONGEST_ARGUMENTS = 80
LONGEST_VALUE = 120
LONGEST_JSON = 50_000
# What the first items of a long list say is an example of the rest.
MOST_ITEMS = 3
MOST_VALUES = 60
MOST_SENTENCES = 5


def call_texts(call: ToolCall) -> list[str]:
    """Return a line for the call and, where it gave sentences, one for each of the others."""
    outcome = f"error: {call.error}" if call.error else call.result or ""
    asked = _gist(call.arguments, LONGEST_ARGUMENTS)
    values = _gist_of_values(outcome, LONGEST_GIST, known=asked)
    sentences = [values] if values else [_shortened(piece) for piece in pieces_of(outcome[: 8 * LONGEST_GIST])]
    first, *rest = sentences[:MOST_SENTENCES] or [outcome.strip()[:LONGEST_VALUE] or "no result"]
    return [f"{call.name}({asked}) gave {first}", *rest]


def _gist(text: str, length: int) -> str:
    return _gist_of_values(text, length) or _shortened(" ".join(text[:LONGEST_GIST].split()))


def _gist_of_values(text: str, length: int, known: str = "") -> str:
    """Return `name value` pairs of a JSON text, as many as fit; those that tell apart before the others."""
    values = list(dict.fromkeys(value for value in islice(_values(text), MOST_VALUES) if value not in known))
    if sum(map(len, values)) + 2 * len(values) <= length:
        return ", ".join(values)
    length = min(length, LONGEST_PART)
    places = sorted(range(len(values)), key=lambda place: (not cues.IDENTIFYING.search(values[place].lower()), place))
    chosen: list[int] = []
    for place in places:
        length -= len(values[place]) + 2
        if length < 0 and chosen:
            break
        chosen.append(place)
    return ", ".join(values[place] for place in sorted(chosen)) + ", …" * (len(chosen) < len(values))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1].rstrip() + "…"


def _values(text: str) -> Iterator[str]:
    if len(text) > LONGEST_JSON or not text.lstrip().startswith(("{", "[")):
        return
    try:
        yield from _leaves(json.loads(text), "")
    except (ValueError, RecursionError):
        return


def _leaves(value: object, name: str) -> Iterator[str]:
    """Yield the plain values below one, each with its name; nothing for what is empty."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, str(key))
    elif isinstance(value, list):
        if all(isinstance(item, str | int | float) for item in value) and value:
            yield f"{name} {' / '.join(map(str, value[: 4 * MOST_ITEMS]))}".strip()
        else:
            for item in value[:MOST_ITEMS]:
                yield from _leaves(item, name)
    elif value not in (None, "", False):
        yield _shortened(f"{name} {' '.join(str(value).split())}".strip())
