import pytest

from sessions_app.queries.prompt_figures import prompt_figures
from sessions_app.services.prompts import session_prompt
from tests.factories import make_session

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("overrides", "runs"),
    [
        ({"strategy": "buffer"}, "1–9"),
        ({"strategy": "minimal"}, "1, 9"),
        ({"strategy": "head_tail", "head_runs": 2, "max_input_tokens": 90}, "1–2, 7–9"),
        ({"last_n": 0}, ""),
    ],
)
def test_the_runs_in_the_prompt_are_named_as_ranges(overrides, runs):
    session = make_session(runs=9)
    prompt = session_prompt(session=session, overrides=overrides)
    assert prompt_figures(prompt).runs == runs
