import pytest

from sessions_app.domain.plan import Fate
from sessions_app.queries.replay_views import MOST_COLUMNS, ReplayedSide, bin_size, bins_of, side_at, turn_rows
from sessions_app.services.prompts import effective_settings
from sessions_app.services.replays import replay_session
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db


def side(session, **overrides):
    (replay,) = replay_session(session=session, settings={"/a": overrides}, now=NOW)
    values = effective_settings(session=session, overrides=overrides).values
    return ReplayedSide("a", "Saved", values, values.max_input_tokens, replay)


@pytest.mark.parametrize(("turns", "size"), [(1, 1), (240, 1), (241, 2), (10_000, 42), (100_000, 417)])
def test_there_are_never_more_columns_than_can_be_told_apart(turns, size):
    assert bin_size(turns) == size
    assert -(-turns // size) <= MOST_COLUMNS


def test_a_column_holds_the_least_and_the_most_of_its_turns():
    session = make_session(runs=500, settings={"strategy": "buffer", "last_n": 1})
    one = side(session)
    bins = bins_of(one, 500)
    assert (len(bins), bins[0].first, bins[0].last, bins[-1].last) == (167, 1, 3, 500)
    tokens = one.replay.columns["tokens"]
    assert bins[5].tokens == (min(tokens[15:18]), max(tokens[15:18]))
    # At turn t all but one of t - 1 runs are left out.
    assert bins[5].unseen == (14, 16)
    assert bins[5].layers == [(Fate.SKIPPED, 16), (Fate.KEPT, 1)]


def test_a_column_shows_the_turn_that_loses_most():
    session = make_session(runs=300)
    one = side(session, on_gap="warn", offset=299, max_input_tokens=600, max_summary_tokens=10)
    lost = one.replay.columns["lost"]
    assert max(lost) > 0
    for each in bins_of(one, 300):
        most = max(lost[each.first - 1 : each.last])
        assert each.lost == most
        assert sum(count for fate, count in each.layers if fate is Fate.LOST) == most


def test_summaries_are_counted_in_the_column_in_which_they_were_new():
    session = make_session(runs=12)
    one = side(session, offset=2, summarize_at=0, max_summary_tokens=20)
    counted = [each.summaries for each in bins_of(one, 12)]
    assert sum(counted) == one.totals.summaries == 9
    assert counted[:3] == [0, 0, 0]


def test_a_side_knows_from_where_on_it_summarizes():
    session = make_session(runs=2, settings={"max_input_tokens": 1000, "summarize_at": 0.6})
    assert side(session).summarize_at == 600
    assert side(session, strategy="buffer").summarize_at is None
    assert side(session, summarize_at=0).summarize_at is None


def test_a_page_of_the_table_has_the_inputs_of_its_turns():
    session = make_session(runs=130, settings={"strategy": "buffer"})
    rows = turn_rows(session=session, sides=[side(session)], first=101)
    assert [row.turn for row in rows] == list(range(101, 131))
    assert rows[0].input == "question 101"
    assert rows[0].figures[0] == side_at(side(session), 101)
