from datetime import timedelta

import pytest

from sessions_app.models import Run
from sessions_app.queries.past_turns import past_turn
from sessions_app.services.prompts import session_plan, session_prompt
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db


def test_a_turn_knows_when_it_was_and_what_was_before_it():
    session = make_session(runs=2)
    append_turns(session, 2, now=NOW + timedelta(hours=1))
    session.refresh_from_db()
    prompt = session_prompt(session=session, at=3)
    turn = past_turn(session=session, at=3, prompt=prompt, asked=False)
    assert (turn.position, turn.history, turn.newest, turn.created_at) == (3, 2, 4, NOW + timedelta(hours=1))
    assert (turn.recorded, turn.same, turn.summary) == ("", None, None)


@pytest.mark.parametrize(("changed", "same"), [("", True), ("0", False)])
def test_it_says_whether_the_prompt_is_the_one_of_then(changed, same):
    session = make_session(runs=4)
    prompt = session_prompt(session=session, at=2)
    Run.objects.filter(position=2).update(prompt_fingerprint=prompt.fingerprint + changed)
    prompt = session_prompt(session=session, at=2)
    assert past_turn(session=session, at=2, prompt=prompt, asked=False).same is same
    assert past_turn(session=session, at=2, prompt=None, asked=False).same is None
    assert past_turn(session=session, at=2, prompt=session_plan(session=session), asked=False).same is None


@pytest.mark.parametrize("at", [0, 5, 2**31 - 1])
def test_where_no_run_stands_is_no_turn(at):
    assert past_turn(session=make_session(runs=4), at=at, prompt=None, asked=False) is None
