"""The tokens of runs and sessions stay exact whatever is done to them."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as run_with
from hypothesis import strategies as st

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.transcript import NewRun, Role, RunStatus
from sessions_app.models import Session, lineage_runs
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import add_events, append_runs, change_run, close_interrupted_runs, set_result
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import create_session, fork_session
from tests.domain.fakes.random_runs import FINISHED, TEXTS, runs
from tests.factories import NOW, append_turns, make_project
from tests.sums import assert_sums

pytestmark = pytest.mark.django_db
# Longer than an open run may stay untouched.
PAUSE = timedelta(hours=2)
WAYS = st.sampled_from(["at once", "step by step", "left to the sweeper", "left to the next append"])
some = run_with(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
turns = st.tuples(runs(FINISHED), WAYS, st.one_of(st.none(), TEXTS))


def record(session, run, way, output, now):
    """Bring a run into the session in one of the ways."""
    if way == "at once":
        append_runs(session=session, runs=[NewRun(run.events, run.status, error=run.error)], now=now)
        return
    asked = [event for event in run.events if event.role is Role.USER]
    (row,) = append_runs(session=session, runs=[NewRun(tuple(asked), RunStatus.RUNNING)], now=now)
    assert_sums(session)
    answer_in_steps(row, run.events[len(asked) :], len(asked), now)
    assert_sums(session)
    if way == "step by step":
        change_run(run=row, status=run.status, output=output, error=run.error, now=now)
    elif way == "left to the sweeper":
        close_interrupted_runs(now=now + PAUSE)


def answer_in_steps(row, events, behind, now):
    """Add the events as a bot does that sets each result when it comes; what the service refuses is left out."""
    for event in events:
        waiting = event.tool and replace(event, tool=replace(event.tool, result=None, error=None))
        under = {} if event.parent is None else {0: event.parent}
        with suppress(InvalidInput, IndexError):
            (stored,) = add_events(run=row, events=[replace(waiting or event, parent=None)], now=now, under=under)
            if event.tool and (event.tool.result is not None or event.tool.error):
                set_result(event=stored, result=event.tool.result, error=event.tool.error, now=now)


@some
@given(st.lists(turns, min_size=1, max_size=5))
def test_they_are_exact_after_every_step_of_every_run(given_turns):
    session = create_session(project=make_project(uuid4().hex), now=NOW)
    now = NOW
    for run, way, output in given_turns:
        now += PAUSE
        record(session, run, way, output, now)
        assert_sums(session)
    append_turns(session, 2, now=now + PAUSE)
    assert_sums(session)


@some
@given(st.lists(runs(FINISHED), min_size=3, max_size=6), st.integers(1, 3), st.integers(1, 3))
def test_forks_have_them_too_and_keep_them_when_their_parent_goes(given_runs, one, other):
    session = create_session(project=make_project(uuid4().hex), now=NOW)
    append_runs(session=session, runs=[NewRun(run.events, run.status, error=run.error) for run in given_runs], now=NOW)
    forks = [fork_session(session=session, at=at, now=NOW) for at in (one, other)]
    for fork in forks:
        append_turns(fork, 1)
    delete_session(session=session, children=Children.REPARENT, now=NOW)
    for fork in forks:
        assert_sums(fork)


@some
@given(st.lists(runs(FINISHED), min_size=1, max_size=6))
def test_what_pages_add_up_is_what_the_prompt_needs_for_the_runs_in_it(given_runs):
    settings = {"strategy": "buffer", "model": "gpt-4.1-mini"}
    session = create_session(project=make_project(uuid4().hex), now=NOW, settings=settings)
    append_runs(session=session, runs=[NewRun(run.events, run.status, error=run.error) for run in given_runs], now=NOW)
    session = Session.objects.get(pk=session.pk)
    assert lineage_runs(session).count() == len(given_runs)
    assert session_prompt(session=session).tokens.runs == session.lineage_tokens
