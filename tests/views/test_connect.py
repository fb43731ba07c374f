"""The page on which a bot gets its key, its calls, and is waited for."""

import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app.models import ApiKey, Membership
from sessions_app.services.keys import key_of
from sessions_app.services.sessions import update_session
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

PAGE = "/p/p/connect/"
SWAP = {"HX-Request": "true"}
THEN = int((NOW - timedelta(minutes=1)).timestamp())


def show(client, query="", **headers):
    return client.get(f"{PAGE}{query}", headers=headers).content.decode()


def make_key(client, name="bot-1"):
    return client.post(PAGE, {"name": name})


def secret_in(page):
    found = re.search(r'<code id="secret">(cw_\w+)</code>', page)
    assert found
    return found[1]


def test_an_owner_makes_a_key_that_is_shown_once_and_reads_and_writes(client, project):
    response = make_key(client, "phone bot")

    page = response.content.decode()
    secret = secret_in(page)
    key = key_of(text=secret, now=timezone.now())
    assert (key.name, key.project, key.scopes) == ("phone bot", project, ["read", "write"])
    assert page.count(secret) == 3
    assert "no-store" in response["Cache-Control"]
    assert secret not in show(client, f"?key={key.key_id}")


def test_the_next_key_gets_the_next_name(client, project):
    assert 'value="bot-1"' in show(client)
    make_key(client)
    assert 'value="bot-2"' in show(client)


def test_a_form_that_is_sent_twice_makes_one_key(client, project):
    make_key(client)

    again = make_key(client)

    assert again.status_code == 422
    assert "There is a key called bot-1 already" in again.content.decode()
    assert ApiKey.objects.get().actor == "reader"


def test_nothing_is_made_by_looking(client, project):
    page = show(client)

    assert not ApiKey.objects.exists()
    assert "cw_your_key" in page
    assert re.search(rf'hx-get="{PAGE}\?since=\d+"', page)


@pytest.mark.parametrize(("name", "said"), [("", "A key has a name"), ("   ", "A key has a name"), ("x" * 201, "200")])
def test_it_refuses_a_name_that_is_none(client, project, name, said):
    response = make_key(client, name)

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_who_may_not_make_keys_is_told_who_can(client, project, role):
    Membership.objects.update(role=role)

    page = show(client)

    assert "make keys. Ask one of them" in page
    assert "Make a key" not in page
    assert make_key(client).status_code == 403
    assert not ApiKey.objects.exists()


def test_it_waits_until_a_run_has_come(client, project):
    now = timezone.now()
    since = int(now.timestamp()) - 60
    make_session(project, "silent", now=now)
    make_session(make_project("strangers"), "theirs", runs=1, now=now)
    waiting = show(client, f"?since={since}", **SWAP)
    assert "silent</code> was created" in waiting
    assert "hx-get" in waiting

    make_session(project, "thread-42", runs=1, now=now)
    come = client.get(f"{PAGE}?since={since}", headers=SWAP)

    page = come.content.decode()
    assert "thread-42 has got a run" in page
    assert 'href="/p/p/sessions/thread-42/"' in page
    assert "hx-get" not in page
    assert json.loads(come["HX-Trigger"])["announce"]["value"] == "thread-42 has got a run"


def test_a_session_that_only_changes_has_got_no_run(client, project):
    session = make_session(project, "older", runs=1)
    later = NOW + timedelta(hours=1)

    update_session(session=session, changes={"title": "New title"}, now=later)

    assert "Waiting for the first run" in show(
        client, f"?since={int((later - timedelta(minutes=1)).timestamp())}", **SWAP
    )


def test_it_says_how_far_the_bot_has_come(client, project):
    key = key_of(text=secret_in(make_key(client).content.decode()), now=timezone.now())
    query = f"?since={int(timezone.now().timestamp())}&key={key.key_id}"
    assert "The key was used" in show(client, query, **SWAP)
    ApiKey.objects.update(last_used_at=None)
    assert "The key has not been used yet" in show(client, query, **SWAP)
    assert f"key={key.key_id}" in show(client, query, **SWAP)


def test_the_page_can_be_loaded_again_without_scripts(client, project):
    key_id = key_of(text=secret_in(make_key(client).content.decode()), now=timezone.now()).key_id
    make_session(project, "thread-42", runs=1)

    page = show(client, f"?since={THEN}&key={key_id}")

    assert "The key <b>bot-1</b> was made at" in page
    assert "thread-42 has got a run" in page
    waiting = show(client, f"?key={key_id}")
    assert re.search(rf'href="{PAGE}\?since=\d+&amp;key={key_id}">Look again', waiting)


def test_it_asks_no_longer_by_itself_after_a_while(client, project):
    long_ago = int((timezone.now() - timedelta(minutes=16)).timestamp())

    page = show(client, f"?since={long_ago}", **SWAP)

    assert "Waiting for the first run" in page
    assert "hx-get" not in page
    assert f'href="{PAGE}?since={long_ago}">Look again' in page


@pytest.mark.parametrize(
    "query", ["?since=", "?since=x", "?since=-1", "?since=99999999999", "?key=" + "k" * 33, "?key=none"]
)
def test_it_waits_from_now_on_where_the_address_is_nonsense(client, project, query):
    assert "Waiting for the first run" in show(client, query, **SWAP)


def test_looking_again_costs_the_same_for_many_sessions(client, project):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as asked:
            show(client, f"?since={int(timezone.now().timestamp())}", **SWAP)
        return len(asked)

    before = queries()
    for number in range(20):
        make_session(project, f"s-{number}", runs=1)
    assert queries() == before <= 6


def test_the_key_of_another_project_is_not_known_here(client, project):
    theirs = ApiKey.objects.create(project=make_project("strangers"), name="theirs", key_id="k1", secret_hash="x")

    assert "theirs" not in show(client, f"?key={theirs.key_id}")
