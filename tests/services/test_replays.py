"""Replays of stored sessions."""

from datetime import timedelta

import pytest

from sessions_app.models import Session
from sessions_app.services.replays import replay_session
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "overrides",
    [
        {"offset": 2, "summarize_at": 0},
        {"offset": 2, "summarize_at": 0.5, "summarize_to": 0.2, "max_input_tokens": 200},
        {"offset": 1, "summarize_at": 0.9, "max_input_tokens": 300, "max_runs": 6},
        {"offset": 1, "summarize_at": 1, "summarize_to": 1, "max_input_tokens": 120, "max_summary_tokens": 20},
    ],
)
def test_summaries_move_on_as_the_worker_moves_them(overrides):
    session = make_session(settings={"strategy": "summary", "on_gap": "warn", **overrides})
    now = NOW
    covers: list[int | None] = [None]
    for _ in range(25):
        now += timedelta(seconds=1)
        append_turns(session, now=now)
        while advance(session_pk=session.pk, now=now) is Outcome.ADVANCED:
            now += timedelta(milliseconds=1)
        summary = Session.objects.get(pk=session.pk).summary
        covers.append(summary.covers_through if summary else None)

    (replayed,) = replay_session(session=session, settings={"/settings": {}}, now=now)

    assert len(set(covers)) > 3
    assert replayed.columns["covers_through"] == covers[:-1]


def test_it_changes_nothing():
    session = make_session(runs=3)
    before = Session.objects.values().get()
    replay_session(session=session, settings={"/settings": {"strategy": "summary", "summarize_at": 0}}, now=NOW)
    assert Session.objects.values().get() == before
