"""What people do with a ledger: ask, retry, cancel, edit, roll back, resume."""

from datetime import timedelta

import pytest

from sessions_app.domain.errors import Conflict, InvalidInput, NotFound
from sessions_app.models import Session, Summary, SummaryStatus
from sessions_app.services import summary_claims
from sessions_app.services.ledgers import (
    cancel,
    edit,
    nothing_to_summarize,
    resume,
    retry,
    roll_back,
    summarize_now,
    wait_until_ended,
)
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, append_turns, make_session
from tests.services.summarizing import AT_ONCE, advance_all, sent

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)
SOON = LATER + timedelta(seconds=1)


@pytest.fixture
def summarized(scripted):
    """A session of 9 runs with the entries S[1,2,3], S[..4], ..., S[..8], one for each run that aged."""
    scripted()
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    advance_all(session)
    for _ in range(5):
        append_turns(session)
        advance_all(session)
    assert [entry.covers_through for entry in session.summaries.order_by("number")] == [3, 4, 5, 6, 7, 8]
    return session


def entry_of(session, number):
    return session.summaries.get(number=number)


def states(session):
    return [(entry.number, entry.status) for entry in session.summaries.order_by("number")]


@pytest.mark.parametrize("strategy", ["summary", "buffer", "minimal"])
def test_all_that_has_aged_is_summarized_on_demand_whatever_the_settings_say(scripted, strategy):
    summarizer = scripted()
    session = make_session(runs=10, settings={"strategy": strategy, "offset": 3})
    assert advance_all(session) == [Outcome.NOTHING_DUE]
    entry = summarize_now(session=session, actor="mira", now=LATER)
    assert (entry.status, entry.covers_through, entry.actor) == (SummaryStatus.PENDING, 7, "mira")
    assert advance_all(session, LATER) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert summarizer.calls == [("", [1, 2, 3, 4, 5, 6, 7])]
    assert session.summary == entry
    append_turns(session, 3, now=SOON)
    assert advance_all(session, SOON) == [Outcome.NOTHING_DUE], "what was asked for is done"


def test_asking_twice_gives_one_entry(scripted):
    scripted()
    session = make_session(runs=10, settings={"offset": 3})
    first = summarize_now(session=session, actor="mira", now=LATER)
    again = summarize_now(session=session, actor="noor", now=SOON)
    assert again == first
    advance_all(session, SOON)
    assert states(session) == [(1, "completed")]


def test_a_backlog_that_was_asked_for_is_taken_in_batches(scripted, monkeypatch):
    summarizer = scripted()
    session = make_session(runs=10, settings={"strategy": "buffer", "offset": 2})
    weights = list(session.runs.order_by("position").values_list("tokens_o200k", flat=True))
    monkeypatch.setattr("sessions_app.services.summarizers.BATCH_TOKENS", sum(weights[:3]))
    summarize_now(session=session, actor="mira", now=LATER)
    advance_all(session, LATER)
    assert [runs for _, runs in summarizer.calls] == [[1, 2, 3], [4, 5, 6], [7, 8]]
    assert states(session) == [(1, "completed"), (2, "completed"), (3, "completed")]


def test_asking_ends_the_waiting_after_a_failure_with_an_entry_of_its_own(scripted):
    scripted(RuntimeError("down"))
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    assert advance_all(session) == [Outcome.FAILED]
    summarize_now(session=session, actor="mira", now=NOW + timedelta(seconds=2))
    assert advance_all(session, NOW + timedelta(seconds=2)) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert states(session) == [(1, "failed"), (2, "completed")]


def test_nothing_is_asked_for_where_nothing_has_aged(summarized):
    with pytest.raises(Conflict, match=r"the newest 1 of 9 finished runs stay out \(offset\), 8 are in the summary"):
        summarize_now(session=summarized, actor="mira", now=LATER)
    assert nothing_to_summarize(session=summarized)
    short = make_session(public_id="short", project=summarized.project, runs=2)
    with pytest.raises(Conflict, match="none is in a summary yet"):
        summarize_now(session=short, actor="mira", now=LATER)
    assert short.summaries.count() == 0


def test_an_entry_whose_work_vanished_is_closed(scripted):
    scripted()
    session = make_session(runs=10, settings={"offset": 3})
    summarize_now(session=session, actor="mira", now=LATER)
    Session.objects.filter(pk=session.pk).update(settings={"offset": 30})
    assert advance_all(session, LATER) == [Outcome.NOTHING_DUE]
    assert session.summaries.get().status == SummaryStatus.CANCELLED
    assert session.summarize_through == 0


