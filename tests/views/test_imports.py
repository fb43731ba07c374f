"""The import page: uploads, reports, and what strangers and hostile files get."""

import json
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from sessions_app.models import Import, ImportedConversation, Membership, Session
from sessions_app.services.import_files import work_through
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"
SWAP = {"HX-Request": "true"}
PAYLOADS = json.loads((Path(__file__).parents[1] / "data" / "cases" / "C47-html-in-messages.json").read_text())[
    "input"
]["payloads"]
MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.fixture(autouse=True)
def own_folder(published, settings, tmp_path):
    """Keep files in a folder of the test, and publish nothing."""
    settings.DATA_DIR = tmp_path


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def member(project, client):
    user = get_user_model().objects.create_user("reader")
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend=BACKEND)
    return user


def lines(*rows):
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)


def talks(count, first=1):
    return [{"id": f"talk-{number}", "messages": MESSAGES} for number in range(first, first + count)]


def send(client, data, name="talks.jsonl", **headers):
    return client.post("/p/p/import/", {"file": SimpleUploadedFile(name, data)}, headers=headers)


def bring_in(client, data, name="talks.jsonl"):
    """Upload a file and work through it; return the address of its report."""
    response = send(client, data, name)
    assert response.status_code == 302
    work_through(import_pk=Import.objects.latest("pk").pk, now=NOW)
    return response["Location"]


def page(client, address, **headers):
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_a_file_is_taken_and_its_report_shown(client, member, published, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        response = send(client, lines(*talks(2)))
    work = Import.objects.get()
    assert response["Location"] == f"/p/p/import/{work.pk}/"
    assert (work.user, work.file_name) == (member, "talks.jsonl")
    assert published == [("sessions_app.tasks.run_import", (work.pk,))]
    assert "waiting" in page(client, response["Location"])


def test_a_swap_leads_to_the_report_too(client, member):
    response = send(client, lines(*talks(1)), **SWAP)
    assert response["HX-Redirect"] == f"/p/p/import/{Import.objects.get().pk}/"


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "empty.jsonl", "This file is empty."),
        (b"PK\x03\x04", "talks.zip", "The format of this file is not recognized; known are: Griptape memory (JSON)"),
    ],
)
def test_it_refuses_a_file_with_the_reason(client, member, data, name, reason):
    response = send(client, data, name)
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert not Import.objects.exists()
    assert "<html" not in send(client, data, name, **SWAP).content.decode()


def test_it_refuses_an_upload_without_a_file(client, member):
    response = client.post("/p/p/import/", {})
    assert (response.status_code, b"Choose a file to import." in response.content) == (422, True)


def test_it_refuses_a_file_that_is_too_large_and_stores_nothing(client, member, settings, tmp_path):
    settings.CONVOWEB_MAX_UPLOAD = 1000
    response = send(client, lines(*talks(50)))
    assert response.status_code == 422
    assert "The file is larger than 1000\xa0bytes, or several are together." in response.content.decode()
    assert not Import.objects.exists()
    assert list(tmp_path.rglob("*")) == []


def send_all(client, files, **fields):
    given = [SimpleUploadedFile(name, data) for name, data in files.items()]
    return client.post("/p/p/import/", {"file": given, **fields})


def test_several_files_are_imports_of_their_own_and_what_is_not_recognized_is_a_failed_one(client, member):
    files = {"a.jsonl": lines(*talks(1)), "notes.zip": b"PK", "b.jsonl": lines(*talks(2))}

    response = send_all(client, files)

    assert (response.status_code, response["Location"]) == (302, "/p/p/import/")
    works = Import.objects.order_by("pk").values_list("file_name", "status", "file_format")
    assert list(works) == [
        ("a.jsonl", "pending", "openai"),
        ("notes.zip", "failed", ""),
        ("b.jsonl", "pending", "openai"),
    ]
    text = page(client, "/p/p/import/")
    assert 'hx-trigger="every 2s"' in text
    assert "The format of this file is not recognized" in text
    for work in Import.objects.all():
        work_through(import_pk=work.pk, now=NOW)
    assert Session.objects.count() == 2
    assert "every 2s" not in page(client, "/p/p/import/", **SWAP)


