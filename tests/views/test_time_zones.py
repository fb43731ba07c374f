"""Pages go by the clock of whoever looks."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from sessions_app.models import Session
from tests.factories import make_session

pytestmark = pytest.mark.django_db

# 18:30 of the day before in Honolulu, 00:30 in New York, 13:30 in Tokyo.
SAID = datetime(2026, 5, 4, 4, 30, tzinfo=UTC)


@pytest.fixture
def session(project):
    """Return a session with one turn at 04:30 UTC."""
    session = make_session(project, runs=1, now=SAID)
    session.runs.update(created_at=SAID)
    Session.objects.filter(pk=session.pk).update(updated_at=SAID)
    return session


@pytest.mark.parametrize(
    ("zone", "written"),
    [("Asia/Tokyo", "13:30"), ("America/New_York", "00:30"), ("", "04:30"), ("../etc/passwd", "04:30")],
)
def test_it_writes_times_as_the_clock_of_the_browser_shows_them(client, session, zone, written):
    client.cookies["zone"] = zone
    year = "" if timezone.now().year == SAID.year else f" {SAID.year}"
    assert f">4 May{year}, {written}</time>" in client.get("/p/p/sessions/s/").content.decode()


@pytest.mark.parametrize(
    ("zone", "day", "found"),
    [
        ("Pacific/Honolulu", "2026-05-03", True),
        ("Pacific/Honolulu", "2026-05-04", False),
        ("Asia/Tokyo", "2026-05-03", False),
        ("Asia/Tokyo", "2026-05-04", True),
    ],
)
def test_it_reads_days_as_they_begin_and_end_there(client, session, zone, day, found):
    client.cookies["zone"] = zone
    page = client.get(f"/p/p/sessions/?since={day}&until={day}").content.decode()
    assert ("/p/p/sessions/s/" in page) == found


@pytest.mark.parametrize(
    ("since", "until", "said", "found"),
    [
        ("2026-05-04T13:30", "2026-05-04T13:30", "since 4 May, 13:30 until 4 May, 13:30", True),
        ("2026-05-04T13:31", "", "since 4 May, 13:31", False),
        ("", "2026-05-04T13:29", "until 4 May, 13:29", False),
        ("2026-05-04T00:00", "2026-05-04T23:59", "4 May", True),
        ("2026-05-03", "2026-05-04T13:30", "since 3 May until 4 May, 13:30", True),
    ],
)
def test_it_reads_times_of_day_there_and_says_them(client, session, since, until, said, found):
    client.cookies["zone"] = "Asia/Tokyo"
    page = client.get(f"/p/p/sessions/?since={since}&until={until}").content.decode()
    assert ("/p/p/sessions/s/" in page) == found
    assert f"Active<b>{said}</b>" in page


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "9999-12-30"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "Pacific/Honolulu"])
def test_it_reads_the_first_and_the_last_days_there_are(client, session, zone, day):
    client.cookies["zone"] = zone
    assert client.get(f"/p/p/sessions/?since={day}").status_code == 200
    assert client.get(f"/p/p/sessions/?until={day}").status_code == 200
