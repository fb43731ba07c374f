from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import BudgetTooSmall
from sessions_app.domain.language_models import language_model
from sessions_app.domain.memory_settings import SETTINGS, SETTINGS_BY_NAME, Strategy
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.settings_effects import no_effect, settings_warnings
from sessions_app.domain.transcript import Run
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings


def warnings(
    project: dict[str, Any] | None = None, session: dict[str, Any] | None = None, request: dict[str, Any] | None = None
) -> list[tuple[str, str]]:
    effective = resolve_settings(
        default_model="gpt-4.1-mini", project=project or {}, session=session or {}, request=request or {}
    )
    found = settings_warnings(effective, language_model(effective.values.model))
    return [(warning.code.value, warning.detail) for warning in found]


def reason(name: str, **session: Any) -> str:
    effective = resolve_settings(default_model="gpt-4.1-mini", project={}, session=session, request={})
    idle = no_effect(SETTINGS_BY_NAME[name], effective.values, 1_047_576)
    return idle.reason if idle else ""


def test_the_built_in_values_are_fine():
    assert warnings() == []
    for strategy in Strategy:
        assert warnings(session={"strategy": strategy}) == []


@pytest.mark.parametrize(
    ("name", "strategy", "expected"),
    [
        ("offset", "buffer", "only summary uses it"),
        ("on_gap", "minimal", "only summary uses it"),
        ("max_history", "summary", "only conversation uses it"),
        ("head_runs", "minimal", "only head_tail uses it"),
        ("include_parent_context", "hierarchical", "hierarchical always includes it"),
        ("max_history", "conversation", ""),
        ("include_parent_context", "minimal", ""),
        ("parent_depth", "buffer", "include_parent_context is off"),
        ("parent_depth", "hierarchical", ""),
        ("last_n", "minimal", ""),
    ],
)
def test_it_says_why_a_setting_changes_nothing_under_a_strategy(name: str, strategy: str, expected: str):
    assert reason(name, strategy=strategy) == expected


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("last_n", {"last_n": 9, "max_runs": 9}, "max_runs leaves no more runs anyway"),
        ("last_n", {"last_n": 8, "max_runs": 9}, ""),
        ("last_n", {"max_runs": 9}, ""),
        ("summarize_to", {"summarize_at": 0}, "summarize_at 0 summarizes each run as soon as it ages"),
        ("on_gap", {"autoprune": False}, "autoprune is off, so no run is dropped"),
        ("tool_result_max_tokens", {"keep_tool_results": 0}, "keep_tool_results 0 leaves no result whole"),
        ("autoprune", {"last_n": 0}, "last_n 0 sends no run that could be dropped"),
        ("on_gap", {"last_n": 0}, "last_n 0 sends no run that could be dropped"),
        (
            "autoprune",
            {"strategy": "conversation", "max_history": 0},
            "max_history 0 sends no run that could be dropped",
        ),
        ("last_n", {"strategy": "conversation", "max_history": 0}, "max_history 0 sends no run anyway"),
        ("max_history", {"strategy": "conversation", "last_n": 0}, "last_n 0 sends no run"),
        ("last_n", {"strategy": "tool", "last_n": 3}, "tool sends only the newest run anyway"),
        ("last_n", {"strategy": "tool", "last_n": 0}, ""),
        ("head_runs", {"strategy": "head_tail", "autoprune": False}, "autoprune is off, so no run is dropped"),
        (
            "head_runs",
            {"strategy": "head_tail", "head_runs": 2, "last_n": 3},
            "last_n leaves no more runs than these and the newest",
        ),
        (
            "head_runs",
            {"strategy": "head_tail", "head_runs": 2, "max_runs": 3},
            "max_runs leaves no more runs than these and the newest",
        ),
        ("head_runs", {"strategy": "head_tail", "head_runs": 2, "last_n": 4}, ""),
        ("keep_tool_results", {"format": "text"}, "the format text carries no tool results"),
        ("tool_result_max_tokens", {"format": "text"}, "the format text carries no tool results"),
        ("reserve_output_tokens", {"max_input_tokens": 500}, "the window of 1,047,576 does not bind"),
        ("reserve_output_tokens", {}, ""),
    ],
)
def test_it_says_which_other_setting_makes_one_idle(name: str, values: dict[str, Any], expected: str):
    assert reason(name, **values) == expected


IDLE: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("autoprune", [True, False], {"last_n": 0}),
    ("on_gap", ["warn", "error", "stopgap"], {"last_n": 0}),
    ("autoprune", [True, False], {"strategy": "conversation", "max_history": 0}),
    ("last_n", ["unlimited", 0, 1, 4], {"strategy": "conversation", "max_history": 0}),
    ("max_history", [0, 1, 4, 50], {"strategy": "conversation", "last_n": 0}),
    ("last_n", ["unlimited", 1, 2, 7], {"strategy": "tool"}),
    ("head_runs", [0, 1, 3, 20], {"strategy": "head_tail", "autoprune": False}),
    ("head_runs", [0, 3, 4, 20], {"strategy": "head_tail", "last_n": 4}),
    ("head_runs", [0, 3, 4, 20], {"strategy": "head_tail", "max_runs": 4}),
]


