"""Failures, crashes, other workers and changes meanwhile: nothing becomes covered that no text covers."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from sessions_app.domain.errors import SummarizerFailed
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import ProjectSummarizer, Session, Summary, SummaryStatus
from sessions_app.services import summaries, summarizers, summary_claims
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.summaries import Outcome, advance, due_sessions
from tests.factories import NOW, append_turns, make_session
from tests.services.summarizing import AT_ONCE, CASES, advance_all, by_request, sent

pytestmark = pytest.mark.django_db


def test_a_failing_summarizer_moves_nothing(scripted):
    """Griptape, defect b: the second call raises, and q2 is in neither the summary nor the prompt."""
    summarizer = scripted(None, TimeoutError("no answer in 30 s"))
    session = make_session(settings=AT_ONCE | {"offset": 1})
    append_turns(session, 2)
    advance_all(session)
    append_turns(session)
    assert advance_all(session) == [Outcome.FAILED]
    assert session.summary.covers_through == 1
    assert sent(session) == [2, 3]
    failed = session.summaries.get(status=SummaryStatus.FAILED)
    assert (failed.attempts, failed.error) == (1, "TimeoutError: no answer in 30 s")
    assert session.next_attempt_at > NOW
    assert session.summary_wanted_at is not None
    assert advance_all(session, NOW + timedelta(hours=1)) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert summarizer.calls[-1] == ("S[1]", [2])
    assert session.next_attempt_at is None
    entry = session.summaries.get(pk=failed.pk)
    assert (entry.status, entry.attempts, entry.error) == (SummaryStatus.COMPLETED, 2, "")


def test_an_always_failing_summarizer_leaves_all_runs_word_for_word(scripted):
    scripted(*[RuntimeError("down")] * 50)
    session = make_session(settings=AT_ONCE | {"offset": 1})
    for day in range(4):
        append_turns(session)
        advance_all(session, NOW + timedelta(days=day))
    assert session.summary is None
    assert sent(session) == [1, 2, 3, 4]


@pytest.mark.parametrize("answer", ["", "  \n\t "])
def test_an_empty_answer_is_a_failure(scripted, answer):
    scripted(answer)
    session = make_session(runs=2, settings=AT_ONCE | {"offset": 1})
    assert advance_all(session) == [Outcome.FAILED]
    assert session.summary is None
    assert session.summaries.get().error == "The summarizer answered with an empty text."


def test_attempts_back_off_and_hold_back_later_appends_too(scripted):
    summarizer = scripted(*[RuntimeError("down")] * 50)
    session = make_session(runs=2, settings=AT_ONCE | {"offset": 1})
    now = NOW
    pauses = []
    for _ in range(9):
        assert advance(session_pk=session.pk, now=now) is Outcome.FAILED
        session.refresh_from_db()
        pauses.append(round((session.next_attempt_at - now).total_seconds()))
        now = session.next_attempt_at
        append_turns(session, now=now)
        assert advance(session_pk=session.pk, now=now - timedelta(seconds=1)) is Outcome.BACKING_OFF
        assert session.pk not in due_sessions(now=now - timedelta(seconds=1))
        assert session.pk in due_sessions(now=now)
    assert pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert len(summarizer.calls) == 9
    assert session.summaries.count() == 1


def test_a_pause_begins_when_the_attempt_has_ended(scripted):
    scripted(RuntimeError("down"))
    session = make_session(runs=2, settings=AT_ONCE | {"offset": 1})
    chosen = ProjectSummarizer(project=session.project)
    held = summary_claims.claim(session=session, through=1, chosen=chosen, now=NOW)
    assert held is not None
    error = SummarizerFailed("Slow down.", retry_after=120)
    summary_claims.fail(held=held, error=error, took=timedelta(seconds=90), now=NOW)
    session.refresh_from_db()
    assert session.next_attempt_at == NOW + timedelta(seconds=90 + 120)


def test_a_wish_renewed_meanwhile_survives(scripted, monkeypatch):
    scripted()
    session = make_session(runs=1, settings=AT_ONCE | {"offset": 2})
    later = NOW + timedelta(minutes=1)
    next_step = summaries.next_step

    def append_meanwhile(**arguments):
        append_turns(session, now=later)
        return next_step(**arguments)

    monkeypatch.setattr(summaries, "next_step", append_meanwhile)
    assert advance(session_pk=session.pk, now=NOW) is Outcome.NOTHING_DUE
    session.refresh_from_db()
    assert session.summary_wanted_at == later


def test_a_session_deleted_meanwhile_is_left_alone(scripted, monkeypatch):
    session = make_session(runs=2, settings=AT_ONCE | {"offset": 0})

    def delete_meanwhile(request):
        Session.objects.filter(pk=session.pk).update(summary=None)
        Session.objects.get(pk=session.pk).delete()
        return "too late"

    monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(delete_meanwhile))
    assert advance(session_pk=session.pk, now=NOW) is Outcome.BUSY
    assert not Summary.objects.exists()
    assert advance(session_pk=session.pk, now=NOW) is Outcome.GONE


def test_who_hears_of_a_summary_is_told_also_where_the_root_was_deleted_meanwhile(scripted):
    root = make_session(public_id="root")
    session = make_session(root.project, parent=root, runs=3, settings=AT_ONCE | {"offset": 1})
    hears = {"include_parent_context": True}
    below = make_session(root.project, "below", parent=session, settings=hears)

    def meanwhile():
        delete_session(session=root, now=NOW, children=Children.REPARENT)
        Session.objects.filter(pk=below.pk).update(summary_wanted_at=None)

    scripted(meanwhile)
    assert advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED
    below.refresh_from_db()
    assert below.summary_wanted_at == NOW


def test_settings_changed_meanwhile_hold_for_the_next_prompt(scripted, monkeypatch):
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})

    def raise_offset(request):
        Session.objects.filter(pk=session.pk).update(settings=AT_ONCE | {"offset": 3})
        return "S[1,2,3]"

    monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(raise_offset))
    assert advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED
    session.refresh_from_db()
    assert session.summary.covers_through == 3
    assert sent(session) == [1, 2, 3, 4]
    assert sent(session, offset=1) == [4]


def test_a_second_worker_finds_the_entry_taken(scripted, monkeypatch):
    session = make_session(runs=3, settings=AT_ONCE | {"offset": 1})
    seen = []

    def second_worker_meanwhile(request):
        seen.append(advance(session_pk=session.pk, now=NOW))
        return "S[1,2]"

    monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(second_worker_meanwhile))
    assert advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED
    assert seen == [Outcome.BUSY]
    assert session.summaries.count() == 1


def test_a_worker_that_lost_its_lease_commits_nothing(scripted, monkeypatch):
    session = make_session(runs=3, settings=AT_ONCE | {"offset": 1})

    def slow(request):
        monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(lambda request: "from the second worker"))
        session.summaries.update(lease_until=NOW - timedelta(days=3650))
        assert advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED
        return "from the slow worker"

    monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(slow))
    assert advance(session_pk=session.pk, now=NOW) is Outcome.BUSY
    session.refresh_from_db()
    assert session.summary.text == "from the second worker"
    assert session.summaries.count() == 1


class Killed(BaseException):
    """Stands in for the end of a process: no code of ours runs after it."""


def test_a_killed_workers_entry_is_taken_over_when_its_lease_ends(scripted, monkeypatch):
    session = make_session(runs=3, settings=AT_ONCE | {"offset": 1})

    def killed(request):
        raise Killed

    monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(killed))
    with pytest.raises(Killed):
        advance(session_pk=session.pk, now=NOW)
    summarizer = scripted()
    assert advance(session_pk=session.pk, now=NOW) is Outcome.BUSY
    assert session.pk in due_sessions(now=NOW)
    session.summaries.update(lease_until=NOW - timedelta(days=3650))
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert session.summary.attempts == 2
    assert summarizer.calls == [("", [1, 2])]


def test_an_entry_that_kills_its_workers_again_and_again_has_to_wait(scripted):
    scripted()
    session = make_session(runs=3, settings=AT_ONCE | {"offset": 1})
    ended = timezone.now() - timedelta(seconds=45)
    Summary.objects.create(
        session=session, number=1, covers_through=2, created_at=NOW, attempts=3, lease_token="x", lease_until=ended
    )
    assert advance(session_pk=session.pk, now=NOW) is Outcome.BUSY
    session.summaries.update(lease_until=ended - timedelta(seconds=30))
    assert advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED


def test_an_interrupted_entry_that_is_no_longer_needed_is_closed(scripted):
    session = make_session(runs=3, settings=AT_ONCE | {"offset": 1})
    Summary.objects.create(
        session=session, number=1, covers_through=2, created_at=NOW, attempts=1, lease_token="x", lease_until=NOW
    )
    Session.objects.filter(pk=session.pk).update(settings={"strategy": "buffer"})
    assert advance_all(session) == [Outcome.NOTHING_DUE]
    assert session.summaries.get().status == SummaryStatus.FAILED


def test_c15_a_failure_moves_nothing_and_the_next_call_gets_both_runs(scripted):
    case = json.loads((CASES / "C15-summariser-fails.json").read_text())
    summarizer = scripted("S[r1]", TimeoutError(), "S[r1,r2,r3]")
    given = case["settings"]
    session = make_session(
        settings={
            "summarize_at": 0,
            "offset": given["offset"],
            "max_input_tokens": given["token_budget"],
            "model": "gpt-4",
        }
    )
    covered = {}
    for hours, run in enumerate(case["input"]["runs"]):
        now = NOW + timedelta(hours=hours)
        append_runs(session=session, runs=[simple_turn(run["input"], run["output"])], now=now)
        advance_all(session, now)
        covered[run["id"]] = session.summary.covers_through if session.summary else 0
        if run["id"] == "r3":
            text = json.dumps(session_prompt(session=session, query=case["input"]["next_input"]).messages)
            assert "S[r1]" in text
            assert "Fact 1" not in text
            assert text.index("Fact 2") < text.index("Fact 3")
            assert session.next_attempt_at is not None
    assert {run: covered[run] for run in ("r2", "r3", "r4")} == case["computed"]["index_after"]
    assert summarizer.calls == [("", [1]), ("S[r1]", [2]), ("S[r1]", [2, 3])]
    text = json.dumps(session_prompt(session=session, query=case["input"]["next_input"]).messages)
    assert "S[r1,r2,r3]" in text
    assert "Fact 4" in text
    assert "Fact 3" not in text
    assert "unavailable" not in text