def test_a_failed_entry_is_retried_at_once_as_a_new_one(scripted):
    scripted(TimeoutError("no answer in 30 s"))
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    advance_all(session)
    again = retry(entry=session.summaries.get(), actor="mira", now=NOW + timedelta(seconds=3))
    assert (again.number, again.status, again.covers_through, again.actor) == (2, "pending", 3, "mira")
    assert advance_all(session, NOW + timedelta(seconds=3)) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    failed = entry_of(session, 1)
    assert (failed.status, failed.error) == ("failed", "TimeoutError: no answer in 30 s")
    assert session.summary == again


def test_only_the_newest_failed_entry_is_retried(summarized):
    with pytest.raises(Conflict, match="Summary #6 is completed"):
        retry(entry=entry_of(summarized, 6), actor="mira", now=LATER)
    Summary.objects.filter(pk=entry_of(summarized, 3).pk).update(status=SummaryStatus.FAILED)
    with pytest.raises(Conflict, match="Summary #6 has come since"):
        retry(entry=entry_of(summarized, 3), actor="mira", now=LATER)


def test_a_cancelled_entry_rests_until_something_changes(scripted):
    summarizer = scripted()
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    entry = summarize_now(session=session, actor="mira", now=LATER)
    stopped = cancel(entry=entry, now=SOON)
    assert (stopped.status, stopped.ended_at, stopped.error) == ("cancelled", SOON, "It was cancelled.")
    assert advance_all(session, SOON) == [Outcome.NOTHING_DUE]
    assert summarizer.calls == []
    append_turns(session, now=SOON + timedelta(seconds=5))
    assert advance_all(session, SOON + timedelta(seconds=5)) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert states(session) == [(1, "cancelled"), (2, "completed")]
    with pytest.raises(Conflict, match="Summary #2 is completed; only one that waits or runs is cancelled"):
        cancel(entry=entry_of(session, 2), now=LATER)


def test_only_the_entry_that_goes_on_is_cancelled(summarized):
    append_turns(summarized, now=LATER)
    goes_on = summarize_now(session=summarized, actor="mira", now=LATER)
    with pytest.raises(Conflict, match="Summary #6 is completed; only one that waits or runs is cancelled"):
        cancel(entry=entry_of(summarized, 6), now=SOON)
    goes_on.refresh_from_db()
    assert goes_on.status == SummaryStatus.PENDING


def test_a_worker_that_has_looked_before_a_cancellation_begins_nothing_after_it(scripted, monkeypatch):
    summarizer = scripted()
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    entry = summarize_now(session=session, actor="mira", now=LATER)
    real = summary_claims.claim

    def late(**claimed):
        cancel(entry=entry, now=SOON)
        return real(**claimed)

    with monkeypatch.context() as patched:
        patched.setattr(summary_claims, "claim", late)
        assert advance(session_pk=session.pk, now=LATER) is Outcome.BUSY
    assert advance_all(session, SOON) == [Outcome.NOTHING_DUE]
    assert (summarizer.calls, states(session)) == ([], [(1, "cancelled")])


def test_a_worker_that_has_looked_before_a_rollback_begins_nothing_after_it(summarized, scripted, monkeypatch):
    summarizer = scripted()
    append_turns(summarized, now=LATER)
    real = summary_claims.claim

    def late(**claimed):
        roll_back(session=summarized, entry=entry_of(summarized, 3), actor="mira", now=SOON)
        roll_back(session=summarized, entry=entry_of(summarized, 6), actor="mira", now=SOON)
        return real(**claimed)

    monkeypatch.setattr(summary_claims, "claim", late)
    assert advance(session_pk=summarized.pk, now=LATER) is Outcome.BUSY
    assert summarizer.calls == []


def test_what_comes_after_a_cancellation_by_a_machine_whose_clock_is_ahead_is_summarized(scripted):
    scripted()
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    entry = summarize_now(session=session, actor="mira", now=NOW)
    cancel(entry=entry, now=LATER)
    append_turns(session, now=NOW + timedelta(seconds=9))
    assert advance_all(session, NOW + timedelta(seconds=9)) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]


def test_a_session_that_is_deleted_while_somebody_waits_for_its_summary_is_not_found(scripted, monkeypatch):
    scripted()
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    entry = summarize_now(session=session, actor="mira", now=LATER)
    monkeypatch.setattr("time.sleep", lambda _: delete_session(session=session, now=SOON))
    with pytest.raises(NotFound):
        wait_until_ended(entry=entry, seconds=5)


