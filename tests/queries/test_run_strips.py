import pytest

from sessions_app.models import Run
from sessions_app.queries.run_strips import strip_bars
from sessions_app.services.prompts import session_prompt
from tests.factories import make_open_run, make_session

pytestmark = pytest.mark.django_db


def bars(session):
    session.refresh_from_db()
    return strip_bars(session=session, prompt=session_prompt(session=session))


def test_every_run_has_a_bar_and_the_open_one_is_the_question():
    session = make_session(runs=3, settings={"strategy": "buffer"})
    make_open_run(session)
    assert [(bar.first, bar.last, bar.fate) for bar in bars(session)] == [
        (1, 1, "kept"),
        (2, 2, "kept"),
        (3, 3, "kept"),
        (4, 4, "query"),
    ]


def test_beyond_three_hundred_runs_neighbours_of_one_fate_share_a_bar(django_assert_max_num_queries):
    session = make_session(runs=700, settings={"strategy": "buffer", "max_input_tokens": 200})
    drawn = bars(session)
    kept = session_prompt(session=session).fates[-1]
    assert len(drawn) <= 303
    assert [bar.first for bar in drawn[1:]] == [bar.last + 1 for bar in drawn[:-1]]
    assert (drawn[0].first, drawn[-1].last) == (1, 700)
    assert {bar.fate for bar in drawn if bar.first < kept.first} == {"pruned"}
    assert sum(bar.tokens for bar in drawn) == sum(run.tokens_o200k for run in Run.objects.all())
