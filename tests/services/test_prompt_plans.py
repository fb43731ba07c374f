"""The plan of a prompt, worked out from sums in rows, is that of the prompt built from the same rows."""

from dataclasses import fields
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as run_with
from hypothesis import strategies as st

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.memory_settings import Strategy
from sessions_app.domain.plan import PromptPlan
from sessions_app.domain.transcript import NewRun, RunStatus
from sessions_app.models import Session, Summary
from sessions_app.services.prompts import session_plan, session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session, fork_session
from tests.domain.fakes.random_runs import FINISHED, runs
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db
some = run_with(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
OVERRIDES = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["buffer", "summary", *Strategy]),
        "max_input_tokens": st.sampled_from([30, 120, 400, 1_500, "unlimited"]),
        "max_runs": st.sampled_from(["unlimited", "unlimited", 2, 5]),
        "last_n": st.sampled_from(["unlimited", "unlimited", 0, 4]),
        "offset": st.sampled_from([0, 1, 6]),
        "autoprune": st.sampled_from([True, True, False]),
        "include_parent_context": st.booleans(),
        "model": st.sampled_from(["gpt-4.1-mini", "gpt-4.1-mini", "gpt-4"]),
        "format": st.sampled_from(["openai", "openai", "text"]),
    }
)


def append(session, given_runs):
    append_runs(session=session, runs=[NewRun(run.events, run.status, error=run.error) for run in given_runs], now=NOW)


def outcome(build, session, overrides, query):
    """Return all that a plan says, or the refusal."""
    try:
        plan = build(session=session, overrides=overrides, query=query)
    except ConvowebError as refusal:
        return type(refusal), refusal.detail
    return {field.name: getattr(plan, field.name) for field in fields(PromptPlan)}


@some
@given(
    st.lists(runs(FINISHED), min_size=1, max_size=8),
    st.lists(runs(FINISHED), max_size=4),
    st.one_of(st.none(), runs([RunStatus.RUNNING])),
    st.integers(0, 8),
    OVERRIDES,
    st.sampled_from([None, "And now?"]),
)
def test_the_plan_says_the_same_as_the_prompt(above, own, open_run, covers, overrides, query):
    parent = create_session(project=make_project(uuid4().hex), now=NOW, instructions="Be kind.")
    append(parent, above)
    session = fork_session(session=parent, at=len(above) // 2, now=NOW)
    append(session, [*own, *([open_run] if open_run else [])])
    if 0 < covers <= len(above) // 2 + len(own):
        entry = {"number": 9, "status": "completed", "text": "They talked. " * 9, "summarizer": "x", "created_at": NOW}
        summary = Summary.objects.create(session=session, covers_through=covers, **entry)
        Session.objects.filter(pk=session.pk).update(summary=summary)
    session = Session.objects.select_related("project").get(pk=session.pk)
    planned = outcome(session_plan, session, overrides, query)
    assert planned == outcome(session_prompt, session, overrides, query)
