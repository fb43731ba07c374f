"""Views in the sidebar of the list: saved from what it shows, renamed and deleted."""

import re

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Membership, SavedView, Session
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db
SWAP = {"HX-Request": "true", "HX-Current-URL": "http://testserver/p/p/sessions/"}


@pytest.fixture
def session(project):
    return make_session(project, "s", title="Refund", user_id="u-1", tags=["red"], metadata={"channel": "web"})


def show(client, query="", **headers):
    return client.get(f"/p/p/sessions/{query}", headers=headers).content.decode()


def save(client, name, query):
    return client.post("/p/p/views/", {"name": name, "query": query}, follow=True).content.decode()


def test_a_filter_and_an_order_get_a_name_in_the_sidebar(client, session):
    assert "Save as view" not in show(client)
    assert "Save as view" in show(client, "?tag=red")

    page = save(client, "Red <b>ones</b>", "tag=red&sort=title")

    assert "The view Red &lt;b&gt;ones&lt;/b&gt; stands in the sidebar now" in page
    links = re.findall(r'<a class="nav-link" href="([^"]*)" aria-current="true" title="Red', page)
    assert links == ["/p/p/sessions/?tag=red&amp;sort=title"]
    assert "Save as view" not in page
    assert SavedView.objects.get().actor == "reader"


def test_it_is_marked_only_where_it_is_what_is_shown(client, session):
    save(client, "Red", "tag=red")

    assert 'aria-current="true" title="Red"' in show(client, "?tag=red")
    assert 'aria-current="true" title="Red"' not in show(client, "?tag=red&sort=title")
    assert "Save as view" in show(client, "?tag=red&sort=title")


def test_swaps_bring_what_a_name_would_be_given_to(client, session):
    swapped = show(client, "?tag=red", **SWAP)

    assert 'id="m-view" popover role="group" aria-label="View" hx-swap-oob="true"' in swapped
    assert 'name="query" value="tag=red"' in swapped


def test_it_is_renamed_and_deleted(client, session):
    save(client, "Red", "tag=red")
    view = SavedView.objects.get()

    page = client.post(f"/p/p/views/{view.pk}/rename/", {"name": "Really red"}, follow=True).content.decode()
    assert "The view is called Really red now." in page
    assert 'title="Really red"' in page
    page = client.post(f"/p/p/views/{view.pk}/delete/", follow=True).content.decode()
    assert "The view Really red is gone; the sessions in it stay as they are." in page
    assert 'title="Really red"' not in page
    assert Session.objects.exists()


@pytest.mark.parametrize(
    ("name", "query", "said"),
    [
        ("", "tag=red", "A view has a name of 1 to 100 characters."),
        ("All", "", "this is the whole list"),
        ("Odd", "sort=nonsense", "The address asks for something that this list does not have."),
        ("Odd", "nothing=known", "this is the whole list"),
    ],
)
def test_what_cannot_be_a_view_is_refused_with_a_word(client, session, name, query, said):
    assert said in save(client, name, query)
    assert not SavedView.objects.exists()


def test_views_of_other_projects_do_not_exist_here(client, session):
    theirs = SavedView.objects.create(project=make_project("other"), name="T", query={"tag": "x"}, created_at=NOW)

    assert client.post(f"/p/p/views/{theirs.pk}/delete/").status_code == 404
    assert client.post(f"/p/p/views/{theirs.pk}/rename/", {"name": "x"}).status_code == 404
    assert client.post("/p/other/views/", {"name": "x", "query": "tag=x"}).status_code == 404


def test_a_viewer_opens_views_and_changes_none(client, project, session):
    save(client, "Red", "tag=red")
    viewer = get_user_model().objects.create_user("viewer")
    Membership.objects.create(project=project, user=viewer, role="viewer")
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")

    page = show(client, "?tag=red")

    assert 'aria-current="true" title="Red"' in page
    assert "Rename" not in page
    assert client.post(f"/p/p/views/{SavedView.objects.get().pk}/delete/").status_code == 403


EVERY = {
    "q": "refund",
    "user": "u-1",
    "tag": "red",
    "metadata.channel": "web",
    "status": "completed",
    "model": "gpt-4.1",
    "children": "1",
    "lost": "1",
    "unseen": "1",
    "own": "1",
    "parent": "s",
    "view": "forks",
    "since": "2026-01-01",
}


@pytest.mark.parametrize("name", EVERY)
def test_each_filter_in_effect_can_be_taken_away_by_itself(client, session, name):
    others = {other: value for other, value in EVERY.items() if other != name}
    page = client.get("/p/p/sessions/", EVERY).content.decode()

    links = re.findall(r'<a class="chip on" href="\?([^"]*)" aria-label="[^"]*, remove this filter"', page)

    assert len(links) == len(EVERY)
    rests = [dict(part.split("=", 1) for part in link.split("&amp;")) for link in links]
    assert others in rests


