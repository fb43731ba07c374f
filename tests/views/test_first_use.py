"""What a newcomer reads where there is nothing yet: each page says what will stand there, and what brings it."""

import pytest

from tests.factories import make_session

pytestmark = pytest.mark.django_db

SESSION = "/p/p/sessions/s/"
TAUGHT = {
    "/p/p/sessions/": ["A session appears here as soon as a bot writes to it", "/p/p/connect/", "/p/p/import/"],
    "/p/p/summaries/": ["No summary of this project fails", "Sessions are summarized as their settings say"],
    "/p/p/import/": ["File formats"],
    "/p/p/settings/keys/": ["No key yet", "/p/p/connect/"],
    "/p/p/settings/profiles/": ["There is no profile yet", "/p/p/sessions/"],
    "/p/p/settings/versions/": ["Nothing was saved for this project yet", "save what works as the project default"],
}
TAUGHT_OF_SESSION = {
    "": ["No runs yet", "http://testserver/api/v1/sessions/s/runs", "/p/p/connect/"],
    "tune/": ["Nothing to send yet", "Type a query"],
    "tune/why/": ["No runs yet", "what becomes of each run"],
    "tune/compare/": ["The draft does not differ from what is saved"],
    "tune/replay/": ["No turns to replay yet", "turn by turn"],
    "summaries/": ["No summary yet", "A summary takes the place of the oldest runs"],
    "versions/": ["Nothing was saved to this session yet", f"{SESSION}tune/"],
}


def assert_said(client, address, words):
    response = client.get(address, follow=True)
    page = response.content.decode()
    assert response.status_code == 200
    assert [word for word in words if word not in page] == []


@pytest.mark.parametrize(("address", "words"), TAUGHT.items())
def test_a_new_project_teaches(client, project, address, words):
    assert_said(client, address, words)


@pytest.mark.parametrize(("address", "words"), TAUGHT_OF_SESSION.items())
def test_a_session_without_runs_teaches(client, project, address, words):
    make_session(project)

    assert_said(client, f"{SESSION}{address}", words)


def test_there_is_no_past_before_the_first_run(client, project):
    make_session(project)

    assert_said(client, f"{SESSION}then/", ["There is no turn yet: this session has no runs.", "No runs yet"])


def test_a_session_with_instructions_shows_what_would_be_sent(client, project):
    make_session(project, instructions="Be brief.")

    page = client.get(f"{SESSION}tune/").content.decode()

    assert "Be brief." in page
    assert "Nothing to send yet" not in page
