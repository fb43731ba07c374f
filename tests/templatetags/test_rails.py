from types import SimpleNamespace

import pytest

from sessions_app.templatetags.rails import Rails, graph, rails_of, with_rails

# Root, child, two grandchildren, second child, second root.
DEPTHS = [0, 1, 2, 2, 1, 0]


def rows(depths):
    return [SimpleNamespace(pk=index + 1, depth=depth) for index, depth in enumerate(depths)]


def test_it_runs_a_rail_past_the_rows_between_two_siblings():
    assert [rails.passing for rails in rails_of(DEPTHS)] == [(), (0,), (0, 1), (0,), (), ()]


def test_it_draws_a_stem_only_above_shown_children():
    assert [rails.stem for rails in rails_of(DEPTHS)] == [True, True, False, False, False, False]


def test_it_inks_the_path_from_the_root_to_the_current_row():
    drawn = [rails for _, rails in with_rails(rows(DEPTHS), 5)]

    assert [rails.node for rails in drawn] == ["node on", "node", "node", "node", "node cur", "node"]
    assert [rails.inked_level for rails in drawn] == [None, 0, 0, 0, None, None]
    assert [rails.inked_elbow for rails in drawn] == [True, False, False, False, True, False]
    assert drawn[0].inked_stem


def test_it_inks_nothing_without_a_current_row():
    assert all(rails.node == "node" for _, rails in with_rails(rows(DEPTHS)))


def test_it_pairs_every_row_with_its_own_rails():
    given = rows(DEPTHS)

    assert [(row.pk, rails.depth) for row, rails in with_rails(given)] == [(row.pk, row.depth) for row in given]


@pytest.mark.parametrize(("size", "width", "height"), [("table", 41, 36), ("sidebar", 31, 46)])
def test_it_draws_a_row_as_wide_as_its_depth(size, width, height):
    drawn = graph(Rails(depth=1, passing=(0,), stem=False), size)

    assert f'width="{width}" height="{height}"' in drawn
    assert drawn.count("<path") == 2
    assert drawn.count("<circle") == 1


def test_a_row_with_a_caret_has_no_node():
    assert "<circle" not in graph(Rails(depth=0, passing=(), stem=True), "table", caret=3)
