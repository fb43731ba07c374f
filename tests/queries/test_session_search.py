import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.queries.session_search import FOUND_AT_ONCE, sessions_to_jump_to
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def jump(project, words=""):
    return [session.public_id for session in sessions_to_jump_to(project=project, words=words)]


def test_it_puts_what_is_called_so_before_what_was_said_later(project, published):
    make_session(project, "called", title="The lost bag")
    for number in range(FOUND_AT_ONCE):
        session = make_session(project, f"said-{number}")
        append_runs(session=session, runs=[simple_turn("My bag is lost", "Which one?")], now=NOW)

    found = jump(project, "lost bag")

    assert found[0] == "called"
    assert len(found) == len(set(found)) == FOUND_AT_ONCE


def test_it_finds_an_id_by_its_beginning(project):
    make_session(project, "claim-7731")

    assert jump(project, "claim-77") == ["claim-7731"]


def test_it_offers_what_was_active_last_where_nothing_is_sought(project):
    for number in range(FOUND_AT_ONCE + 1):
        make_session(project, f"s{number}", now=NOW.replace(minute=number))

    assert jump(project) == [f"s{number}" for number in range(FOUND_AT_ONCE, 0, -1)]


def test_it_finds_nothing_of_another_project(project):
    make_session(make_project("other"), "theirs", title="The lost bag")

    assert jump(project, "lost") == jump(project) == []
