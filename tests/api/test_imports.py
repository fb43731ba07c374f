"""Imports over the API: a file in, how far it came, what was wrong with it."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import MULTIPART_CONTENT, encode_multipart

from sessions_app.models import Import, Session
from sessions_app.services.import_files import work_through
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db
MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.fixture(autouse=True)
def own_folder(published, settings, tmp_path):
    """Keep files in a folder of the test, and publish nothing."""
    settings.DATA_DIR = tmp_path


def send(bot, *rows, name="talks.jsonl", **fields):
    lines = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
    body = encode_multipart("BoUnDaRyStRiNg", {"file": SimpleUploadedFile(name, lines.encode()), **fields})
    return bot.post("/imports", body, content_type=MULTIPART_CONTENT)


def talk(number, messages=MESSAGES):
    return {"id": f"talk-{number}", "messages": messages}


def test_a_file_waits_is_brought_in_and_reported(bot, project):
    answer = send(bot, talk(1), "{broken", talk(2))
    assert answer.status_code == 202
    given = answer.json()
    assert (given["status"], given["file_format"], given["read_bytes"], given["failed"]) == ("pending", "openai", 0, [])

    work_through(import_pk=Import.objects.get().pk, now=NOW)
    done = bot.get(f"/imports/{given['id']}").json()

    assert (done["status"], done["read_bytes"]) == ("completed", done["size"])
    assert done["counts"] == {"imported": 2, "extended": 0, "unchanged": 0, "changed": 0, "invalid": 1}
    [failed] = done["failed"]
    assert (failed["place"], failed["outcome"], failed["session_id"]) == (2, "invalid", None)
    assert failed["detail"].startswith("It is not JSON")
    assert Session.objects.filter(project=project).count() == 2


def test_a_changed_history_names_its_session_and_the_next_page_begins_behind_the_last(bot):
    send(bot, *(talk(number) for number in range(1, 53)))
    work_through(import_pk=Import.objects.get().pk, now=NOW)
    again = send(bot, *(talk(number, MESSAGES[1:]) for number in range(1, 53))).json()["id"]
    work_through(import_pk=Import.objects.latest("pk").pk, now=NOW)

    first = bot.get(f"/imports/{again}").json()
    second = bot.get(f"/imports/{again}?after={first['next_after']}").json()

    assert first["counts"]["changed"] == 52
    assert [row["session_id"] for row in first["failed"] + second["failed"]] == [f"talk-{n}" for n in range(1, 53)]
    assert (len(second["failed"]), second["next_after"]) == (2, None)


@pytest.mark.parametrize(
    ("row", "fields", "pointer"),
    [("PK", {"name": "talks.zip"}, None), (talk(1), {"file_format": "word"}, "/file_format")],
)
def test_what_cannot_be_read_is_refused_and_not_kept(bot, row, fields, pointer):
    answer = send(bot, row, **fields)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ([pointer] if pointer else [])
    assert not Import.objects.exists()


def test_a_request_without_a_file_is_refused(bot):
    body = encode_multipart("BoUnDaRyStRiNg", {"file_format": "openai"})
    answer = bot.post("/imports", body, content_type=MULTIPART_CONTENT)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/file")


def test_a_file_that_is_too_large_is_refused_with_the_limit(bot, settings):
    settings.CONVOWEB_MAX_UPLOAD = 100
    answer = send(bot, talk(1))
    assert (answer.status_code, answer.json()["detail"]) == (413, "A file may have at most 100 bytes.")


def test_it_needs_the_scopes_write_and_read(project, make_bot):
    assert send(make_bot(project, "read"), talk(1)).status_code == 403
    given = send(make_bot(project, "write"), talk(1)).json()
    assert make_bot(project, "write").get(f"/imports/{given['id']}").status_code == 403
    assert make_bot(make_project("other")).get(f"/imports/{given['id']}").status_code == 404
