"""What became of runs, read off the figures of a turn, against what the builder says of each run."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import WindowUnknown
from sessions_app.domain.plan import Fate
from sessions_app.domain.replays.effort import milliseconds
from sessions_app.domain.replays.layers import Layer, layers_of
from sessions_app.domain.replays.replay import replay
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
TURNS = 14
TRANSCRIPT = InMemoryTranscript([exchange(f"question {n}", f"answer {n}") for n in range(1, TURNS + 1)])


def layers(turn: int, **overrides: Any) -> list[Layer]:
    effective = settings(**overrides)
    columns = replay(TRANSCRIPT, [effective], batch_tokens=32_000, now=NOW)[0].columns
    return layers_of(columns, turn, effective.values)


def built(turn: int, **overrides: Any) -> list[Fate]:
    plan = build_prompt(reader=TRANSCRIPT, settings=settings(**overrides), query=None, at=turn)
    return [each.fate for each in plan.fates for _ in range(each.first, each.last + 1) if each.last < turn]


@pytest.mark.parametrize("turn", range(1, TURNS + 1))
@pytest.mark.parametrize(
    "overrides",
    [
        {"strategy": "buffer"},
        {"strategy": "buffer", "max_input_tokens": 70},
        {"strategy": "buffer", "max_runs": 9, "last_n": 6, "max_input_tokens": 60},
        {"strategy": "conversation", "max_history": 5},
        {"strategy": "tool", "max_runs": 4},
        {"strategy": "head_tail", "head_runs": 2, "max_input_tokens": 90},
        {"strategy": "head_tail", "head_runs": 2, "last_n": 8, "max_runs": 10, "max_input_tokens": 90},
        {"strategy": "minimal"},
        {"strategy": "task", "max_runs": 5},
    ],
)
def test_layers_tell_of_each_run_what_the_builder_does(overrides: dict[str, Any], turn: int):
    told = [fate for fate, count in layers(turn, **overrides) for _ in range(count)]
    assert told == built(turn, **overrides)


def test_a_summary_covers_the_oldest_runs():
    found = layers(10, strategy="summary", offset=2, summarize_at=0, max_summary_tokens=20)
    assert found == [(Fate.SUMMARIZED, 7), (Fate.KEPT, 2)]


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"strategy": "buffer"}, 0.03 * 1000),
        ({"strategy": "summary", "format": "anthropic"}, 0.3 * 1000 + 50_000 * 0.0003),
        ({"strategy": "conversation"}, 0.3 * 1000 + 50_000 * 0.0003),
        ({"strategy": "buffer", "model": "gpt-4"}, 0.3 * 1000 + 50_000 * 0.0003),
        ({"strategy": "task"}, 0.65 * 1000 + 50_000 * 0.0003),
    ],
)
def test_what_is_read_and_built_takes_longer(overrides: dict[str, Any], expected: float):
    assert milliseconds(settings(**overrides), turns=1000, tokens=50_000) == pytest.approx(expected)


def test_what_cannot_be_replayed_takes_no_time():
    with pytest.raises(WindowUnknown):
        milliseconds(settings(model="unheard-of"), turns=1, tokens=1)
