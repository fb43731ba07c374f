"""Appending: positions, token sums, and what is refused."""

import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Run
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db


def test_it_numbers_runs_along_the_lineage():
    session = make_session(runs=3)
    fork = make_session(session.project, "f", parent=session, forked_at=2, runs=2)

    assert list(fork.runs.order_by("position").values_list("position", flat=True)) == [3, 4]
    assert (fork.last_position, fork.own_run_count) == (4, 2)


def test_it_keeps_prefix_sums_of_tokens_along_the_lineage():
    session = make_session(runs=3)
    fork = make_session(session.project, "f", parent=session, forked_at=2, runs=2)

    first, second = session.runs.order_by("position")[:2]
    assert first.tokens_before_o200k == 0
    assert second.tokens_before_o200k == first.tokens_o200k > 0
    assert fork.runs.get(position=3).tokens_before_o200k == first.tokens_o200k + second.tokens_o200k
    assert fork.lineage_tokens == sum(run.tokens_o200k for run in [first, second, *fork.runs.all()])
