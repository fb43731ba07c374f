"""Uploaded files on their way in: each conversation reported once, whatever happens to the worker."""

import json
import stat
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile
from django.db import IntegrityError, OperationalError
from django.db.models.functions import Now

from sessions_app.domain.errors import InvalidInput, NotFound
from sessions_app.domain.file_formats.openai import OPENAI
from sessions_app.domain.json_streams import Found
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Import, ImportedConversation, ImportStatus, Project, Run, Session
from sessions_app.services import import_files, imports
from sessions_app.services.import_files import cancel_import, start_import, waiting_imports, work_through
from sessions_app.services.imports import prepare_row
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db

MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def begin():
    """Return a function that uploads rows, or bytes, as a file."""
    project, user = make_project(), get_user_model().objects.create_user("reader")

    def upload(*rows, name="talks.jsonl"):
        lines = b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
        return start_import(project=project, user=user, file=ContentFile(lines, name), now=NOW)

    return upload


def row(number):
    return {"id": f"talk-{number}", "messages": MESSAGES}


def report(work):
    return list(work.conversations.values_list("place", "outcome"))


def stored_files(folder):
    return list((folder / "imports").iterdir())


def test_none_begins_in_a_project_that_was_deleted_meanwhile(begin, data_dir):
    Project.objects.update(deleted_at=NOW)

    with pytest.raises(NotFound):
        begin(row(1))

    assert stored_files(data_dir) == []
    assert not Import.objects.exists()


def test_nobody_else_may_read_what_is_kept(begin, data_dir):
    begin(row(1))

    folder = data_dir / "imports"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())] == [0o700, 0o600]


def test_an_upload_waits_until_it_is_worked_through(begin, data_dir):
    work = begin(row(1), row(2))
    assert (work.status, work.file_format, waiting_imports()) == (ImportStatus.PENDING, "openai", [work.pk])
    assert len(stored_files(data_dir)) == 1
    work_through(import_pk=work.pk, now=NOW)
    work.refresh_from_db()
    assert (work.status, work.done_items, work.done_bytes) == (ImportStatus.COMPLETED, 2, work.size)
    assert report(work) == [(1, "imported"), (2, "imported")]
    assert work.finished_at is not None
    assert stored_files(data_dir) == []
    assert waiting_imports() == []


def test_what_cannot_be_read_is_reported_and_the_rest_comes_in(begin):
    work = begin(row(1), b"{broken", {"id": "x", "messages": [{}]}, row(1))
    work_through(import_pk=work.pk, now=NOW)
    assert report(work) == [(1, "imported"), (2, "invalid"), (3, "invalid"), (4, "unchanged")]
    invalid = work.conversations.get(place=3)
    assert (invalid.title, invalid.detail, invalid.session) == ("x", "Message 1: it has no role.", None)


def test_a_changed_history_is_reported_with_the_session_it_is_about(begin):
    work_through(import_pk=begin(row(1)).pk, now=NOW)
    work = begin({"id": "talk-1", "messages": MESSAGES[1:]})
    work_through(import_pk=work.pk, now=NOW)
    assert report(work) == [(1, "changed")]
    assert work.conversations.get().session == Session.objects.get()


def test_an_import_without_conversations_has_failed(begin, data_dir):
    work = begin(b" ")
    work_through(import_pk=work.pk, now=NOW)
    work.refresh_from_db()
    assert (work.status, work.error) == (ImportStatus.FAILED, "There is no conversation in this file.")
    assert stored_files(data_dir) == []


def test_a_lost_file_fails_the_import(begin, data_dir):
    work = begin(row(1))
    stored_files(data_dir)[0].unlink()
    work_through(import_pk=work.pk, now=NOW)
    work.refresh_from_db()
    assert (work.status, work.error) == (ImportStatus.FAILED, "It broke off: FileNotFoundError.")


def test_files_of_an_unknown_format_are_not_kept(begin, data_dir):
    with pytest.raises(InvalidInput, match="not recognized"):
        begin(b"PK", name="talks.zip")
    assert not Import.objects.exists()
    assert not (data_dir / "imports").exists()


def test_an_import_goes_on_where_a_killed_worker_came_to(begin, monkeypatch):
    work = begin(row(1), row(2), row(3))
    with monkeypatch.context() as patch:
        patch.setattr(import_files, "_store", killed_at(2))
        with pytest.raises(KeyboardInterrupt):
            work_through(import_pk=work.pk, now=NOW)
    assert report(work) == [(1, "imported")]
    assert waiting_imports() == []
    work_through(import_pk=work.pk, now=NOW)
    assert report(work) == [(1, "imported")]

    Import.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert waiting_imports() == [work.pk]
    work_through(import_pk=work.pk, now=NOW)
    assert report(work) == [(1, "imported"), (2, "imported"), (3, "imported")]
    assert (Session.objects.count(), Run.objects.count()) == (3, 3)


