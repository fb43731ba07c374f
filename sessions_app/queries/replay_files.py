"""A replay as a file: a row a turn as CSV, or all of it as JSON with the names of the API."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from sessions_app.domain.replays.replayed import Replay

Replays = Sequence[tuple[str, Replay]]
"""Each with the letter of its setting."""


def as_csv(replays: Replays) -> Iterator[str]:
    """Yield the lines: a column's name begins with the letter of its setting."""
    columns = [(f"{key}_{name}", column) for key, replay in replays for name, column in replay.columns.items()]
    yield _line(["turn", *(name for name, _ in columns)])
    for turn, values in enumerate(zip(*(column for _, column in columns), strict=True), 1):
        yield _line([turn, *map(_written, values)])


def as_json(replays: Replays) -> str:
    """Return columns, totals and assumptions under each letter."""
    return json.dumps({key: _one(replay) for key, replay in replays})


def _one(replay: Replay) -> dict[str, Any]:
    return {
        "columns": {name: [*map(_written, column)] for name, column in replay.columns.items()},
        "totals": {name: _written(value) for name, value in asdict(replay.totals).items()},
        "assumptions": list(replay.assumptions),
    }


def _line(cells: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _written(value: int | Decimal | str | None) -> int | str | None:
    """Write amounts without an exponent or closing zeros."""
    return f"{value.normalize():f}" if isinstance(value, Decimal) else value
