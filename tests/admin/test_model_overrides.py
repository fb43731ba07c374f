"""The table of what projects say of models, as staff edits it."""

from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Membership, ModelOverride, Session
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"
LIST = "/admin/sessions_app/modeloverride/"


@pytest.fixture
def clerk(client):
    user = get_user_model().objects.create_user("clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="sessions_app"))
    client.force_login(user, backend=BACKEND)
    return user


def join(user, project):
    Membership.objects.create(project=project, user=user)
    return project


def form(project=None, **values):
    empty = dict.fromkeys(["name", "context_window", "input_price", "cached_input_price", "output_price"], "")
    return {"project": project.pk if project else "", **empty, **values}


def waiting():
    return Session.objects.exclude(summary_wanted_at=None).count()


def test_it_is_added_changed_and_deleted_and_figures_follow_the_window(client, clerk):
    project = join(clerk, make_project())
    make_session(project)

    Session.objects.update(summary_wanted_at=None)
    added = client.post(f"{LIST}add/", form(project, name="org/model:tag", context_window="9000", input_price="0.4"))
    row = ModelOverride.objects.get()
    assert (added.status_code, row.name, row.context_window, row.input_price) == (
        302,
        "org/model:tag",
        9_000,
        Decimal("0.4"),
    )
    assert waiting() == 1

    Session.objects.update(summary_wanted_at=None)
    assert client.post(f"{LIST}{row.pk}/change/", form(name="other", context_window="8000")).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.context_window, row.input_price, waiting()) == ("org/model:tag", 8_000, None, 1)

    Session.objects.update(summary_wanted_at=None)
    assert client.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 302
    assert (ModelOverride.objects.count(), waiting()) == (0, 1)


def test_the_selected_are_deleted(client, clerk):
    project = join(clerk, make_project())
    rows = [ModelOverride.objects.create(project=project, name=name, context_window=5) for name in ("a", "b", "c")]
    chosen = {"action": "delete_selected", "_selected_action": [row.pk for row in rows[:2]], "post": "yes"}
    client.post(LIST, chosen)
    assert [row.name for row in ModelOverride.objects.all()] == ["c"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": "m"}, "Give at least one value."),
        ({"name": "a//b", "context_window": "5"}, "The name of a model is"),
        ({"name": "m", "context_window": "0"}, "greater than or equal to 1"),
        ({"name": "m", "input_price": "-1"}, "greater than or equal to 0"),
        ({"name": "m", "input_price": "0.0000001"}, "no more than 6 decimal places"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(client, clerk, values, words):
    page = client.post(f"{LIST}add/", form(join(clerk, make_project()), **values))
    assert (page.status_code, ModelOverride.objects.count()) == (200, 0)
    assert words in page.content.decode()


def test_staff_sees_and_fills_only_its_own_projects(client, clerk):
    theirs = make_project("theirs")
    row = ModelOverride.objects.create(project=theirs, name="secret", context_window=5)
    join(clerk, make_project("mine"))

    assert "secret" not in client.get(LIST).content.decode()
    assert "THEIRS" not in client.get(f"{LIST}add/").content.decode()
    assert client.post(f"{LIST}add/", form(theirs, name="m", context_window="5")).status_code == 200
    client.post(f"{LIST}{row.pk}/change/", form(context_window="6"))
    client.post(f"{LIST}{row.pk}/delete/", {"post": "yes"})
    assert [each.context_window for each in ModelOverride.objects.all()] == [5]


def test_the_list_asks_the_database_the_same_for_many_rows(client, clerk):
    def queries(count):
        for n in range(count):
            ModelOverride.objects.create(project=join(clerk, make_project(f"p{count}-{n}")), name="m", context_window=5)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(LIST).status_code == 200
        return len(captured)

    queries(1)
    assert queries(2) == queries(30)
