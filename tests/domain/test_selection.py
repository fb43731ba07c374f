from sessions_app.domain.pieces import Piece
from sessions_app.domain.plan import Cut, Part, Segment
from sessions_app.domain.selection import Selection, select_runs
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Run
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, exchange, run, user


def piece(tokens: int) -> Piece:
    return Piece({}, (Segment(Part.RUNS, "user", "", tokens),))


def select(reader: InMemoryTranscript, room: int, *, not_below: int = 1, share: float = 1.0) -> Selection:
    """Every run needs `share` of its stored upper bound."""

    def render(each: Run) -> list[Piece]:
        return [piece(int(each.tokens * share))]

    return select_runs(reader, not_below=not_below, room=room, render=render, counter=TokenCounter())


def positions(selection: Selection) -> list[int]:
    return [kept.run.position for kept in selection.kept]


def ten_runs() -> InMemoryTranscript:
    """Ten runs of 3 + 1 + 1 and 3 + 1 + 1 tokens."""
    return InMemoryTranscript([exchange("one", "two") for _ in range(10)])


def test_it_keeps_the_newest_that_fit_and_names_the_first_that_does_not():
    selection = select(ten_runs(), 35)
    assert positions(selection) == [8, 9, 10]
    assert selection.cut == Cut(position=7, needs=10, left=5)
    assert selection.tokens == 30


def test_a_run_that_fits_exactly_is_kept():
    assert positions(select(ten_runs(), 30)) == [8, 9, 10]


def test_it_never_fills_the_gap_with_an_older_smaller_run():
    reader = InMemoryTranscript([exchange("one", "two"), exchange("long " * 50, "two"), exchange("one", "two")])
    assert positions(select(reader, 25)) == [3]


def test_it_reads_nothing_below_the_first_candidate():
    reader = ten_runs()
    selection = select(reader, 1_000, not_below=8)
    assert (positions(selection), selection.cut, reader.fetched) == ([8, 9, 10], None, [10, 9, 8])


def test_it_reads_nothing_when_there_is_no_candidate():
    reader = ten_runs()
    assert positions(select(reader, 1_000, not_below=11)) == []
    assert reader.fetches == 0


def test_it_fetches_again_while_everything_fitted_and_at_most_one_run_too_many():
    reader = InMemoryTranscript([exchange("one", "two") for _ in range(100)])
    selection = select(reader, 200, share=0.5)
    assert len(selection.kept) == 40
    assert len(reader.fetched) == len(set(reader.fetched)) == 41
    assert reader.fetches < 10


def test_it_takes_few_steps_where_runs_need_far_less_than_is_stored():
    reader = InMemoryTranscript([exchange("one", "long " * 500) for _ in range(500)])
    selection = select(reader, 1_000, share=0.001)
    assert len(selection.kept) == len(reader.fetched) == 500
    assert reader.fetches <= 9


def test_it_stops_at_a_reader_without_more_runs():
    class Hollow(InMemoryTranscript):
        """Its oldest positions are runs that never finished."""

        def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:
            return super().newest_before(position, not_below=max(3, not_below), tokens=tokens)

    reader = Hollow([run(user("one"), assistant("two")) for _ in range(5)])
    assert positions(select(reader, 1_000)) == [3, 4, 5]
