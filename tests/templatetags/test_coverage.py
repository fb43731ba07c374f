"""The chart of what the entries of a ledger cover."""

import re

import pytest

from sessions_app.models import Session
from sessions_app.queries.next_summaries import next_summary
from sessions_app.queries.summary_ledgers import ledger_of
from sessions_app.services.prompts import effective_settings
from sessions_app.templatetags.coverage import coverage
from tests.factories import NOW, make_session
from tests.queries.test_summary_ledgers import add, many_runs, use

pytestmark = pytest.mark.django_db


def chart(session):
    session = Session.objects.get(pk=session.pk)
    coming = next_summary(session, effective_settings(session=session))
    return coverage(ledger_of(session).rows, coming, session.last_position)


def texts(drawn):
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn)


def bars(drawn):
    """Return the bars as (what they are painted with, where they begin, how wide they are)."""
    found = re.findall(r'<rect (?:class|fill)="([^"]*)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn)
    return [(paint, float(x), float(width)) for paint, x, width in found]


@pytest.fixture
def session():
    """A session of 20 runs with an entry of each kind, #3 in use."""
    session = make_session(runs=20, settings={"offset": 4})
    first = add(session, 1, 5, origin="adopted")
    second = add(session, 2, 10, predecessor=first)
    third = add(session, 3, 10, predecessor=second, origin="edited")
    add(session, 4, 12, predecessor=third, retired_at=NOW)
    add(session, 5, 13, predecessor=third, status="failed")
    add(session, 6, 14, predecessor=third, status="running")
    use(session, third)
    return session


def test_each_entry_has_a_line_the_oldest_on_top(session):
    drawn = chart(session)
    assert [text for text in texts(drawn) if text.startswith("#")] == ["#1", "#2", "#3", "#4", "#5", "#6"]
    words = ["adopted from the parent", "edited by a person", "rolled back", "failed", "running"]
    assert [text for text in texts(drawn) if text in words] == words


def test_what_came_from_before_and_what_is_new_stand_side_by_side(session):
    paints = [paint for paint, _, _ in bars(chart(session))]
    old, new = "s-summarized", "url(#p-summarized)"
    assert paints[:4] == [new, old, new, old]  # the edited one covers nothing new
    assert paints[4:] == [old, "cov-out mute", old, "url(#p-lost)", old, "cov-out", "url(#p-kept)"]


def test_a_bar_begins_where_the_one_before_it_ends(session):
    _, (_, x, width), (_, next_x, _), *_ = bars(chart(session))
    assert next_x - (x + width) == pytest.approx(1.5, abs=0.2)
    assert width == pytest.approx((next_x - x) - 1.5, abs=0.2)


def test_what_no_summary_covers_is_told_with_what_offset_keeps_out(session):
    assert "runs 15–20 are not summarized yet, offset 4 keeps 17–20 out" in texts(chart(session))
    session.summaries.filter(number=6).update(covers_through=16)
    assert "offset 4: runs 17–20 are not summarized yet" in texts(chart(session))


def test_under_another_strategy_they_are_only_in_no_summary(session):
    session.summaries.filter(number=6).delete()
    Session.objects.update(settings={"strategy": "buffer"})
    assert "runs 11–20 are in no summary" in texts(chart(session))


def test_of_many_entries_the_newest_are_drawn_within_the_chart():
    session = make_session(runs=3)
    many_runs(session, 10_000)
    for number in range(1, 301):
        add(session, number, number * 33)
    drawn = chart(session)
    assert [text for text in texts(drawn) if text.startswith("#")] == [f"#{n}" for n in range(277, 301)]
    assert all(x > 0 and x + width <= 740 for _, x, width in bars(drawn))
    assert texts(drawn)[-6:] == ["1", "2,000", "4,000", "6,000", "8,000", "10,000"]


def test_a_session_of_one_run_can_be_drawn():
    session = make_session(runs=1, settings={"offset": 0})
    use(session, add(session, 1, 1))
    assert texts(chart(session)) == ["#1", "1"]


def test_it_is_told_in_words(session):
    label = re.search(r'aria-label="([^"]*)"', chart(session)).group(1)
    assert label.startswith("Runs covered by each summary, of 20: #1 runs 1–5, adopted from the parent; #2 runs 1–10;")