def test_of_several_files_an_empty_one_is_named_and_nothing_is_kept(client, member):
    response = send_all(client, {"a.jsonl": lines(*talks(1)), "b.jsonl": b""})
    assert (response.status_code, b"b.jsonl: This file is empty." in response.content) == (422, True)
    assert not Import.objects.exists()


def test_the_format_can_be_told_and_the_report_says_so(client, member):
    response = send_all(client, {"talks.txt": lines(*talks(1))}, file_format="openai")
    assert "Chosen: OpenAI messages" in page(client, response["Location"])
    assert "Detected: OpenAI messages" in page(client, send(client, lines(*talks(1)))["Location"])
    refused = send_all(client, {"talks.txt": lines(*talks(1))}, file_format="word")
    assert (refused.status_code, b"The format must be one of griptape" in refused.content) == (422, True)


def test_a_file_of_another_system_is_recognized_by_what_is_in_it(client, member):
    artifacts = {"input": {"type": "TextArtifact", "value": "Hello"}, "output": {"type": "TextArtifact", "value": "Hi"}}
    address = bring_in(client, json.dumps({"runs": [{"id": "r", **artifacts}], "metadata": {}}).encode(), "memory")
    text = page(client, address)
    assert ("Detected: Griptape memory" in text, "1</b> conversation " in text) == (True, True)
    assert Session.objects.get().last_position == 1


def test_a_cancelled_import_keeps_what_it_brought_in(client, member):
    address = send(client, lines(*talks(2)))["Location"]
    assert "Cancel</button>" in page(client, address)

    assert client.post(f"{address}cancel/")["Location"] == address

    text = page(client, address)
    assert ("cancelled" in text, "Cancel</button>" in text, "every 1s" in text) == (True, False, False)
    assert client.get(f"{address}cancel/").status_code == 405
    assert "had ended already" in client.post(f"{address}cancel/", follow=True).content.decode()


def test_only_who_may_edit_can_cancel_and_only_in_the_project(client, member, project):
    address = send(client, lines(*talks(1)))["Location"]
    other = Import.objects.create(project=make_project("other"), file_name="x", size=1, created_at=NOW)
    assert client.post(f"/p/p/import/{other.pk}/cancel/").status_code == 404
    Membership.objects.filter(user=member).update(role="viewer")
    assert "Cancel</button>" not in page(client, address)
    assert client.post(f"{address}cancel/").status_code == 403
    assert set(Import.objects.values_list("status", flat=True)) == {"pending"}


def test_the_list_of_imports_costs_the_same_however_many_there_are(client, member, django_assert_num_queries):
    send(client, lines(*talks(1)))
    with CaptureQueriesContext(connection) as one:
        page(client, "/p/p/import/")
        asked = len(one)
    for number in range(5):
        send(client, lines(*talks(1)), f"{number}.jsonl")
    with django_assert_num_queries(asked):
        page(client, "/p/p/import/")


def test_large_files_are_streamed_to_the_data_folder(client, member, settings):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10
    address = bring_in(client, lines(*talks(3)))
    assert "3</b> conversations" in page(client, address)
    assert Session.objects.count() == 3


def test_the_report_names_each_outcome(client, member):
    bring_in(client, lines(*talks(2)))
    rows = [*talks(1), {"id": "talk-2", "messages": MESSAGES * 2}, {"id": "talk-1", "messages": MESSAGES[1:]}, b"{"]
    address = bring_in(client, lines(*rows))
    text = page(client, address)
    for word in ("unchanged", "extended, 1 new run", "history changed", "invalid", "It is not JSON"):
        assert word in text
    assert "/p/p/sessions/talk-2/" in text
    errors = page(client, f"{address}?show=errors")
    assert ("talk-2" in errors, "history changed" in errors) == (False, True)
    unchanged = page(client, f"{address}?show=unchanged")
    assert ("talk-1" in unchanged, "history changed" in unchanged) == (True, False)


