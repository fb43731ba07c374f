from typing import Any

import pytest

from sessions_app.domain.language_models import language_model
from sessions_app.domain.memory_settings import SETTINGS, SETTINGS_BY_NAME, Strategy
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.settings_effects import no_effect, settings_warnings


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
        ("keep_tool_results", {"format": "text"}, "the format text carries no tool results"),
        ("tool_result_max_tokens", {"format": "text"}, "the format text carries no tool results"),
        ("reserve_output_tokens", {"max_input_tokens": 500}, "the window of 1,047,576 does not bind"),
        ("reserve_output_tokens", {}, ""),
    ],
)
def test_it_says_which_other_setting_makes_one_idle(name: str, values: dict[str, Any], expected: str):
    assert reason(name, **values) == expected


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
