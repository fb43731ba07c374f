"""Files that are written while they are sent."""

import pytest

from sessions_app.domain.errors import ExportIsBusy
from sessions_app.domain.export_formats.openai import OPENAI
from sessions_app.services.downloads import MOST_AT_ONCE, Download
from tests.factories import make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def begin():
    """Return what begins a download of a session; those that are still open are closed at the end."""
    session, opened = make_session(runs=1), []

    def one():
        opened.append(Download(session_pks=[session.pk], file_format=OPENAI))
        return opened[-1]

    yield one
    for download in opened:
        download.close()


def test_only_a_few_are_sent_at_once(begin):
    standing_still = [begin() for _ in range(MOST_AT_ONCE)]
    next(iter(standing_still[0]))
    with pytest.raises(ExportIsBusy, match="4 exports are being sent"):
        begin()

    standing_still[0].close()
    standing_still[0].close()
    assert "answer 1" in "".join(begin())
    with pytest.raises(ExportIsBusy):
        begin()


def test_an_answer_that_nobody_closes_gives_its_place_back(begin):
    standing_still = [begin() for _ in range(MOST_AT_ONCE - 1)]
    for _ in range(2):
        Download(session_pks=[], file_format=OPENAI)
    last = begin()
    with pytest.raises(ExportIsBusy):
        begin()
    assert all("answer 1" in "".join(download) for download in [*standing_still, last])
