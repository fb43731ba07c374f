"""Tags on many sessions at once: counts that are true, and nothing beyond the project."""

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.session_fields import MOST_TAGS
from sessions_app.models import Session, SessionTag
from sessions_app.services import tags
from sessions_app.services.tags import Tagged, add_tag, remove_tag
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def names_of(session):
    return list(session.tags.values_list("name", flat=True))


def test_a_tag_is_added_once_to_each(project):
    plain, tagged = make_session(project, "a"), make_session(project, "b", tags=["red"])

    done = add_tag(project=project, session_pks=[plain.pk, tagged.pk, plain.pk], name=" red ")

    assert done == Tagged(changed=1, unchanged=1)
    assert names_of(plain) == names_of(tagged) == ["red"]


def test_it_is_no_activity(project):
    session = make_session(project)
    before = Session.objects.values().get()

    add_tag(project=project, session_pks=[session.pk], name="red")

    assert Session.objects.values().get() == before


def test_sessions_with_as_many_tags_as_they_may_have_are_counted_and_left_alone(project):
    full = make_session(project, "a", tags=[f"t{n}" for n in range(MOST_TAGS)])

    assert add_tag(project=project, session_pks=[full.pk], name="red") == Tagged(full=1)
    assert add_tag(project=project, session_pks=[full.pk], name="t7") == Tagged(unchanged=1)


def test_a_tag_is_taken_away_where_it_is(project):
    plain, tagged = make_session(project, "a", tags=["blue"]), make_session(project, "b", tags=["red", "blue"])

    done = remove_tag(project=project, session_pks=[plain.pk, tagged.pk], name="red")

    assert done == Tagged(changed=1, unchanged=1)
    assert (names_of(plain), names_of(tagged)) == (["blue"], ["blue"])


def test_what_no_database_holds_is_the_tag_of_none(project):
    session = make_session(project, tags=["red"])

    assert remove_tag(project=project, session_pks=[session.pk], name="red\0") == Tagged(unchanged=1)


def test_more_are_done_a_few_at_a_time(project, monkeypatch):
    monkeypatch.setattr(tags, "AT_ONCE", 2)
    pks = [make_session(project, f"s{n}").pk for n in range(5)]

    assert add_tag(project=project, session_pks=pks, name="red") == Tagged(changed=5)
    assert remove_tag(project=project, session_pks=pks, name="red") == Tagged(changed=5)


def test_sessions_of_others_and_deleted_ones_are_left_out(project):
    theirs = make_session(make_project("other"), tags=["red"])

    assert add_tag(project=project, session_pks=[theirs.pk, 10**9], name="blue") == Tagged()
    assert remove_tag(project=project, session_pks=[theirs.pk], name="red") == Tagged()
    assert SessionTag.objects.get().name == "red"


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_what_is_no_tag_is_refused(project, name):
    with pytest.raises(InvalidInput, match="A tag has 1 to 100 characters"):
        add_tag(project=project, session_pks=[make_session(project).pk], name=name)
