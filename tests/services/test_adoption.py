"""A fork takes over what its parent has summarized of the runs they share."""

from datetime import timedelta
from decimal import Decimal

import pytest

from sessions_app.models import Session, SummaryStatus
from sessions_app.services import adoption, ledgers
from sessions_app.services.prompts import session_prompt
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import create_session, fork_session
from sessions_app.services.summaries import Outcome
from tests.factories import NOW, append_turns, make_project, make_session
from tests.services.summarizing import AT_ONCE, advance_all, sent

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def summarizer(scripted):
    return scripted()


@pytest.fixture
def parent(summarizer):
    """Ten runs, of which the summaries S[1,2,3], S[1..6] and S[1..9] cover what they say."""
    parent = make_session(make_project(), "parent", settings=AT_ONCE | {"offset": 1})
    for count in (4, 3, 3):
        append_turns(parent, count)
        advance_all(parent)
    assert [entry.covers_through for entry in parent.summaries.order_by("number")] == [3, 6, 9]
    summarizer.calls.clear()
    return parent


def adopted(session):
    return [entry.covers_through for entry in session.summaries.filter(origin="adopted").order_by("number")]


@pytest.mark.parametrize(("at", "covered"), [(10, 9), (9, 6), (7, 6), (6, 3), (4, 3)])
def test_a_fork_takes_the_best_entry_that_covers_only_shared_runs_and_none_of_the_newest_offset(
    parent, summarizer, at, covered
):
    fork = fork_session(session=parent, at=at, now=LATER)

    assert (fork.summary.covers_through, fork.summary.origin, fork.summary.status) == (covered, "adopted", "completed")
    source = parent.summaries.get(covers_through=covered)
    for name in ("text", "tokens_o200k", "tokens_before", "summarizer"):
        assert getattr(fork.summary, name) == getattr(source, name)
    assert session_prompt(session=fork).covers_through == covered
    assert sent(fork) == list(range(covered + 1, at + 1))
    assert summarizer.calls == []


@pytest.mark.parametrize("at", [0, 2, 3])
def test_a_fork_in_front_of_all_entries_takes_none(parent, at):
    assert fork_session(session=parent, at=at, now=LATER).summary is None


def test_a_child_shares_no_runs_and_takes_none(parent):
    assert create_session(project=parent.project, parent=parent, now=LATER).summary is None


def test_a_fork_of_a_fork_takes_what_that_one_took(parent):
    fork = fork_session(session=parent, at=8, now=LATER)
    append_turns(fork, 2, now=LATER)

    assert fork_session(session=fork, at=9, now=LATER).summary.text == "S[1,2,3,4,5,6]"


def test_a_fork_of_a_fork_takes_from_above_where_that_one_took_only_what_covers_more(parent, summarizer):
    fork = fork_session(session=parent, at=10, now=LATER)
    assert adopted(fork) == [9]

    again = fork_session(session=fork, at=5, now=LATER)

    assert (again.summary.text, again.summary.adopted_from.session) == ("S[1,2,3]", parent)
    assert advance_all(again, LATER) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert summarizer.calls == [("S[1,2,3]", [4])]


def test_a_fork_of_a_fork_follows_that_one_where_it_went_back(parent, summarizer):
    fork = fork_session(session=parent, at=7, now=LATER)
    append_turns(fork, 2, now=LATER)
    advance_all(fork, LATER)
    summarizer.calls.clear()
    ledgers.roll_back(session=fork, entry=fork.summaries.get(number=1), actor="mira", now=LATER)

    again = fork_session(session=fork, at=9, now=LATER)
    advance_all(again, LATER)

    assert adopted(again) == [6]
    assert summarizer.calls == [("S[1,2,3,4,5,6]", [7, 8])]


def test_a_fork_takes_the_best_entry_before_each_summarizing(parent, summarizer):
    fork = fork_session(session=parent, at=9, now=LATER)
    assert adopted(fork) == [6]
    append_turns(fork, 2, now=LATER)

    assert advance_all(fork, LATER) == [Outcome.ADVANCED, Outcome.ADVANCED, Outcome.NOTHING_DUE]

    assert adopted(fork) == [6, 9]
    assert summarizer.calls == [("S[1,2,3,4,5,6,7,8,9]", [10])]
    entries = list(fork.summaries.order_by("number"))
    assert [entry.covers_from for entry in entries] == [1, 7, 10]
    assert [entry.predecessor for entry in entries] == [None, *entries[:2]]


def test_what_happens_at_the_parent_later_does_not_touch_the_fork(parent):
    fork = fork_session(session=parent, at=10, now=LATER)
    before = session_prompt(session=fork).fingerprint
    append_turns(parent, 3, now=LATER)
    advance_all(parent, LATER)

    fork.refresh_from_db()
    assert session_prompt(session=fork).fingerprint == before