def test_only_a_few_wait_and_others_are_answered_at_once(scripted, monkeypatch):
    scripted()
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    entry = summarize_now(session=session, actor="mira", now=LATER)
    answers = []

    def meanwhile(_seconds):
        answers.append(wait_until_ended(entry=entry, seconds=60).status)
        Summary.objects.update(status="cancelled")

    monkeypatch.setattr("time.sleep", meanwhile)
    for _ in range(2):
        Summary.objects.update(status="pending")
        answers.append(wait_until_ended(entry=entry, seconds=60).status)
    # The third is answered at once, and its places are given back.
    assert answers == ["pending", "cancelled", "cancelled"] * 2


def test_what_a_worker_brings_after_a_cancellation_is_dropped(scripted):
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 1})
    scripted(lambda: cancel(entry=session.summaries.get(), now=LATER))
    assert advance(session_pk=session.pk, now=LATER) is Outcome.BUSY
    session.refresh_from_db()
    assert (session.summary, session.summaries.get().status) == (None, "cancelled")
    assert sent(session) == [1, 2, 3, 4]


def test_an_edit_is_a_new_entry_that_the_next_summary_goes_on_from(summarized, scripted):
    edited = edit(entry=summarized.summary, text="  She wears a knee brace.  ", actor="mira", now=LATER)
    assert (edited.number, edited.origin, edited.actor, edited.text) == (7, "edited", "mira", "She wears a knee brace.")
    assert (edited.covers_through, edited.predecessor.number, edited.cost_usd) == (8, 6, 0)
    summarized.refresh_from_db()
    assert summarized.summary == edited
    assert sent(summarized) == [9]
    summarizer = scripted()
    append_turns(summarized, now=SOON)
    advance_all(summarized, SOON)
    assert summarizer.calls == [("She wears a knee brace.", [9])]
    with pytest.raises(Conflict, match="Summary #7 is not the one in use"):
        edit(entry=edited, text="Late.", actor="mira", now=SOON)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", "A summary has a text."),
        (" \n", "A summary has a text."),
        ("word " * 600, "tokens; max_summary_tokens allows 512"),
    ],
)
def test_an_edit_that_could_not_be_sent_is_refused(summarized, text, refusal):
    with pytest.raises(InvalidInput, match=refusal):
        edit(entry=summarized.summary, text=text, actor="mira", now=LATER)
    assert summarized.summaries.count() == 6


def test_an_edit_meanwhile_wins_over_a_running_summary(summarized, scripted):
    summarizer = scripted(lambda: edit(entry=summarized.summary, text="Edited.", actor="mira", now=SOON))
    append_turns(summarized, now=LATER)
    assert advance(session_pk=summarized.pk, now=LATER) is Outcome.BUSY
    advance_all(summarized, SOON)
    assert summarizer.calls[-1] == ("Edited.", [9])
    assert states(summarized)[-3:] == [(7, "cancelled"), (8, "completed"), (9, "completed")]


def test_a_rollback_rests_and_shows_the_runs_again(summarized, scripted):
    summarizer = scripted()
    stored = roll_back(session=summarized, entry=entry_of(summarized, 3), actor="mira", now=LATER)
    assert (stored.summary.number, stored.rests_since, stored.rests_by) == (3, LATER, "mira")
    summarized.refresh_from_db()
    assert sent(summarized) == [6, 7, 8, 9]
    assert [entry.retired_at for entry in summarized.summaries.order_by("number")] == [None] * 3 + [LATER] * 3
    append_turns(summarized, 2, now=SOON)
    assert advance_all(summarized, SOON) == [Outcome.NOTHING_DUE]
    assert summarizer.calls == []
    assert sent(summarized) == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("how", ["resume", "now"])
def test_resuming_goes_on_from_the_entry_that_was_rolled_back_to(summarized, scripted, how):
    summarizer = scripted()
    roll_back(session=summarized, entry=entry_of(summarized, 3), actor="mira", now=LATER)
    if how == "resume":
        assert resume(session=summarized, now=SOON).rests_since is None
    else:
        summarize_now(session=summarized, actor="mira", now=SOON)
    advance_all(summarized, SOON)
    assert summarizer.calls == [("S[1,2,3,4,5]", [6, 7, 8])]
    assert (summarized.summary.number, summarized.rests_since, summarized.rests_by) == (7, None, "")
    assert summarized.summary.predecessor.number == 3
    assert sent(summarized) == [9]
    with pytest.raises(Conflict, match="does not rest"):
        resume(session=summarized, now=SOON)


