"""Sessions that are ticked in the list: tags, export and deletion, with a question first and a true report."""

import json
import re

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Membership, Session, SessionTag
from sessions_app.views import selections
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db
URL = "/p/p/selection/"


@pytest.fixture
def tree(project):
    trip = make_session(project, "trip", runs=2, title="Family trip", tags=["red"])
    hotel = make_session(project, "hotel", parent=trip, forked_at=1, title="Hotel")
    make_session(project, "late", parent=hotel, forked_at=1, title="Late arrival")
    make_session(project, "visa", title="<b>Visa</b>")
    return project


def keys(*names):
    return [Session.objects.get(public_id=name).pk for name in names]


def ask(client, do, **fields):
    response = client.post(URL, {"do": do, **fields})
    return response.content.decode() if response.status_code == 200 else response


def answer(client, do, *names, **fields):
    """Answer the question about sessions, and return what the list then says."""
    sent = {"do": do, "sure": "1", "sessions": " ".join(map(str, keys(*names))), **fields}
    return client.post(URL, sent, follow=True).content.decode()


def left():
    return set(Session.objects.values_list("public_id", flat=True))


def test_each_row_that_was_listed_has_a_box_of_the_form(client, tree):
    page = client.get("/p/p/sessions/").content.decode()
    trip, visa = keys("trip", "visa")

    assert f'form="bulk" name="session" value="{trip}"' in page
    assert f'form="bulk" name="session" value="{visa}"' in page
    assert 'aria-label="Tick Family trip"' in page
    hits = client.get("/p/p/sessions/?q=late").content.decode()
    assert hits.count('class="input pick"') == 1


def test_ticked_sessions_get_a_tag(client, tree):
    question = ask(client, "tag", session=keys("trip", "hotel"))
    assert "Add a tag to 2 sessions" in question
    assert "Family trip" in question

    said = answer(client, "tag", "trip", "hotel", tag="red", query="sort=title")

    assert "1 session got the tag red. 1 had it already." in said
    assert set(SessionTag.objects.values_list("session__public_id", "name")) == {("trip", "red"), ("hotel", "red")}


def test_a_question_about_tags_to_remove_offers_those_that_there_are(client, tree):
    assert 'value="red"' in ask(client, "untag", session=keys("trip", "hotel"))
    assert "None of them has a tag." in ask(client, "untag", session=keys("visa"))

    assert "1 session lost the tag red. 1 did not have it." in answer(client, "untag", "trip", "visa", tag="red")
    assert not SessionTag.objects.exists()


def test_all_that_match_are_meant_whatever_is_on_the_page(client, tree):
    question = ask(client, "tag", all="1", query="view=forks&sort=title")

    assert "Add a tag to 2 sessions" in question
    hotel, late = keys("hotel", "late")
    assert f'name="sessions" value="{hotel} {late} "' in question


def test_it_is_said_when_more_match_than_can_be_picked(client, tree, monkeypatch):
    for most in (1, 2):
        monkeypatch.setattr("sessions_app.queries.selections.MOST_SELECTED", most)
        monkeypatch.setattr(selections, "MOST_SELECTED", most)
        # Two trees match.
        assert (f"These are the first {most} that match" in ask(client, "tag", all="1")) is (most == 1)

    assert "These are the first" not in ask(client, "tag", session=keys("trip", "visa"))


def test_a_file_that_would_hold_a_part_only_is_refused(client, tree, monkeypatch):
    monkeypatch.setattr("sessions_app.queries.selections.MOST_SELECTED", 1)
    given = {"all": "1", "file_format": "openai"}

    refused = client.post("/p/p/selection/export/", given, follow=True).content.decode()
    assert "sessions, and more match: narrow the list." in refused


def test_deleting_asks_what_becomes_of_the_children_and_how_many_there_are(client, tree):
    question = ask(client, "delete", session=keys("trip", "visa"))

    assert "Delete 2 sessions" in question
    assert "1 of them has children; 2 sessions below are not among them" in question
    assert set(re.findall(r'name="children" value="(\w+)"', question)) == {"refuse", "reparent", "delete"}
    assert "&lt;b&gt;Visa&lt;/b&gt;" in question
    assert left() == {"trip", "hotel", "late", "visa"}
    assert 'name="children"' not in ask(client, "delete", session=keys("visa"))


