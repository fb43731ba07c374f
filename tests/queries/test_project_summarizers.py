"""What the page of a project's summarizer offers to choose from."""

from datetime import timedelta

import pytest

from sessions_app.queries.project_summarizers import SAMPLES, samples, suggestions
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


def test_the_newest_session_with_runs_is_the_sample_unless_another_is_asked_for():
    project = make_project()
    for number, runs in enumerate((1, 1, 0)):
        make_session(project, f"s{number}", runs=runs, now=NOW + timedelta(minutes=number))
    chosen, offered = samples(project=project, public_id=None)
    assert (chosen.public_id, [session.public_id for session in offered]) == ("s1", ["s1", "s0"])
    assert samples(project=project, public_id="s0")[0].public_id == "s0"
    assert samples(project=project, public_id="")[0] is None
    assert samples(project=project, public_id="no such")[0] is None


def test_an_old_session_that_is_asked_for_is_offered_too():
    project = make_project()
    for number in range(SAMPLES + 1):
        make_session(project, f"s{number}", runs=1, now=NOW + timedelta(minutes=number))
    chosen, offered = samples(project=project, public_id="s0")
    assert chosen.public_id == "s0"
    assert [session.public_id for session in offered][:2] == ["s0", f"s{SAMPLES}"]
    assert len(offered) == SAMPLES + 1


def test_sessions_of_other_projects_are_not_offered():
    make_session(make_project("q"), "theirs", runs=1)
    assert samples(project=make_project(), public_id="theirs") == (None, [])


def test_names_of_models_are_suggested_that_contain_the_words():
    names = suggestions(project=make_project(), words="4.1-MINI")
    assert "gpt-4.1-mini" in names
    assert all("4.1-mini" in name.lower() for name in names)
