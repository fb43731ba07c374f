import pytest

from sessions_app.domain.transcript import RunStatus
from sessions_app.queries.prompt_figures import prompt_figures
from sessions_app.services.prompts import session_prompt
from tests.factories import append_turns, make_open_run, make_session
from tests.queries.test_summary_ledgers import add, use

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


def test_what_should_be_in_a_summary_and_does_not_fit_is_named_as_ranges_whatever_the_reasons():
    session = make_session(runs=4)
    make_open_run(session, status=RunStatus.CANCELLED)
    append_turns(session, 4)
    figures = prompt_figures(session_prompt(session=session, overrides={"max_input_tokens": 60, "on_gap": "warn"}))
    assert figures.gap == figures.lost != ""
    assert "," not in figures.gap
    assert figures.gap_count == figures.lost_count


def test_the_tokens_of_the_summary_are_said_to_be_those_of_an_extract_too():
    session = make_session(runs=20, settings={"max_input_tokens": 120, "offset": 2})
    assert prompt_figures(session_prompt(session=session)).summary == "extract"
    use(session, add(session, 1, 2, text="Short."))
    session.refresh_from_db()
    assert prompt_figures(session_prompt(session=session)).summary == "#1 + extract"
