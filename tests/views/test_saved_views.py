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
    assert 'id="m-view"' not in page
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
