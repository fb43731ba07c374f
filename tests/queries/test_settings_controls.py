"""The controls of the tune page: their sliders, their groups, what is told under them."""

import pytest

from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.domain.settings_draft import read_draft
from sessions_app.queries.settings_controls import control_groups
from sessions_app.services.prompts import effective_settings
from sessions_app.services.settings import built_in_settings, project_settings
from tests.factories import make_session

pytestmark = pytest.mark.django_db


def groups_of(session, texts=(), warnings=()):
    saved, inherited = effective_settings(session=session), project_settings(project=session.project)
    draft = read_draft(dict(texts), saved=saved, inherited=inherited)
    return control_groups(
        project=session.project,
        session=session,
        draft=draft,
        saved=saved,
        built_in=built_in_settings(),
        carried={},
        warnings=dict(warnings),
    )


def control(groups, name):
    (found,) = [each for group in groups for each in group.controls if each.setting.name == name]
    return found


def slider(session, name="max_input_tokens"):
    return control(groups_of(session), name).slider


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


def test_a_group_is_idle_only_if_nothing_in_it_does_or_is_set_anything():
    session = make_session(settings={"strategy": "buffer"})
    assert {group.name for group in groups_of(session) if group.is_idle} == {"Summary", "Parent"}
    assert {group.name for group in groups_of(session, {"offset": "3"}) if group.is_idle} == {"Parent"}
    assert {group.name for group in groups_of(session, {"strategy": "summary"}) if group.is_idle} == {"Parent"}
    own = make_session(session.project, "own", settings={"strategy": "buffer", "offset": 3})
    assert {group.name for group in groups_of(own) if group.is_idle} == {"Parent"}


def test_a_warning_stands_at_the_setting_that_it_is_about():
    groups = groups_of(make_session(), warnings={"last_n": "It is below offset."})
    assert control(groups, "last_n").warning == "It is below offset."
    assert control(groups, "offset").warning == ""


def test_every_choice_says_what_it_means():
    session = make_session()
    for setting in SETTINGS:
        for choice in setting.choices:
            assert control(groups_of(session, {setting.name: choice}), setting.name).says.endswith("."), choice


def test_the_model_says_how_its_tokens_are_counted():
    session = make_session()
    assert control(groups_of(session), "model").says == "o200k_base, a window of 1,047,576 tokens."
    unknown = groups_of(session, {"model": "nobody-knows-it", "max_input_tokens": "500"})
    assert control(unknown, "model").says == "Estimated as o200k_base times 1.3, its window is not known."
    foreign = groups_of(session, {"model": "claude-sonnet-4-5"})
    assert control(foreign, "model").says.startswith("Estimated as o200k_base times 1.3, a window of ")


@pytest.mark.parametrize("name", ["offset", "summarize_at", "summarize_to", "max_summary_tokens"])
def test_a_change_that_shows_only_in_the_next_summary_says_so(name):
    session = make_session()

    assert "in the next summary, once saved" in control(groups_of(session, {name: "1"}), name).says
    assert control(groups_of(session), name).says == ""