def test_nothing_is_taken_while_another_worker_has_the_forks_entry(summarizer):
    parent = make_session(runs=6, settings=AT_ONCE | {"offset": 1})
    fork = fork_session(session=parent, at=6, now=LATER)
    append_turns(fork, 2, now=LATER)
    advance_all(parent)
    lease_until = LATER + timedelta(days=9999)
    entry = fork.summaries.create(
        number=1, covers_through=7, summarizer="extractive", created_at=LATER, lease_until=lease_until
    )

    assert advance_all(fork, LATER) == [Outcome.BUSY]
    assert (fork.summary, fork.summaries.get()) == (None, entry)

    fork.summaries.update(lease_until=NOW - timedelta(days=9999))
    advance_all(fork, LATER)
    assert adopted(fork) == [5]


def test_an_entry_that_failed_becomes_the_one_that_is_taken(parent, summarizer):
    fork = fork_session(session=parent, at=9, now=LATER)
    append_turns(fork, 1, now=LATER)
    failed = fork.summaries.create(
        number=2,
        covers_through=9,
        summarizer="extractive",
        created_at=LATER,
        status=SummaryStatus.FAILED,
        error="down",
        attempts=1,
    )

    advance_all(fork, LATER)

    failed.refresh_from_db()
    assert (failed.status, failed.origin, failed.error, failed.covers_through) == ("completed", "adopted", "", 9)
    assert fork.summary == failed
    assert summarizer.calls == []


def test_fifty_forks_of_a_long_parent_need_no_summarizer(summarizer):
    parent = make_session(make_project(), "parent", settings={"max_input_tokens": 600, "offset": 2})
    for _ in range(60):
        append_turns(parent)
        advance_all(parent)
    assert parent.summaries.count() >= 3
    assert summarizer.calls
    summarizer.calls.clear()
    forks = [fork_session(session=parent, at=at, public_id=f"fork-{at}", now=LATER) for at in range(11, 61)]

    for fork in forks:
        assert advance_all(fork, LATER) == [Outcome.NOTHING_DUE]
    covers = [fork.summary.covers_through if fork.summary else 0 for fork in forks]
    assert summarizer.calls == []
    assert covers == sorted(covers)
    assert covers[-1] == parent.summary.covers_through
    for fork, covered in zip(forks, covers, strict=True):
        assert sent(fork) == list(range(covered + 1, fork.last_position + 1))


def test_a_text_that_a_person_has_put_into_the_fork_is_what_its_next_summary_goes_on_from(parent, summarizer):
    fork = fork_session(session=parent, at=9, now=LATER)
    ledgers.edit(entry=fork.summaries.get(), text="She is allergic to nuts.", actor="mira", now=LATER)
    append_turns(fork, 2, now=LATER)

    advance_all(fork, LATER)

    assert summarizer.calls == [("She is allergic to nuts.", [7, 8, 9, 10])]
    assert adopted(fork) == [6]


def test_what_a_failed_attempt_cost_stays_with_the_entry_that_is_taken_instead(parent):
    fork = fork_session(session=parent, at=9, now=LATER)
    append_turns(fork, 1, now=LATER)
    paid = {"status": SummaryStatus.FAILED, "attempts": 1, "cost_usd": Decimal("0.02")}
    fork.summaries.create(number=2, covers_through=9, summarizer="openai", created_at=LATER, **paid)

    advance_all(fork, LATER)

    assert (fork.summary.origin, fork.summary.cost_usd) == ("adopted", Decimal("0.02"))


@pytest.mark.parametrize("above", [True, False])
def test_nothing_is_taken_from_a_parent_that_is_deleted_meanwhile(summarizer, monkeypatch, above):
    """The fork then stands under the deleted one's parent, or alone, and holds the runs itself."""
    grand = make_session(make_project(), "grand", runs=2) if above else None
    project = grand.project if grand else make_project()
    parent = make_session(project, "parent", parent=grand, settings=AT_ONCE | {"offset": 1}, runs=6)
    fork = fork_session(session=parent, at=6, now=LATER)
    append_turns(fork, 2, now=LATER)
    advance_all(parent)
    stale = Session.objects.select_related("project", "summary").get(pk=fork.pk)
    real = adoption.lock_tree_of

    def late(*, session):
        delete_session(session=parent, now=LATER, children=Children.REPARENT)
        return real(session=session)

    monkeypatch.setattr(adoption, "lock_tree_of", late)
    assert not adoption.adopt(session=stale, finished_through=8, now=LATER)
    monkeypatch.undo()
    fork.refresh_from_db()
    assert (fork.summary, fork.summaries.count()) == (None, 0)
