"""Downloading a session from its page."""

import json

import pytest

from sessions_app.domain.export_formats.openai import OPENAI
from sessions_app.services.downloads import MOST_AT_ONCE, Download
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db


def test_a_session_is_downloaded_as_a_file(client, project):
    make_session(project, "s", runs=1, title="</title><script>")

    answer = client.get("/p/p/sessions/s/export/")

    assert answer["Content-Disposition"] == 'attachment; filename="title-script.jsonl"'
    assert json.loads(answer.getvalue())["messages"][1]["content"] == "answer 1"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_it_can_be_markdown(client, project):
    make_session(project, "s", runs=1)

    answer = client.get("/p/p/sessions/s/export/?file_format=markdown")

    assert answer["Content-Disposition"] == 'attachment; filename="s.md"'
    assert "## Run 1" in answer.getvalue().decode()


def test_a_format_that_is_none_leads_back_and_says_which_there_are(client, project):
    make_session(project, "s")

    page = client.get("/p/p/sessions/s/export/?file_format=word", follow=True)

    assert "file_format must be one of openai, markdown." in page.content.decode()


def test_where_too_many_are_sent_the_page_says_so(client, project):
    make_session(project, "s", runs=1)
    begun = [Download(session_pks=[], project=project, file_format=OPENAI) for _ in range(MOST_AT_ONCE)]

    page = client.get("/p/p/sessions/s/export/", follow=True)

    assert "4 exports are being sent" in page.content.decode()
    for answer in begun:
        answer.close()
    assert client.get("/p/p/sessions/s/export/").getvalue()


def test_strangers_get_nothing(client, project):
    make_session(make_project("other"), "theirs")

    assert client.get("/p/other/sessions/theirs/export/").status_code == 404
    assert client.get("/p/p/sessions/theirs/export/").status_code == 404
    client.logout()
    assert client.get("/p/p/sessions/s/export/").status_code == 302
