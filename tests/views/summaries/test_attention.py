"""The summaries of a project, session by session."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from sessions_app.models import Session, Summary
from tests.factories import NOW, make_project, make_session
from tests.queries.test_summary_ledgers import add
from tests.views.summaries.pages import HTMX, page, queries

pytestmark = pytest.mark.django_db


def failing(project, name, **columns):
    session = make_session(project, name, title=f"Title {name}")
    Summary.objects.create(
        session=session, number=1, covers_through=1, status="failed", error=f"Error {name}", created_at=NOW
    )
    Session.objects.filter(pk=session.pk).update(next_attempt_at=timezone.now() + timedelta(hours=1), **columns)


def test_the_sidebar_counts_the_sessions_whose_summaries_fail(client, project):
    make_session(project, "fine")
    assert '<span class="sr-only"> failing</span>' not in page(client, "/p/p/sessions/")
    failing(project, "a")
    failing(project, "b")
    failing(make_project("strangers"), "c")
    assert re.search(r'</svg>2<span class="sr-only"> failing</span>', page(client, "/p/p/sessions/"))


def test_the_project_page_lists_who_fails_rests_and_waits(client, project):
    failing(project, "a")
    resting = make_session(project, "b", title="Title b")
    Session.objects.filter(pk=resting.pk).update(rests_since=timezone.now(), rests_by="mira")
    add(make_session(project, "c", title="Title c"), 1, 1, status="pending")
    listed = {show: page(client, f"/p/p/summaries/?show={show}") for show in ("failing", "resting", "working", "odd")}
    titles = {show: re.findall(r"Title (\w)</a>", text) for show, text in listed.items()}
    assert titles == {"failing": ["a"], "resting": ["b"], "working": ["c"], "odd": ["a"]}
    assert "Error a" in listed["failing"]
    assert "mira rolled back" in listed["resting"]


def test_the_project_page_lists_what_is_in_use_where_nothing_needs_a_look(client, project):
    session = make_session(project, "a", runs=3, title="Title a")
    entry = add(session, 1, 2, text="They fly on Sunday & want aisle seats.")
    Session.objects.filter(pk=session.pk).update(summary=entry)
    make_session(project, "b", title="Title b")
    listed = page(client, "/p/p/summaries/")
    assert re.findall(r"Title (\w)</a>", listed) == ["a"]
    assert "They fly on Sunday &amp; want aisle seats." in listed
    assert re.findall(r"Title (\w)</a>", page(client, "/p/p/summaries/?show=used")) == ["a"]


def test_without_any_it_says_what_would_be_listed(client, project):
    assert "No summary of this project fails." in page(client, "/p/p/summaries/")


def test_the_project_page_is_paged_and_costs_the_same_however_many_there_are(client, project):
    failing(project, "one")
    page(client, "/p/p/summaries/")
    few = queries(client, "/p/p/summaries/")
    for n in range(60):
        failing(project, f"s{n}")
    assert queries(client, "/p/p/summaries/") == few <= 14
    first = page(client, "/p/p/summaries/")
    after = re.search(r"after=(\d+)", first).group(1)
    rest = page(client, f"/p/p/summaries/?show=failing&after={after}", **HTMX)
    assert "<html" not in rest
    listed = re.findall(r"Title (\w+)</a>", first) + re.findall(r"Title (\w+)</a>", rest)
    assert (len(listed), len(set(listed))) == (61, 61)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
@pytest.mark.parametrize(("column", "index"), [("next_attempt_at", "failing"), ("rests_since", "resting")])
def test_they_are_found_by_an_index_of_their_own(project, column, index):
    assert f"session_summary_{index}" in Session.objects.filter(project=project).exclude(**{column: None}).explain()
