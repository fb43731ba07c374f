from datetime import timedelta

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.admin import lists
from sessions_app.models import (
    ApiKey,
    Event,
    Import,
    ImportedConversation,
    Membership,
    Profile,
    Project,
    Run,
    Session,
    SettingsVersion,
    Summary,
)
from sessions_app.services.keys import create_api_key
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"
LOOKED_AT = [ApiKey, Event, Import, ImportedConversation, Profile, Run, Session, SettingsVersion, Summary]
NAMES = [model._meta.model_name for model in LOOKED_AT]


@pytest.fixture
def administrator(client):
    user = get_user_model().objects.create_superuser("administrator")
    client.force_login(user, backend=BACKEND)
    return user


def fill(project, count):
    """Add rows of each kind, all with different parents, so that a query a row would be seen."""
    for n in range(count):
        session = make_session(project, f"{project.slug}-{n}", title=f"title {n}", runs=1, settings={"offset": n})
        Profile.objects.create(project=project, name=f"profile {n}", saved_at=NOW)
        Summary.objects.create(session=session, number=1, covers_through=1, summarizer="extractive", created_at=NOW)
        user = get_user_model().objects.create_user(f"user-{project.slug}-{n}")
        Membership.objects.create(project=project, user=user)
        imported = Import.objects.create(
            project=project, user=user, file_name=f"f{n}", file_format="openai", size=1, created_at=NOW
        )
        ImportedConversation.objects.create(source_import=imported, place=1, outcome="imported", session=session)
        create_api_key(project=project, name=f"key {n}", scopes=["read"])


def list_of(client, name, query=""):
    return client.get(f"/admin/sessions_app/{name}/{query}")


def rows_of(response):
    return list(response.context["cl"].result_list)


def test_no_list_asks_the_database_once_a_row(client, administrator):
    fill(make_project("a"), 1)

    def counted():
        counts = {}
        for name in [*NAMES, "project"]:
            with CaptureQueriesContext(connection) as captured:
                assert list_of(client, name).status_code == 200
            counts[name] = len(captured)
        return counts

    counted()
    few = counted()
    fill(make_project("b"), 99)
    assert counted() == few
    assert len(rows_of(list_of(client, "session"))) == 100
    assert max(few.values()) <= 8


