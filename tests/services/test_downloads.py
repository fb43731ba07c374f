"""Files that are written first and then sent."""

import errno
import json
from pathlib import Path
from threading import Event, current_thread
from unittest import mock

import pytest
from django.conf import settings as configured
from django.db import OperationalError, connection

from sessions_app.domain.errors import ExportIsBusy, InvalidInput
from sessions_app.domain.export_formats.openai import OPENAI
from sessions_app.services import downloads
from sessions_app.services.downloads import MOST_AT_ONCE, Download
from tests.factories import append_turns, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    return make_session(runs=1)


@pytest.fixture
def begin(session):
    """Return what begins a download of a session; those that are still open are closed at the end."""
    opened = []

    def one():
        opened.append(Download(session_pks=[session.pk], project=session.project, file_format=OPENAI))
        return opened[-1]

    yield one
    for download in opened:
        download.close()


def text_of(download):
    return b"".join(download).decode()


def test_only_a_few_are_sent_at_once(begin):
    standing_still = [begin() for _ in range(MOST_AT_ONCE)]
    next(iter(standing_still[0]))
    with pytest.raises(ExportIsBusy, match="4 exports are being sent"):
        begin()

    standing_still[0].close()
    standing_still[0].close()
    assert "answer 1" in text_of(begin())
    with pytest.raises(ExportIsBusy):
        begin()


def test_an_answer_that_nobody_closes_gives_its_place_back(begin, session):
    standing_still = [begin() for _ in range(MOST_AT_ONCE - 1)]
    for _ in range(2):
        Download(session_pks=[], project=session.project, file_format=OPENAI)
    last = begin()
    with pytest.raises(ExportIsBusy):
        begin()
    assert all("answer 1" in text_of(download) for download in [*standing_still, last])


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_being_sent_keeps_no_state_of_the_database(begin, session):
    download = begin()
    beginning = next(iter(download)).decode()

    assert not connection.in_atomic_block
    append_turns(session)
    assert "answer 1" in beginning
    assert "answer 2" not in beginning + text_of(download)


def test_it_says_how_long_it_is_and_leaves_no_file_behind(begin, monkeypatch):
    monkeypatch.setattr(downloads, "BLOCK", 7)
    folder = Path(configured.FILE_UPLOAD_TEMP_DIR)
    before = list(folder.iterdir())

    download = begin()

    assert list(folder.iterdir()) == before
    assert len(text_of(download).encode()) == int(download.headers["Content-Length"])


def test_a_file_that_is_too_large_is_refused_and_gives_its_place_back(begin, settings):
    settings.CONVOWEB_MAX_EXPORT = 20
    for _ in range(MOST_AT_ONCE + 1):
        with pytest.raises(InvalidInput, match="more than 20 bytes"):
            begin()


def test_where_the_disk_is_full_it_is_to_be_asked_for_again(begin, monkeypatch):
    def full(**_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(downloads, "TemporaryFile", full)
    for _ in range(MOST_AT_ONCE + 1):
        with pytest.raises(ExportIsBusy, match="No space left on device"):
            begin()


def test_the_files_lie_in_the_data_folder(begin, monkeypatch):
    asked = mock.Mock(wraps=downloads.TemporaryFile)
    monkeypatch.setattr(downloads, "TemporaryFile", asked)
    begin()
    assert asked.call_args.kwargs["dir"].parent == configured.DATA_DIR


@pytest.fixture
def written_apart(monkeypatch):
    """Let one run be many."""
    monkeypatch.setattr(downloads, "RUNS_BEFORE_SENDING", 0)


@pytest.mark.django_db(transaction=True)
def test_a_long_one_is_sent_while_it_is_written_and_comes_whole(begin, session, written_apart, monkeypatch):
    monkeypatch.setattr(downloads, "BLOCK", 7)
    append_turns(session, 300)

    text = text_of(begin())

    assert json.loads(text)["messages"][-1]["content"] == "answer 301"
    assert text.endswith("]}}\n")


@pytest.mark.django_db(transaction=True)
def test_one_that_is_not_read_to_its_end_is_written_no_further(begin, session, written_apart, monkeypatch):
    asked, let_go = Event(), Event()

    def endless(**_options):
        yield "beginning"
        asked.set()
        let_go.wait(60)
        while True:
            yield "x"

    monkeypatch.setattr(downloads, "exported", endless)
    download = begin()
    assert asked.wait(60)
    let_go.set()

    download.close()

    assert not download._writer.is_alive()
    assert free_places() == MOST_AT_ONCE


def free_places():
    """Return how many places are free."""
    return downloads._PLACES._value


@pytest.mark.django_db(transaction=True)
def test_a_long_one_that_becomes_too_large_is_cut_off(begin, session, written_apart, settings):
    settings.CONVOWEB_MAX_EXPORT = 20
    with pytest.raises(InvalidInput, match="more than 20 bytes"):
        text_of(begin())


@pytest.mark.django_db(transaction=True)
def test_a_long_one_that_the_database_breaks_off_does_not_look_whole(begin, session, written_apart, monkeypatch):
    def broken(**_options):
        yield "beginning"
        raise OperationalError("the database is away")

    monkeypatch.setattr(downloads, "exported", broken)
    with pytest.raises(OperationalError, match="away"):
        text_of(begin())


@pytest.mark.django_db(transaction=True)
def test_a_long_one_has_one_file_however_the_threads_run(begin, session, written_apart, monkeypatch):
    made_by, real = [], downloads.TemporaryFile

    def made(**options):
        made_by.append(current_thread())
        return real(**options)

    monkeypatch.setattr(downloads, "TemporaryFile", made)
    assert "answer 1" in text_of(begin())
    assert made_by == [current_thread()]