def killed_at(place):
    """Return a stand-in for storing that dies at this place."""
    store = import_files._store

    def store_or_die(work, read, *others):
        if read.place == place:
            raise KeyboardInterrupt
        return store(work, read, *others)

    return store_or_die


def test_a_worker_stops_when_another_has_taken_over(begin):
    work = begin(row(1), row(2))
    ImportedConversation.objects.create(source_import=work, place=2, outcome="imported")
    read = prepare_row(file_format=OPENAI, found=Found(2, row(2)))
    assert import_files._store(work, read, 10, NOW) is False
    assert not Session.objects.exists()


def test_a_worker_stops_before_the_next_conversation_when_the_import_is_cancelled(begin, data_dir, monkeypatch):
    work = begin(row(1), row(2), row(3))
    store = import_files._store

    def cancel_before_the_second(*given):
        if given[1].place == 2:
            assert cancel_import(work=Import.objects.get(pk=work.pk))
        return store(*given)

    monkeypatch.setattr(import_files, "_store", cancel_before_the_second)
    work_through(import_pk=work.pk, now=NOW)
    work.refresh_from_db()
    assert (work.status, work.done_items, work.error, work.stored_as) == (ImportStatus.CANCELLED, 1, "", "")
    assert report(work) == [(1, "imported")]
    assert (Session.objects.count(), stored_files(data_dir), waiting_imports()) == (1, [], [])


def test_an_import_that_waits_can_be_cancelled_and_one_that_ended_cannot(begin, data_dir):
    work = begin(row(1))
    assert (cancel_import(work=work), cancel_import(work=work)) == (True, False)
    work_through(import_pk=work.pk, now=NOW)
    assert (report(work), stored_files(data_dir)) == ([], [])


def test_an_import_that_is_done_is_not_done_again(begin):
    work = begin(row(1))
    work_through(import_pk=work.pk, now=NOW)
    work_through(import_pk=work.pk, now=NOW)
    assert report(work) == [(1, "imported")]


def test_long_names_of_files_are_cut(begin):
    assert len(begin(row(1), name="n" * 300 + ".jsonl").file_name) == 255


HOSTILE = {"id": "h", "messages": [*MESSAGES, {"role": "assistant", "tool_calls": [{"type": [], "function": {}}]}]}


def test_a_hostile_row_costs_its_line_and_no_other(begin):
    work = begin(row(1), HOSTILE, row(2))
    work_through(import_pk=work.pk, now=NOW)
    work.refresh_from_db()
    assert (work.status, work.error) == (ImportStatus.COMPLETED, "")
    assert report(work) == [(1, "imported"), (2, "invalid"), (3, "imported")]


@pytest.mark.parametrize("broken", ["check_new_run", "import_conversation"])
def test_a_mistake_of_ours_costs_a_row_and_not_the_file(begin, monkeypatch, caplog, broken):
    work = begin(row(1), row(2), row(3))
    right, calls = getattr(imports, broken), []

    def fail_once(*given, **named):
        calls.append(given)
        if len(calls) == 2:
            raise TypeError("unhashable")
        return right(*given, **named)

    monkeypatch.setattr(imports, broken, fail_once)
    work_through(import_pk=work.pk, now=NOW)
    assert report(work) == [(1, "imported"), (2, "invalid"), (3, "imported")]
    detail = work.conversations.get(place=2).detail
    assert detail == "It cannot be imported, which is our mistake and logged: TypeError."
    assert "unhashable" in caplog.text


def test_a_database_that_is_away_says_nothing_about_the_row(begin, monkeypatch):
    work = begin(row(1))

    def be_away(**given):
        raise OperationalError("away")

    monkeypatch.setattr(imports, "import_conversation", be_away)
    with pytest.raises(OperationalError):
        work_through(import_pk=work.pk, now=NOW)
    assert report(work) == []


def test_an_integrity_error_of_another_kind_ends_the_import_instead_of_starting_it_again_and_again(begin, monkeypatch):
    work = begin(row(1))

    def fail(**given):
        raise IntegrityError("another constraint")

    monkeypatch.setattr(ImportedConversation.objects, "create", fail)
    work_through(import_pk=work.pk, now=NOW)
    work.refresh_from_db()
    assert (work.status, work.error) == (ImportStatus.FAILED, "It broke off: IntegrityError.")
    assert waiting_imports() == []


def test_a_bots_metadata_named_openai_stay_its_own(begin):
    work_through(import_pk=begin(row(1)).pk, now=NOW)
    session = Session.objects.get()
    run = replace(simple_turn("More", "Done"), metadata={"openai": {"0": 5}})
    append_runs(session=session, runs=[run], now=NOW)
    more = [{"role": "user", "content": "More"}, {"role": "assistant", "content": "Done"}]

    work = begin({"id": "talk-1", "messages": [*MESSAGES, *more]}, row(2))
    work_through(import_pk=work.pk, now=NOW)

    assert report(work) == [(1, "unchanged"), (2, "imported")]
    assert session.runs.get(position=2).metadata == {"openai": {"0": 5}}