@pytest.mark.parametrize(("name", "values", "others"), IDLE)
@pytest.mark.parametrize("budget", [*range(20, 160, 7), 20_000])
def test_what_is_said_to_do_nothing_changes_neither_what_is_sent_nor_a_fate(
    name: str, values: list[Any], others: dict[str, Any], budget: int
):
    runs = [exchange(f"q{n}", "word " * (n % 4)) for n in range(1, 10)]
    assert len({outcome(runs, {**others, name: value, "max_input_tokens": budget}) for value in values}) == 1


def outcome(runs: list[Run], values: dict[str, Any]) -> str:
    try:
        prompt = build_prompt(reader=InMemoryTranscript(runs), settings=settings(**values), query="Well?")
    except BudgetTooSmall:
        return "no prompt"
    fates = [each.fate.value for each in prompt.fates for _ in range(each.count)]
    return f"{prompt.messages} {fates}"


def test_one_more_run_than_the_head_makes_a_difference():
    runs = [exchange(f"q{n}", f"a{n}") for n in range(1, 10)]
    # A run needs 12 tokens, the question 6, a prompt 3: three of the four runs fit.
    values: dict[str, Any] = {"strategy": "head_tail", "last_n": 4, "max_input_tokens": 3 * 12 + 12}
    assert outcome(runs, {**values, "head_runs": 1}) != outcome(runs, {**values, "head_runs": 0})


def test_a_limit_that_leaves_out_the_beginning_is_warned_of_at_the_head_that_should_keep_it():
    assert warnings(session={"strategy": "head_tail", "head_runs": 2, "last_n": 10, "max_runs": 30}) == [
        (
            "head_of_the_newest",
            "last_n 10 leaves out how the conversation began: head_runs 2 counts from the first of the newest 10 runs. "
            "A way out: last_n unlimited.",
        )
    ]
    assert warnings(session={"strategy": "head_tail", "head_runs": 2}) == []
    assert warnings(session={"strategy": "head_tail", "head_runs": 0, "last_n": 10}) == []


def test_a_chosen_value_that_does_nothing_is_warned_of():
    assert warnings(session={"strategy": "buffer", "max_history": 3}) == [
        ("setting_without_effect", "max_history 3 has no effect: only conversation uses it.")
    ]
    assert warnings(session={"last_n": 9, "max_runs": 9, "offset": 2})[0][1] == (
        "last_n 9 has no effect: max_runs leaves no more runs anyway."
    )
    assert warnings(session={"strategy": "hierarchical", "include_parent_context": True}) == [
        ("setting_without_effect", "include_parent_context true has no effect: hierarchical always includes it.")
    ]


def test_a_value_of_a_weaker_layer_is_not():
    assert warnings(project={"offset": 3}, session={"strategy": "buffer"}) == []
    assert len(warnings(project={"offset": 3, "strategy": "buffer"})) == 1
    assert len(warnings(session={"strategy": "buffer"}, request={"offset": 3})) == 1


def test_runs_that_are_in_neither_are_named_from_the_end():
    assert warnings(session={"last_n": 20, "offset": 40}) == [
        (
            "runs_in_neither",
            "last_n 20 is below offset 40: runs 21-40 from the end are in neither the prompt nor a summary. "
            "Ways out: raise last_n; lower offset.",
        )
    ]
    assert warnings(session={"max_runs": 5})[0][1].startswith("max_runs 5 is below offset 6: run 6 from the end is in")
    assert warnings(session={"last_n": 5, "max_runs": 4, "offset": 9})[0][1].startswith("max_runs 4 is below offset 9")
    assert warnings(session={"last_n": 6}) == []
    assert warnings(session={"last_n": 2, "strategy": "buffer"}) == []


def test_a_step_that_would_end_above_where_it_begins_is_warned_of():
    assert [code for code, _ in warnings(session={"summarize_at": 0.3})] == ["summarize_to_above_at"]
    assert warnings(session={"summarize_at": 0.4}) == []


def test_every_reason_reads_as_a_part_of_a_sentence():
    for setting in SETTINGS:
        for strategy in Strategy:
            for values in ({}, {"autoprune": False}, {"keep_tool_results": 0, "format": "text"}):
                found = reason(setting.name, strategy=strategy, **values)
                assert not found.endswith(".")
                assert found == found.strip()


@pytest.mark.parametrize(
    ("session", "about"),
    [
        ({"strategy": "buffer", "offset": 3}, ["offset"]),
        ({"last_n": 2}, ["last_n"]),
        ({"max_runs": 2}, ["max_runs"]),
        ({"summarize_at": 0.2}, ["summarize_to"]),
    ],
)
def test_a_warning_names_the_setting_that_it_is_about(session: dict[str, Any], about: list[str]):
    effective = resolve_settings(default_model="gpt-4.1-mini", project={}, session=session, request={})
    found = settings_warnings(effective, language_model("gpt-4.1-mini"))
    assert [warning.setting for warning in found] == about