def test_an_entry_out_of_use_can_come_into_use_again(summarized):
    roll_back(session=summarized, entry=entry_of(summarized, 2), actor="mira", now=LATER)
    roll_back(session=summarized, entry=entry_of(summarized, 5), actor="mira", now=SOON)
    summarized.refresh_from_db()
    assert sent(summarized) == [8, 9]
    assert [entry.retired_at for entry in summarized.summaries.order_by("number")] == [None] * 5 + [LATER]


def test_a_rollback_stops_what_runs(summarized, scripted):
    scripted(lambda: roll_back(session=summarized, entry=entry_of(summarized, 3), actor="mira", now=SOON))
    append_turns(summarized, now=LATER)
    assert advance(session_pk=summarized.pk, now=LATER) is Outcome.BUSY
    summarized.refresh_from_db()
    assert (summarized.summary.number, entry_of(summarized, 7).status) == (3, "cancelled")


def test_only_a_completed_entry_of_the_session_that_is_not_in_use_can_be_rolled_back_to(summarized, scripted):
    with pytest.raises(Conflict, match="Summary #6 is in use already"):
        roll_back(session=summarized, entry=summarized.summary, actor="mira", now=LATER)
    scripted(RuntimeError("down"))
    append_turns(summarized, now=LATER)
    advance_all(summarized, LATER)
    with pytest.raises(Conflict, match="Summary #7 is failed"):
        roll_back(session=summarized, entry=entry_of(summarized, 7), actor="mira", now=LATER)


def test_nothing_is_retried_during_a_rest(summarized, scripted):
    scripted(RuntimeError("down"))
    append_turns(summarized, now=LATER)
    advance_all(summarized, LATER)
    roll_back(session=summarized, entry=entry_of(summarized, 3), actor="mira", now=SOON)
    with pytest.raises(Conflict, match="rests since a rollback"):
        retry(entry=entry_of(summarized, 7), actor="mira", now=SOON)


def test_a_past_turn_sees_what_was_in_use_then(summarized, scripted):
    scripted()
    append_turns(summarized, now=LATER)
    roll_back(session=summarized, entry=entry_of(summarized, 2), actor="mira", now=SOON)
    summarized.refresh_from_db()
    assert sent(summarized) == [5, 6, 7, 8, 9, 10]
    in_use_then = Summary.objects.in_use_at(LATER).filter(session=summarized)
    assert [entry.number for entry in in_use_then] == [1, 2, 3, 4, 5, 6]


def test_a_past_turn_does_not_see_what_came_into_use_again_later(summarized):
    entry = entry_of(summarized, 6)
    roll_back(session=summarized, entry=entry_of(summarized, 2), actor="mira", now=LATER)
    roll_back(session=summarized, entry=entry, actor="mira", now=SOON)
    in_use = [
        [entry.number for entry in Summary.objects.in_use_at(moment).filter(session=summarized)]
        for moment in (LATER - timedelta(seconds=1), LATER, SOON)
    ]
    assert in_use == [[1, 2, 3, 4, 5, 6], [1, 2], [1, 2, 3, 4, 5, 6]]
    delete_session(session=summarized, children=Children.REFUSE, now=SOON)
    assert not Summary.objects.exists()


def test_a_rollback_at_the_parent_does_not_touch_a_fork(summarized):
    fork = fork_session(session=summarized, at=8, now=LATER)
    fork.refresh_from_db()
    assert fork.summary.covers_through == 7
    roll_back(session=summarized, entry=entry_of(summarized, 2), actor="mira", now=SOON)
    edit(entry=entry_of(summarized, 2), text="Other words.", actor="mira", now=SOON)
    fork.refresh_from_db()
    assert (fork.summary.covers_through, fork.summary.text) == (7, "S[1,2,3,4,5,6,7]")


def test_a_fork_takes_no_entry_twice(summarized, scripted):
    fork = fork_session(session=summarized, at=8, now=LATER)
    fork.refresh_from_db()
    scripted("mine")
    append_turns(fork, 2, now=LATER)
    advance_all(fork, LATER)
    first = entry_of(fork, 1)
    assert (first.adopted_from.covers_through, fork.summary.text) == (7, "mine")
    summarizer = scripted()
    Summary.objects.filter(pk=first.pk).update(covers_through=5)
    roll_back(session=fork, entry=first, actor="mira", now=SOON)
    resume(session=fork, now=SOON + timedelta(seconds=1))
    advance_all(fork, SOON + timedelta(seconds=1))
    assert [entry.adopted_from_id for entry in fork.summaries.filter(origin="adopted")].count(
        first.adopted_from_id
    ) == 1
    assert summarizer.calls