def test_those_with_children_stay_if_nothing_else_is_said(client, tree):
    said = answer(client, "delete", "trip", "visa")

    assert "1 session deleted. 1 session stayed: there are children below." in said
    assert left() == {"trip", "hotel", "late"}


def test_children_go_too_or_move_up(client, tree):
    assert "1 session deleted. </p>" not in answer(client, "delete", "hotel", children="reparent")
    assert left() == {"trip", "late", "visa"}
    assert "1 session deleted and 1 below them." in answer(client, "delete", "trip", children="delete")
    assert left() == {"visa"}


def test_when_the_time_is_up_the_rest_is_asked_about_again(client, tree, monkeypatch):
    monkeypatch.setattr(selections, "SECONDS", -1)

    said = answer(client, "delete", "visa", "trip")

    assert "0 sessions deleted. The time was up for 2 more, which are all as they were." in said
    assert "Delete 2 sessions" in said
    assert left() == {"trip", "hotel", "late", "visa"}


def test_ticked_sessions_are_exported_into_one_file(client, tree):
    sent = {"file_format": "openai", "session": keys("late", "visa")}

    response = client.post(f"{URL}export/", sent)

    assert response["Content-Disposition"] == 'attachment; filename="p-2-sessions.jsonl"'
    assert [json.loads(line)["id"] for line in response.getvalue().splitlines()] == ["late", "visa"]
    alone = client.post(f"{URL}export/", {"file_format": "markdown", "session": keys("trip")})
    assert alone["Content-Disposition"] == 'attachment; filename="Family-trip.md"'
    every = client.post(f"{URL}export/", {"file_format": "openai", "all": "1", "query": "tag=red"})
    assert [json.loads(line)["id"] for line in every.getvalue().splitlines()] == ["trip"]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"do": "tag"}, "No session is picked"),
        ({"do": "burn", "session": "KEY"}, "do must be one of tag, untag, delete."),
        ({"do": "delete", "session": "KEY", "children": "eat", "sure": "1"}, "children must be one of"),
        ({"do": "tag", "session": "KEY", "tag": " ", "sure": "1"}, "A tag has 1 to 100 characters."),
        ({"do": "tag", "session": "x", "sessions": "-1 9e9 ٣"}, "No session is picked"),
        ({"do": "tag", "all": "1", "query": "sort=nonsense"}, "The address asks for something"),
    ],
)
def test_what_cannot_be_is_refused_with_a_word(client, tree, sent, said):
    named = {name: keys("visa")[0] if value == "KEY" else value for name, value in sent.items()}

    assert said in client.post(URL, named, follow=True).content.decode()
    assert left() == {"trip", "hotel", "late", "visa"}


def test_unknown_formats_of_exports_are_refused_with_a_word(client, tree):
    page = client.post(f"{URL}export/", {"session": keys("visa"), "file_format": "word"}, follow=True)

    assert "file_format must be one of openai, markdown." in page.content.decode()


def test_a_viewer_may_export_and_nothing_else(client, tree):
    viewer = get_user_model().objects.create_user("viewer")
    Membership.objects.create(project=tree, user=viewer, role="viewer")
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")

    assert client.post(URL, {"do": "delete", "session": keys("visa")}).status_code == 403
    assert client.post(f"{URL}export/", {"file_format": "openai", "session": keys("visa")}).status_code == 200
    page = client.get("/p/p/sessions/").content.decode()
    assert 'name="do"' not in page
    assert 'value="markdown"' in page


def test_sessions_of_other_projects_cannot_be_picked(client, tree):
    theirs = make_session(make_project("other"), "theirs").pk

    said = client.post(URL, {"do": "delete", "session": theirs, "sure": "1"}, follow=True).content.decode()

    assert "No session is picked" in said
    assert "theirs" in left()
