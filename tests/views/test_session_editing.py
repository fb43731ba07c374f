"""Editing and deleting a session on its page."""

import json

import pytest

from sessions_app.models import Session
from sessions_app.services.sessions import fork_session, update_session
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db

EDIT, DELETE = "/p/p/sessions/s/edit/", "/p/p/sessions/s/delete/"
METADATA = {"channel": "web", "deep": {"a": 1, "b": 2}}


@pytest.fixture
def session(project):
    fields = {"title": "Lost bag", "user_id": "u-1", "tags": ["vip", "baggage, lost"], "metadata": METADATA}
    return make_session(project, runs=3, settings={"strategy": "buffer"}, **fields)


def sent(**changed):
    return {
        "title": "Lost bag",
        "user_id": "u-1",
        "tags": "baggage, lost\r\nvip",
        "metadata": json.dumps(METADATA),
    } | changed


def stored():
    session = Session.objects.get(public_id="s")
    return session.title, session.user_id, sorted(tag.name for tag in session.tags.all()), session.metadata


def page(response):
    return response.content.decode()


def test_the_page_shows_what_it_is_filed_under_and_leads_to_editing(client, session):
    shown = page(client.get("/p/p/sessions/s/"))
    assert 'href="/p/p/sessions/?tag=baggage%2C%20lost">baggage, lost</a>' in shown
    assert 'href="/p/p/sessions/?user=u-1">u-1</a>' in shown
    assert "&quot;channel&quot;" in shown
    assert f'href="{EDIT}"' in shown
    assert f'href="{DELETE}"' in shown


def test_the_dialog_holds_what_is_stored(client, session):
    shown = page(client.get(EDIT))
    assert 'value="Lost bag"' in shown
    assert ">baggage, lost\nvip</textarea>" in shown
    assert "&quot;deep&quot;: {" in shown


def test_what_was_changed_is_stored_and_nothing_else(client, session):
    response = client.post(EDIT, sent(title=" Found bag ", tags="vip\r\n\r\nurgent"), follow=True)
    assert response.redirect_chain == [("/p/p/sessions/s/", 302)]
    assert "Saved." in page(response)
    assert stored() == ("Found bag", "u-1", ["urgent", "vip"], METADATA)


def test_what_others_changed_meanwhile_stays_where_nothing_was_changed_here(client, session):
    shown = sent()
    update_session(session=session, changes={"title": "Theirs"}, now=NOW)
    client.post(EDIT, {"tags": shown["tags"] + "\nmine"})
    assert stored()[0] == "Theirs"
    assert "mine" in stored()[2]


def test_nothing_changed_is_said_and_not_written(client, session):
    before = Session.objects.get().updated_at
    assert "Nothing was changed." in page(client.post(EDIT, sent(), follow=True))
    assert Session.objects.get().updated_at == before


@pytest.mark.parametrize(
    "metadata", [{}, {"deep": {"b": 2, "c": [None, 1]}}, {"channel": True}, {"channel": {"x": "y"}, "new": 1.5}]
)
def test_metadata_becomes_what_was_written(client, session, metadata):
    client.post(EDIT, sent(metadata=json.dumps(metadata)))
    assert json.dumps(stored()[3], sort_keys=True) == json.dumps(metadata, sort_keys=True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"metadata": "[1]"}, "Metadata must be an object of JSON"),
        ({"metadata": "{"}, "Metadata must be an object of JSON"),
        ({"metadata": "[" * 100_000}, "Metadata must be an object of JSON"),
        ({"metadata": '{"a":' * 70 + "1" + "}" * 70}, "nested 64 levels deep"),
        ({"metadata": '{"a": NaN}'}, "NaN is not a number of JSON"),
        ({"metadata": '{"a": null}'}, "cannot be given the value null"),
        ({"title": "t" * 501}, "title may have at most 500 characters"),
        ({"user_id": "u" * 201}, "user_id may have at most 200 characters"),
        ({"tags": "t" * 101}, "A tag has 1 to 100 characters"),
        ({"tags": "\n".join(f"t{n}" for n in range(101))}, "at most 100 tags"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_that_was_written_is_lost(client, session, wrong, said):
    response = client.post(EDIT, sent(user_id="kept") | wrong)
    assert response.status_code == 422
    assert said in page(response)
    assert 'aria-invalid="true"' in page(response)
    assert ('value="kept"' in page(response)) is ("user_id" not in wrong)
    assert stored() == ("Lost bag", "u-1", ["baggage, lost", "vip"], METADATA)


def test_a_session_without_children_is_deleted_after_one_question(client, session):
    asked = page(client.get(DELETE))
    assert "Delete Lost bag?" in asked
    assert "3 runs of its own and 0 summaries go for good" in asked
    assert 'name="children"' not in asked
    response = client.post(DELETE, follow=True)
    assert response.redirect_chain == [("/p/p/sessions/", 302)]
    assert "Lost bag was deleted." in page(response)
    assert not Session.objects.exists()


@pytest.fixture
def family(session):
    fork = fork_session(session=session, at=2, now=NOW, public_id="fork", title="The fork")
    append_turns(fork, 1)
    make_session(session.project, "below", parent=fork)
    return fork


def test_it_says_what_stands_below_and_what_forks_keep(client, family):
    asked = page(client.get(DELETE))
    assert "1 conversation stands below it" in asked
    assert "Delete all 2 below too" in asked
    assert "at most those up to run 2" in asked


@pytest.mark.parametrize("answer", [{}, {"children": "refuse"}, {"children": "nonsense"}])
def test_without_a_word_on_the_children_nothing_is_deleted(client, family, answer):
    response = client.post(DELETE, answer)
    assert response.status_code == 409
    assert "Say what shall become of the conversations below it." in page(response)
    assert Session.objects.count() == 3


def test_the_children_move_up_or_go_too(client, family):
    client.post(DELETE, {"children": "reparent"})
    family.refresh_from_db()
    assert (family.parent, family.runs.count()) == (None, 3)
    client.post("/p/p/sessions/fork/delete/", {"children": "delete"})
    assert not Session.objects.exists()


def test_below_a_parent_one_comes_back_to_it(client, family):
    response = client.post("/p/p/sessions/below/delete/", follow=True)
    assert response.redirect_chain == [("/p/p/sessions/fork/", 302)]


def test_what_a_bot_changes_while_somebody_edits_stays(client, session):
    seen = client.get(EDIT).context["editing"].seen
    update_session(session=session, changes={"user_id": "u-2", "tags": ["red"], "metadata": {"order": 42}}, now=NOW)

    changed = json.dumps({"channel": "phone", "deep": METADATA["deep"]})
    client.post(EDIT, sent(title="Found bag", metadata=changed, seen=seen))

    assert stored() == ("Found bag", "u-2", ["red"], {**METADATA, "channel": "phone", "order": 42})


@pytest.mark.parametrize("seen", ["no JSON", "[1]", '{"title": 1, "metadata": null}'])
def test_without_a_sign_of_what_was_seen_it_is_what_is_stored(client, session, seen):
    client.post(EDIT, sent(title="Found bag", seen=seen))

    assert stored() == ("Found bag", "u-1", ["baggage, lost", "vip"], METADATA)


def test_what_was_seen_stays_known_while_the_form_is_corrected(client, session):
    seen = client.get(EDIT).context["editing"].seen

    assert client.post(EDIT, sent(metadata="{", seen=seen)).context["editing"].seen == seen