def test_the_report_is_paged_and_repeats_nothing(client, member):
    address = bring_in(client, lines(*talks(120)))
    seen: list[str] = []
    after = 0
    for _ in range(3):
        text = page(client, f"{address}?after={after}", **SWAP)
        assert "<html" not in text
        seen += [f"talk-{n}" for n in range(1, 121) if f">talk-{n}</a>" in text]
        after += 50
    assert seen == [f"talk-{n}" for n in range(1, 121)]
    assert "load-more" in page(client, address)
    assert "load-more" not in page(client, f"{address}?after=100", **SWAP)


def test_a_running_import_asks_again_and_a_finished_one_says_so_once(client, member):
    address = send(client, lines(*talks(1)))["Location"]
    assert 'hx-trigger="every 1s"' in page(client, address)
    running = page(client, address, **SWAP)
    assert 'hx-trigger="every 1s"' in running
    assert 'id="import-end"' not in running
    work_through(import_pk=Import.objects.get().pk, now=NOW)
    ended = page(client, address, **SWAP)
    assert "every 1s" not in ended
    assert "finished: 1 imported, 0 extended, 0 unchanged, 0 with errors; 100 % of the file read." in ended
    assert "finished: 1 imported" not in page(client, address)


def test_a_failed_import_says_why(client, member):
    address = bring_in(client, b" ")
    assert "There is no conversation in this file." in page(client, address)


def test_earlier_imports_stand_in_the_sidebar(client, member):
    bring_in(client, lines(*talks(1)), "first.jsonl")
    assert "first.jsonl" in page(client, "/p/p/import/")


def test_strangers_see_nothing(client, project):
    assert client.get("/p/p/import/").status_code == 302
    work = Import.objects.create(project=project, file_name="x", file_format="openai", size=1, created_at=NOW)
    client.force_login(get_user_model().objects.create_user("stranger"), backend=BACKEND)
    assert client.get("/p/p/import/").status_code == 404
    assert client.get(f"/p/p/import/{work.pk}/").status_code == 404
    assert send(client, lines(*talks(1))).status_code == 404


def test_an_import_of_another_project_does_not_exist(client, member):
    other = make_project("other")
    work = Import.objects.create(project=other, file_name="x", file_format="openai", size=1, created_at=NOW)
    assert client.get(f"/p/p/import/{work.pk}/").status_code == 404


@pytest.mark.parametrize("address", ["99999999999999999999999/", "1/?after=-1", "1/?after=x", "1/?show=none"])
def test_senseless_addresses_are_no_server_errors(client, member, address):
    assert client.get(f"/p/p/import/{address}").status_code in (302, 404)


def test_senseless_questions_lead_to_the_report(client, member):
    address = bring_in(client, lines(*talks(1)))
    assert client.get(f"{address}?show=none&after=x")["Location"] == address


@pytest.mark.parametrize("payload", PAYLOADS)
def test_case_47_names_of_files_and_errors_are_shown_as_text(client, member, payload):
    name = payload.replace("/", "|").replace("\n", " ")
    rows = [
        {"id": payload, "title": payload, "messages": MESSAGES},
        {"title": payload, "messages": [{"role": payload, "content": ""}]},
        {"id": payload, "messages": [{"role": "user", "content": payload}]},
    ]
    address = bring_in(client, lines(*rows), f"{name}.jsonl")
    text = page(client, address) + page(client, f"{address}?show=errors", **SWAP)
    details = list(ImportedConversation.objects.exclude(detail="").values_list("detail", flat=True))
    assert len(details) == 2
    assert escape(payload) in text
    assert all(escape(detail) in text for detail in details)
    if escape(payload) != payload:
        assert payload not in text
