"""The sliders of the tune page."""

import pytest

from sessions_app.domain.settings_draft import read_draft
from sessions_app.queries.settings_controls import control_groups
from sessions_app.services.prompts import effective_settings
from sessions_app.services.settings import built_in_settings, project_settings
from tests.factories import make_session

pytestmark = pytest.mark.django_db


def slider(session, name="max_input_tokens"):
    saved, inherited = effective_settings(session=session), project_settings(project=session.project)
    draft = read_draft({}, saved=saved, inherited=inherited)
    groups = control_groups(session=session, draft=draft, saved=saved, built_in=built_in_settings(), carried={})
    (control,) = [control for group in groups for control in group.controls if control.setting.name == name]
    return control.slider


def value_at(made):
    return made.least * (made.most / made.least) ** (made.value / made.maximum)


@pytest.mark.parametrize("limit", [1, 60, 100, 700, 4000, 1_000_000, 2**31 - 1])
@pytest.mark.parametrize("name", ["max_input_tokens", "max_summary_tokens", "tool_result_max_tokens"])
def test_a_slider_of_tokens_stands_where_its_value_is(name, limit):
    made = slider(make_session(settings={name: limit}), name)

    assert made.minimum <= made.value < made.maximum
    assert value_at(made) == pytest.approx(limit, rel=0.2)


def test_the_slider_of_the_limit_ends_at_twice_what_the_conversation_needs():
    session = make_session(runs=1000, settings={"max_input_tokens": 700})

    assert slider(session).most == 2 * session.lineage_tokens


def test_no_limit_is_the_right_end():
    made = slider(make_session(runs=3))

    assert (made.value, made.unlimited) == (made.maximum, True)


def test_other_sliders_count_in_steps():
    made = slider(make_session(settings={"max_runs": 7}), "max_runs")

    assert (made.minimum, made.maximum, made.value, made.least) == (1, 200, 7, None)
