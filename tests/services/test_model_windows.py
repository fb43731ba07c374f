"""A window that a project gives a model holds wherever a budget is decided."""

from datetime import timedelta

import pytest

from sessions_app.domain.language_models import ModelFacts
from sessions_app.services.model_overrides import remove_model_override, set_model_override
from sessions_app.services.prompts import session_plan, session_prompt
from sessions_app.services.snapshots import refresh_snapshot
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)
# Of this the answer gets 1,024, so that 276 are left for the prompt; a turn of the factories needs 14 and the prompt 3.
NARROW = ModelFacts(context_window=1_300)


def narrow(project, model="gpt-4.1-mini"):
    set_model_override(project=project, name=model, facts=NARROW, now=LATER)


@pytest.mark.parametrize("decide", [session_prompt, session_plan])
def test_a_prompt_keeps_to_it(decide):
    session = make_session(runs=30, settings={"strategy": "buffer"})
    assert (decide(session=session).budget, decide(session=session).unseen) == (1_047_576 - 1_024, 0)

    narrow(session.project)

    prompt = decide(session=session)
    assert (prompt.window, prompt.budget, prompt.unseen) == (1_300, 276, 30 - (276 - 3) // 14)
    assert prompt.tokens.total <= 276

    remove_model_override(project=session.project, name="gpt-4.1-mini", now=LATER)
    assert decide(session=session).unseen == 0


def test_it_is_that_of_the_model_in_force():
    session = make_session(runs=1)
    narrow(session.project, "house/model")
    assert session_prompt(session=session).window == 1_047_576
    assert session_prompt(session=session, overrides={"model": "house/model"}).window == 1_300


def test_it_is_that_of_the_sessions_project():
    session = make_session(runs=1)
    narrow(make_project("other"))
    assert session_prompt(session=session).window == 1_047_576


def test_the_stored_figures_follow_it():
    session = make_session(runs=30, settings={"strategy": "buffer"})
    refresh_snapshot(session=session)

    narrow(session.project)
    session.refresh_from_db()
    # Lists show figures dimmed while another wish stands than the one they fulfil.
    assert session.prompt_snapshot["wish"] != session.summary_wanted_at.isoformat()
    assert advance(session_pk=session.pk, now=LATER) is Outcome.NOTHING_DUE

    session.refresh_from_db()
    snapshot = session.prompt_snapshot
    assert (snapshot["budget"], snapshot["unseen"], snapshot["reserve"]) == (276, 11, 1_024)


def test_it_makes_summaries_due():
    session = make_session(runs=30)
    assert advance(session_pk=session.pk, now=LATER) is Outcome.NOTHING_DUE

    narrow(session.project)

    assert advance(session_pk=session.pk, now=LATER) is Outcome.ADVANCED
    session.refresh_from_db()
    assert session.summary.covers_through > 0