@pytest.mark.parametrize("name", NAMES)
def test_what_bots_wrote_can_be_looked_at_and_not_changed(client, administrator, name):
    fill(make_project(), 1)
    row = rows_of(list_of(client, name))[0]
    assert client.get(f"/admin/sessions_app/{name}/{row.pk}/change/").status_code == 200
    assert client.post(f"/admin/sessions_app/{name}/{row.pk}/change/", {}).status_code == 403
    assert client.get(f"/admin/sessions_app/{name}/add/").status_code == 403
    assert client.post(f"/admin/sessions_app/{name}/{row.pk}/delete/", {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("name", NAMES)
def test_every_filter_of_a_list_is_answered(client, administrator, name):
    fill(make_project("a"), 2)
    fill(make_project("b"), 1)
    model_admin = admin.site._registry[next(model for model in LOOKED_AT if model._meta.model_name == name)]
    assert len(rows_of(list_of(client, name, "?project=b"))) == len(rows_of(list_of(client, name))) / 3
    assert list_of(client, name, "?project=nothing").status_code == 200
    for field in model_admin.list_filter:
        if isinstance(field, str) and field != "created_at":
            assert list_of(client, name, f"?{field}__exact=completed").status_code == 200


def filter_names(model_admin):
    """Return the names by which a list is filtered in its address."""
    for field in model_admin.list_filter:
        name = field[0] if isinstance(field, tuple) else getattr(field, "parameter_name", field)
        yield from (name, f"{name}__exact", f"{name}__gte", f"{name}__isempty", f"{name}__id__exact")


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.model_name)
def test_a_null_character_finds_nothing(client, administrator, model):
    fill(make_project("a"), 1)
    names = ["q", "o", "p", *filter_names(admin.site._registry[model])]
    for query in [*(f"?{name}=a%00" for name in names), "?%00=1", "?project=a&q=%00&e=%00"]:
        answer = client.get(f"/admin/{model._meta.app_label}/{model._meta.model_name}/{query}")
        assert answer.status_code == 404, query


@pytest.mark.parametrize(("kind", "expected"), [("root", {"root"}), ("child", {"child"}), ("fork", {"fork"})])
def test_sessions_are_filtered_by_kind(client, administrator, kind, expected):
    root = make_session(public_id="root", runs=1)
    make_session(root.project, "child", parent=root)
    make_session(root.project, "fork", parent=root, forked_at=1)
    assert {row.public_id for row in rows_of(list_of(client, "session", f"?kind={kind}"))} == expected


@pytest.mark.parametrize(
    ("name", "term", "found"),
    [
        ("session", "s2", 1),
        ("session", "GROUP", 1),
        ("session", "u-7", 1),
        ("session", "nothing", 0),
        ("run", "s1", 3),
        ("run", "run-x", 1),
        ("run", "nothing", 0),
        ("event", "s1", 6),
        ("event", "run-x", 2),
        ("event", "evt_{event}", 1),
        ("event", "evt_99999999999999999999", 0),
        ("event", "question 2", 1),
        ("summary", "sum_{summary}", 1),
        ("summary", "s1", 1),
    ],
)
def test_search_finds_by_ids_and_words(client, administrator, name, term, found):
    project = make_project()
    session = make_session(project, "s1", runs=3)
    make_session(project, "s2", title="Group of 23", user_id="u-7")
    Run.objects.filter(session=session, position=2).update(public_id="run-x")
    summary = Summary.objects.create(session=session, number=1, covers_through=1, summarizer="x", created_at=NOW)
    term = term.format(event=Event.objects.earliest("pk").pk, summary=summary.pk)
    assert len(rows_of(list_of(client, name, f"?q={term}"))) == found


def test_words_are_sought_among_the_newest_events_only(client, administrator, monkeypatch):
    monkeypatch.setattr(lists, "WORDS_SOUGHT_IN", 4)
    make_session(runs=3)
    assert len(rows_of(list_of(client, "event", "?q=question"))) == 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
def test_ids_are_found_by_their_indexes(client, administrator):
    make_session(runs=1)
    for name in ("run", "session"):
        with CaptureQueriesContext(connection) as captured:
            list_of(client, name, "?q=s")
        sought = next(query["sql"] for query in captured if '"public_id" = ' in query["sql"])
        with connection.cursor() as database:
            database.execute(f"EXPLAIN QUERY PLAN {sought}")
            assert "public_id=?" in " ".join(line[3] for line in database.fetchall())


def test_counting_stops(client, administrator, monkeypatch):
    monkeypatch.setattr(lists, "COUNTED_AT_MOST", 2)
    make_session(runs=3)
    assert list_of(client, "run").context["cl"].result_count == 2


def test_a_key_is_revoked_and_its_hash_is_never_shown(client, administrator):
    key, text = create_api_key(project=make_project(), name="bot", scopes=["read"])
    pages = [list_of(client, "apikey"), client.get(f"/admin/sessions_app/apikey/{key.pk}/change/")]
    for page in pages:
        assert key.key_id in page.content.decode()
        assert key.secret_hash not in page.content.decode()
    assert len(rows_of(list_of(client, "apikey", f"?q={text}"))) == 1
    answer = client.post("/admin/sessions_app/apikey/", {"action": "revoke", "_selected_action": [key.pk]}, follow=True)
    assert "1 revoked." in answer.content.decode()
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_a_project_is_made_with_its_members(client, administrator):
    form = {
        "name": "Support",
        "slug": "support",
        "memberships-TOTAL_FORMS": 1,
        "memberships-INITIAL_FORMS": 0,
        "memberships-0-user": administrator.pk,
        "memberships-0-role": "owner",
    }
    assert client.post("/admin/sessions_app/project/add/", form).status_code == 302
    project = Project.objects.get()
    member = project.memberships.get()
    assert (project.slug, member.user, member.role) == ("support", administrator, "owner")


def test_from_a_project_one_comes_to_its_pages(client, administrator):
    project = make_project("pages")

    shown = client.get(f"/admin/sessions_app/project/{project.pk}/change/").content.decode()

    assert 'href="/p/pages/sessions/"' in shown


def test_only_an_empty_project_is_deleted_here(client, administrator):
    used, empty = make_project("used"), make_project("empty")
    make_session(used)
    save_project_settings(project=empty, changes={"offset": 2}, now=NOW)
    Profile.objects.create(project=empty, name="careful", saved_at=NOW)
    assert client.post(f"/admin/sessions_app/project/{used.pk}/delete/", {"post": "yes"}).status_code == 403
    assert client.post(f"/admin/sessions_app/project/{empty.pk}/delete/", {"post": "yes"}).status_code == 302
    assert list(Project.objects.all()) == [used]


def test_staff_sees_only_the_projects_it_belongs_to(client):
    fill(make_project("theirs"), 1)
    mine = make_project("mine")
    fill(mine, 1)
    clerk = get_user_model().objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(content_type__app_label="sessions_app"))
    Membership.objects.create(project=mine, user=clerk)
    client.force_login(clerk, backend=BACKEND)
    for name in [*NAMES, "project"]:
        page = list_of(client, name)
        assert 0 < len(rows_of(page)) <= 2
        assert "theirs" not in page.content.decode().lower()
    theirs = Session.objects.get(public_id="theirs-0")
    assert client.get(f"/admin/sessions_app/session/{theirs.pk}/change/").status_code == 302
    assert rows_of(list_of(client, "session", "?q=theirs-0")) == []


def test_a_session_of_yesterday_is_found_by_its_date(client, administrator):
    make_session(public_id="old", now=NOW - timedelta(days=400))
    assert rows_of(list_of(client, "session", "?created_at__gte=2026-01-01%2000:00:00%2B00:00")) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_in_a_deleted_project_is_not_shown_to_anybody(administrator, client, name):
    fill(make_project(), 1)
    Project.objects.update(deleted_at=NOW)

    assert list_of(client, name).context["cl"].result_count == 0
