from sessions_app.domain.candidates import Excerpt, Series
from sessions_app.domain.pieces import Piece
from sessions_app.domain.plan import Cut, Part, Segment
from sessions_app.domain.run_rendering import RenderedRun
from sessions_app.domain.selection import Selection, Shelf, select_runs
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Run
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, exchange, run, user


def piece(tokens: int) -> Piece:
    return Piece({}, (Segment(Part.RUNS, "user", "", tokens),))


def select(
    reader: InMemoryTranscript,
    room: int,
    *wanted: tuple[int, int],
    not_below: int = 1,
    share: float = 1.0,
    mark: int = 0,
) -> Selection:
    """Every run needs `share` of its stored upper bound, and `mark` tokens more where runs are left out behind it."""

    def render(excerpt: Excerpt, *, gap: int, newer: int) -> RenderedRun:
        return RenderedRun(excerpt, gap, newer, newer, [piece(int(excerpt.run.tokens * share) + mark * bool(gap))])

    series = [Series(*span) for span in wanted or [(1, reader.finished_through)]]
    shelf = Shelf(render, room, behind=reader.finished_through + 1)
    return select_runs(reader, series, shelf=shelf, not_below=not_below, counter=TokenCounter())


def positions(selection: Selection) -> list[int]:
    return [rendered.position for rendered in selection.kept]


def ten_runs() -> InMemoryTranscript:
    """Ten runs of 3 + 1 + 1 and 3 + 1 + 1 tokens."""
    return InMemoryTranscript([exchange("one", "two") for _ in range(10)])


def test_it_keeps_the_newest_that_fit_and_names_the_first_that_does_not():
    selection = select(ten_runs(), 35)
    assert positions(selection) == [8, 9, 10]
    assert selection.choice.cut == Cut(position=7, needs=10, left=5)
    assert selection.first_out is not None
    assert (selection.first_out.position, selection.left) == (7, 5)


def test_a_run_that_fits_exactly_is_kept():
    assert positions(select(ten_runs(), 30)) == [8, 9, 10]


def test_it_never_fills_the_gap_with_an_older_smaller_run():
    reader = InMemoryTranscript([exchange("one", "two"), exchange("long " * 50, "two"), exchange("one", "two")])
    assert positions(select(reader, 25)) == [3]


def test_it_reads_nothing_below_the_first_candidate():
    reader = ten_runs()
    selection = select(reader, 1_000, not_below=8)
    assert (positions(selection), selection.first_out, reader.fetched) == ([8, 9, 10], None, [10, 9, 8])


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


def test_what_is_wanted_first_is_kept_first_and_the_rest_in_its_precedence():
    selection = select(ten_runs(), 45, (10, 10), (1, 2), (3, 9))
    assert positions(selection) == [1, 2, 9, 10]
    assert selection.first_out is not None
    assert (selection.first_out.position, selection.left, selection.out) == (8, 5, ((3, 8),))
    assert selection.read == ((10, 10), (1, 2), (9, 9))


def test_behind_the_first_that_does_not_fit_nothing_else_is_tried():
    selection = select(ten_runs(), 15, (10, 10), (1, 2), (3, 9))
    assert positions(selection) == [10]
    assert selection.out == ((1, 2), (3, 9))


def test_a_mark_where_runs_are_left_out_is_counted_and_goes_when_they_are_sent():
    # Ten tokens a run; the mark, five more, stands at run 1 until run 2 is sent too.
    assert positions(select(ten_runs(), 94, (10, 10), (1, 1), (2, 9), mark=5)) == [1, *range(4, 11)]
    assert positions(select(ten_runs(), 99, (10, 10), (1, 1), (2, 9), mark=5)) == [1, *range(3, 11)]
    assert positions(select(ten_runs(), 100, (10, 10), (1, 1), (2, 9), mark=5)) == list(range(1, 11))


def test_what_did_not_fit_needs_what_the_others_grow_by_too():
    # Ten tokens a run, and the mark of five stays at run 1.
    selection = select(ten_runs(), 27, (10, 10), (1, 1), (2, 9), mark=5)
    assert selection.choice.cut == Cut(position=9, needs=10, left=2)
    # Two results in the newest runs: each more behind run 1 lets its own grow by six.
    reader = InMemoryTranscript([exchange("one", "two") for _ in range(3)])

    def render(excerpt: Excerpt, *, gap: int, newer: int) -> RenderedRun:
        return RenderedRun(excerpt, gap, newer, newer + 1, [piece(10 + 6 * newer)])

    shelf = Shelf(render, 38, behind=4)
    chosen = select_runs(
        reader, [Series(3, 3), Series(1, 1), Series(2, 2)], shelf=shelf, not_below=1, counter=TokenCounter()
    )
    assert (positions(chosen), chosen.choice.cut) == ([1, 3], Cut(position=2, needs=16 + 6, left=12))


def test_of_the_runs_before_an_added_one_only_those_are_rendered_again_that_change():
    rendered: list[int] = []

    def render(excerpt: Excerpt, *, gap: int, newer: int) -> RenderedRun:
        rendered.append(excerpt.run.position)
        return RenderedRun(excerpt, gap, newer, 0, [piece(1)])

    reader = InMemoryTranscript([exchange("one", "two") for _ in range(100)])
    shelf = Shelf(render, 1_000, behind=101)
    wanted = [Series(100, 100), Series(1, 50), Series(51, 99)]
    selection = select_runs(reader, wanted, shelf=shelf, not_below=1, counter=TokenCounter())
    assert positions(selection) == list(range(1, 101))
    # Each once, and run 50 again with each of the 49 that come in behind it.
    assert sorted(rendered) == sorted([*range(1, 101), *[50] * 49])
