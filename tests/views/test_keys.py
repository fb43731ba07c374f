"""The page of API keys."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from sessions_app.models import ApiKey
from sessions_app.services.keys import create_api_key
from tests.factories import make_project

pytestmark = pytest.mark.django_db

LIST = "/p/p/settings/keys/"
NEW = "/p/p/settings/keys/new/"


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.content.decode())))


def create(client, **fields):
    return client.post(NEW, {"name": "agent-canary", "scopes": ["write", "read"], **fields})


def test_it_makes_a_key_that_works_and_shows_it_once(client, project):
    page = create(client)

    (shown,) = re.findall(r'<code id="secret">(cw_\w+)</code>', page.content.decode())
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    bearer = {"Authorization": f"Bearer {shown}"}
    assert client.get("/api/v1/sessions?limit=1", headers=bearer).status_code == 200
    assert shown not in client.get(LIST).content.decode()
    key = ApiKey.objects.get()
    assert (key.name, key.scopes, key.actor, key.project) == ("agent-canary", ["read", "write"], "reader", project)


def test_its_example_is_a_command_with_the_key_and_the_address_of_this_server(client, project):
    page = text_of(create(client))

    assert re.search(r"export CONVOWEB_KEY=cw_\w{12}_\w+ curl -H", page)
    assert '"http://testserver/api/v1/sessions?limit=1"' in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "  "}, "A key has a name of 1 to 200 characters."),
        ({"name": "x" * 201}, "A key has a name of 1 to 200 characters."),
        ({"scopes": []}, "A key needs at least one scope."),
        ({"scopes": ["root"]}, "The scopes of a key are one or more of read, write, admin."),
    ],
)
def test_what_cannot_be_a_key_is_said_at_its_field(client, project, fields, words):
    page = create(client, **fields)

    assert (page.status_code, ApiKey.objects.count()) == (422, 0)
    assert words in text_of(page)


@pytest.mark.parametrize("page", [NEW, "/p/p/connect/"])
def test_a_form_sent_twice_makes_one_key_and_shows_it_to_both(client, project, page):
    (number,) = re.findall(r'name="form_number" value="([^"]+)"', client.get(page).content.decode())
    given = {"name": "agent-canary", "scopes": ["read"], "form_number": number}

    answers = [client.post(page, given).content.decode() for _ in range(2)]

    assert len({re.findall(r"cw_\w{12}_\w+", answer)[0] for answer in answers}) == 1
    assert ApiKey.objects.count() == 1


def test_another_form_with_the_same_name_makes_no_second_key(client, project):
    create(client)
    again = create(client)

    assert (again.status_code, ApiKey.objects.count()) == (422, 1)
    assert "There is a key called agent-canary already." in text_of(again)


def test_a_name_is_free_again_when_its_key_is_revoked(client, project):
    create(client)
    client.post(f"{LIST}{ApiKey.objects.get().pk}/revoke/")

    assert create(client).status_code == 200


def test_it_lists_what_each_key_may_and_when_it_was_used(client, project):
    used, _ = create_api_key(project=project, name="notebook", scopes=["read"])
    idle, _ = create_api_key(project=project, name="old-worker", scopes=["read", "admin"], actor="tove")
    create_api_key(project=project, name="new", scopes=["write"])
    create_api_key(project=make_project("q"), name="theirs", scopes=["read"])
    ApiKey.objects.filter(pk=used.pk).update(last_used_at=timezone.now() - timedelta(minutes=5))
    ApiKey.objects.filter(pk=idle.pk).update(last_used_at=timezone.now() - timedelta(days=84))

    page = client.get(LIST)

    rows = [re.sub(r"<[^>]+>", " ", row) for row in re.findall(r"<tr.*?</tr>", page.content.decode(), re.DOTALL)[1:]]
    assert [row.split()[0] for row in rows] == ["new", "notebook", "old-worker"]
    assert "never" in rows[0]
    assert f"cw_{used.key_id[:4]}… read" in " ".join(rows[1].split())
    assert "5 min" in rows[1]
    assert "by tove" in rows[2]
    assert 'class="state warn"' in page.content.decode()
    assert used.secret_hash not in page.content.decode()


def test_a_key_is_revoked_after_a_question(client, project):
    key, text = create_api_key(project=project, name="bot", scopes=["read"])
    address = f"{LIST}{key.pk}/revoke/"

    asked = client.get(address)
    assert "Revoke bot?" in text_of(asked)
    key.refresh_from_db()
    assert key.revoked_at is None

    done = client.post(address, follow=True)
    assert "bot is revoked." in text_of(done)
    assert client.get("/api/v1/sessions", headers={"Authorization": f"Bearer {text}"}).status_code == 401
    again = client.post(address, follow=True)
    assert "bot is revoked already." in text_of(again)


def test_a_key_of_another_project_cannot_be_revoked(client, project):
    theirs, _ = create_api_key(project=make_project("q"), name="theirs", scopes=["read"])

    assert client.post(f"{LIST}{theirs.pk}/revoke/").status_code == 404
    assert client.get(f"{LIST}{theirs.pk}/revoke/").status_code == 404
    theirs.refresh_from_db()
    assert theirs.revoked_at is None


def test_names_are_shown_as_text(client, project):
    create(client, name="<script>x</script>")

    page = client.get(LIST).content.decode()
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page


def test_a_form_without_the_token_is_refused(project):
    assert Client(enforce_csrf_checks=True).post(NEW, {"name": "x", "scopes": ["read"]}).status_code == 403


@pytest.mark.parametrize(
    ("asked", "days"),
    [
        ({}, None),
        ({"expires": "never"}, None),
        ({"expires": "30"}, 30),
        ({"expires": "90"}, 90),
        ({"expires": "365"}, 365),
    ],
)
def test_it_expires_when_one_chose(client, project, asked, days):
    before = timezone.now()
    page = create(client, **asked)
    made, after = ApiKey.objects.get(), timezone.now()

    if days is None:
        assert made.expires_at is None
        assert "Expires never" in text_of(page)
    else:
        assert made.expires_at is not None
        assert before + timedelta(days=days) <= made.expires_at <= after + timedelta(days=days)
        assert str(made.expires_at.year) in page.content.decode()


def test_its_last_day_is_one_to_come_and_counts(client, project):
    today = timezone.localdate()
    for last_day in ("", "2020-01-01", "tomorrow", str(today - timedelta(days=1)), "9999-12-31"):
        refused = create(client, expires="day", last_day=last_day)
        assert (refused.status_code, ApiKey.objects.count()) == (422, 0)
        assert "The last day of a key is" in text_of(refused)
    assert "expires must be one of never, 30, 90, 365, day." in text_of(create(client, expires="7"))

    create(client, expires="day", last_day=str(today))
    expires = timezone.localtime(ApiKey.objects.get().expires_at)
    assert (expires.date(), expires.hour, expires.minute) == (today, 23, 59)


def test_an_expired_key_is_shown_as_such_behind_those_in_force_and_its_name_is_free(client, project):
    now = timezone.now()
    create_api_key(project=project, name="agent-canary", scopes=["read"], expires_at=now - timedelta(minutes=5))
    create_api_key(project=project, name="zebra", scopes=["read"], expires_at=now + timedelta(days=400))

    rows = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in re.findall(r"(?s)<tr.*?</tr>", shown(client))[1:]]
    assert [row.split()[0] for row in rows] == ["zebra", "agent-canary"]
    assert "Revoke" in rows[0]
    assert "expired" not in rows[0]
    assert "expired" in rows[1]
    assert "Revoke" not in rows[1]
    assert create(client).status_code == 200


def shown(client):
    return client.get(LIST).content.decode()
