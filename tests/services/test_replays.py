"""Replays of stored sessions."""

from datetime import timedelta

import pytest

from sessions_app.domain.errors import ReplayIsBusy
from sessions_app.domain.replays.replay import replay
from sessions_app.domain.replays.replayed import Replay
from sessions_app.models import Session
from sessions_app.services import replays
from sessions_app.services.kept_replays import KeptReplays
from sessions_app.services.replays import replay_session
from sessions_app.services.sessions import update_session
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


@pytest.fixture
def long_ones(monkeypatch):
    """Take every replay for a long one, and return how many settings each computed one had."""
    monkeypatch.setattr(replays, "LIVE", 0)
    monkeypatch.setattr(replays, "_KEPT", KeptReplays())
    computed = []

    def listening(recording, settings, **more):
        computed.append(len(settings))
        return replay(recording, settings, **more)

    monkeypatch.setattr(replays, "replay", listening)
    return computed


def test_a_long_replay_is_computed_once_for_each_setting(long_ones):
    session = make_session(runs=6, settings={"strategy": "buffer"})
    first = replay_session(session=session, settings={"/a": {}, "/b": {"last_n": 2}}, now=NOW)
    assert replay_session(session=session, settings={"/a": {"last_n": 2}, "/b": {}}, now=NOW) == [first[1], first[0]]
    replay_session(session=session, settings={"/a": {}, "/b": {"last_n": 3}}, now=NOW)
    assert long_ones == [2, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda session: append_turns(session, now=NOW + timedelta(seconds=1)),
        lambda session: update_session(session=session, changes={"settings": {"last_n": 1}}, now=NOW),
        lambda session: update_session(session=session, changes={"instructions": "Be kind."}, now=NOW),
    ],
)
def test_what_a_replay_depends_on_makes_it_another(long_ones, change):
    session = make_session(runs=6, settings={"strategy": "buffer"})
    (before,) = replay_session(session=session, settings={"/settings": {}}, now=NOW)
    change(session)
    session.refresh_from_db()
    (after,) = replay_session(session=session, settings={"/settings": {}}, now=NOW)
    assert long_ones == [1, 1]
    assert after.columns["tokens"] != before.columns["tokens"]


def test_another_long_replay_is_refused_meanwhile_and_short_ones_are_not(long_ones, monkeypatch):
    session = make_session(runs=3, settings={"strategy": "buffer"})
    with replays._LONG_ONES, pytest.raises(ReplayIsBusy):
        replay_session(session=session, settings={"/settings": {}}, now=NOW)
    monkeypatch.setattr(replays, "LIVE", 1_500)
    with replays._LONG_ONES:
        assert replay_session(session=session, settings={"/settings": {}}, now=NOW)


def test_the_newest_replays_are_kept_as_far_as_there_is_room(long_ones):
    session = make_session(runs=4, settings={"strategy": "buffer"})
    (made,) = replay_session(session=session, settings={"/settings": {}}, now=NOW)
    kept = KeptReplays(most_turns=9)
    for key in ("one", "two"):
        kept.keep(key, made)
    assert isinstance(kept.find("one"), Replay)
    kept.keep("three", made)
    assert [kept.find(key) is not None for key in ("one", "two", "three")] == [True, False, True]
    assert KeptReplays(most_turns=3).find("one") is None