def test_both_dates_are_taken_away_together(client, session):
    page = show(client, "?since=2026-01-01&until=2026-02-01&tag=red")

    assert '<a class="chip on" href="?tag=red" aria-label="dates, remove this filter">' in page


def test_the_heads_of_columns_order_the_list(client, session):
    page = show(client, "?tag=red&sort=runs")

    assert 'aria-sort="descending"><a class="sorted" href="?tag=red&amp;sort=runs"' in page
    assert 'href="?tag=red&amp;sort=unseen"' in page
    assert 'href="?tag=red&amp;sort=title"' in page
    assert '<a href="?tag=red" title="The last change' in page


def default(client, view, **given):
    return client.post(f"/p/p/views/{view.pk}/default/", given, follow=True).content.decode()


def test_the_list_opens_with_the_view_that_somebody_has_chosen(client, session):
    save(client, "Red", "tag=red&sort=title")
    assert "Open the list with it, for me" in show(client, "?tag=red&sort=title")

    page = default(client, SavedView.objects.get())

    assert "opens with Red now, for you." in page
    opened = client.get("/p/p/sessions/")
    assert (opened.status_code, opened.headers["Location"]) == (302, "/p/p/sessions/?tag=red&sort=title")
    page = show(client, "?tag=red&sort=title")
    assert "Your default <b>Red</b>" in page
    assert '<a class="chip bare" href="/p/p/sessions/?view=all">All sessions</a>' in page
    assert 'title="The list opens with it for you">default</span>' in page


def test_opening_with_the_view_asks_for_it_once(client, session, django_assert_num_queries):
    save(client, "Red", "tag=red")
    default(client, SavedView.objects.get())
    # Who has signed in (two), the project, the view.
    with django_assert_num_queries(4):
        client.get("/p/p/sessions/")


def test_there_is_always_a_way_to_all_sessions(client, project, session):
    make_session(project, "blue")
    save(client, "Red", "tag=red")
    default(client, SavedView.objects.get())

    page = show(client, "?view=all")
    assert "blue" in page
    assert 'href="/p/p/sessions/?view=all" aria-current="true"' in page
    # The last filter leaves all, and so does a form of which every field is empty.
    assert 'href="?view=all" aria-label="tag red, remove this filter"' in show(client, "?tag=red")
    assert client.get("/p/p/sessions/?q=&user=").status_code == 200
    swapped = client.get("/p/p/sessions/?q=", headers=SWAP | {"HX-Current-URL": "http://testserver/p/p/sessions/?q=x"})
    assert swapped.headers["HX-Push-Url"] == "/p/p/sessions/?view=all"


def test_it_is_the_default_of_one_person_in_one_project(client, session, project):
    save(client, "Red", "tag=red")
    default(client, SavedView.objects.get())
    other = make_project("other")
    Membership.objects.create(project=other, user=Membership.objects.get(project=project).user)
    make_session(other, "theirs")
    assert client.get("/p/other/sessions/").status_code == 200

    colleague = get_user_model().objects.create_user("colleague")
    Membership.objects.create(project=project, user=colleague)
    client.force_login(colleague)
    page = show(client)
    assert "Your default" not in page
    assert "opens with it for you" not in page


def test_another_view_takes_its_place_and_it_is_taken_back(client, session):
    for name, query in (("Red", "tag=red"), ("Mine", "user=u-1")):
        save(client, name, query)
    red, mine = SavedView.objects.get(name="Red"), SavedView.objects.get(name="Mine")
    default(client, red)
    default(client, mine)
    assert client.get("/p/p/sessions/").headers["Location"] == "/p/p/sessions/?user=u-1"

    assert "opens with all sessions again" in default(client, mine, off="1")
    assert client.get("/p/p/sessions/").status_code == 200

    default(client, red)
    client.post(f"/p/p/views/{red.pk}/delete/")
    assert client.get("/p/p/sessions/").status_code == 200


def test_who_only_reads_has_a_default_too_and_may_not_rename(client, session, project):
    save(client, "Red", "tag=red")
    Membership.objects.filter(project=project).update(role="viewer")

    page = default(client, SavedView.objects.get())

    assert "opens with Red now, for you." in page
    assert "Delete the view" not in page
    assert "Save for all in" not in show(client, "?user=u-1")


def test_a_view_of_another_project_is_nobodys_default(client, session):
    theirs = SavedView.objects.create(project=make_project("other"), name="Theirs", query={"tag": "x"}, created_at=NOW)
    assert client.post(f"/p/p/views/{theirs.pk}/default/").status_code == 404
    assert client.get("/p/p/sessions/").status_code == 200
