from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.errors import InvalidInput, NotFound
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.transcript import NewRun, RunStatus
from sessions_app.models import Run, Session, SessionTag
from sessions_app.models.search_index import index_sessions
from sessions_app.queries import capped_counts
from sessions_app.queries.capped_counts import CappedCount
from sessions_app.queries.sessions import (
    SessionFilter,
    SessionSort,
    SessionView,
    session_page,
    session_tree,
    sidebar,
)
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, analyze_if_many, append_turns, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db
MODEL = "gpt-4.1-mini"


def page_of(project, wanted=None, **options):
    asked: dict[str, Any] = {"wanted": wanted or SessionFilter(), "limit": 25} | options
    return session_page(project=project, default_model=MODEL, **asked)


def ids_in(tree):
    return [row.public_id for row in tree.rows]


def ids(page):
    return [ids_in(tree) for tree in page.trees]


def bulk_sessions(project, count, *, parent=None, forked_at=None, now=NOW, **columns):
    rows = Session.objects.bulk_create(
        Session(
            project=project,
            public_id=f"bulk-{parent.pk if parent else 0}-{n:05}",
            parent=parent,
            root=parent.root if parent else None,
            depth=parent.depth + 1 if parent else 0,
            forked_at=forked_at,
            created_at=now,
            updated_at=now,
            tree_active_at=now,
            **columns,
        )
        for n in range(count)
    )
    index_sessions(rows)
    analyze_if_many(count)
    return rows


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def tree(project):
    """trip ─┬─ hotel (from run 1) ── late (from run 2)
    └─ flight (from run 3), and beside it: visa."""
    trip = make_session(project, "trip", runs=3, title="Family trip")
    hotel = make_session(project, "hotel", parent=trip, forked_at=1, title="Hotel", user_id="u-1")
    append_turns(hotel, 2)
    hotel.refresh_from_db()
    make_session(project, "flight", parent=trip, forked_at=3, title="Flight", tags=["refund"])
    make_session(project, "late", parent=hotel, forked_at=2, title="Late arrival")
    make_session(project, "visa", title="Visa", now=NOW + timedelta(hours=1), tags=["refund", "papers"])
    return project


def test_it_lists_roots_by_the_latest_activity_anywhere_in_their_tree(tree):
    assert ids(page_of(tree)) == [["visa"], ["trip"]]
    append_turns(Session.objects.get(public_id="late"), now=NOW + timedelta(hours=2))
    assert ids(page_of(tree)) == [["trip"], ["visa"]]


def test_a_closed_tree_is_as_active_as_anything_in_it_an_open_root_as_itself(tree):
    later = NOW + timedelta(hours=2)
    append_turns(Session.objects.get(public_id="late"), now=later)
    assert page_of(tree).trees[0].rows[0].active_at == later
    assert page_of(tree, open_ids=["trip"]).trees[0].rows[0].active_at == NOW


def test_children_come_only_where_a_session_is_open_ordered_by_where_they_start(tree):
    page = page_of(tree, open_ids=["trip"])
    assert ids(page) == [["visa"], ["trip", "hotel", "flight"]]
    assert [(row.depth, row.expanded, row.child_count.value) for row in page.trees[1].rows] == [
        (0, True, 2),
        (1, False, 1),
        (1, False, 0),
    ]
    assert ids(page_of(tree, open_ids=["trip", "hotel"]))[1] == ["trip", "hotel", "late", "flight"]


def test_an_open_session_whose_parent_is_closed_stays_out_of_sight(tree):
    assert ids(page_of(tree, open_ids=["hotel"]))[1] == ["trip"]


def test_one_tree_is_read_by_its_root(tree):
    found = session_tree(project=tree, root_id="trip", default_model=MODEL, open_ids=["trip"])
    assert ids_in(found) == ["trip", "hotel", "flight"]
    for root_id in ("hotel", "nothing"):
        with pytest.raises(NotFound):
            session_tree(project=tree, root_id=root_id, default_model=MODEL, open_ids=[])


def test_a_crowd_of_children_is_cut_and_counted(project):
    root = make_session(project, "root")
    bulk_sessions(project, 30, parent=root)
    rows = page_of(project, open_ids=["root"]).trees[0].rows
    assert len(rows) == 27
    assert (rows[-1].parent_id, rows[-1].depth, str(rows[-1].count)) == ("root", 1, "5")
    assert (rows[1].place, rows[1].siblings) == (1, 30)
    everyone = page_of(project, SessionFilter(parent_id="root"), limit=50)
    assert len(everyone.trees[0].rows) == 31


def test_a_hit_below_the_root_stands_under_its_ancestors(tree):
    page = page_of(tree, SessionFilter(words="late ARR"))
    assert ids(page) == [["trip", "hotel", "late"]]
    assert [row.sought for row in page.trees[0].rows] == [False, False, True]
    assert str(page.total) == "1"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (SessionFilter(words="visa"), [["visa"]]),
        (SessionFilter(words="FLI"), [["trip", "flight"]]),
        (SessionFilter(words="100%"), []),
        (SessionFilter(words="_"), []),
        (SessionFilter(user_id="u-1"), [["trip", "hotel"]]),
        (SessionFilter(user_id="u"), []),
        (SessionFilter(tag="refund"), [["visa"], ["trip", "flight"]]),
        (SessionFilter(tag="refund", roots_only=True), [["visa"]]),
        (SessionFilter(tag="refund", words="vis"), [["visa"]]),
        (SessionFilter(roots_only=True), [["visa"], ["trip"]]),
        (SessionFilter(parent_id="trip"), [["trip", "hotel", "flight"]]),
        (SessionFilter(parent_id="nothing"), []),
        (SessionFilter(view=SessionView.FORKS), [["trip", "hotel", "late", "flight"]]),
        (SessionFilter(view=SessionView.RUNNING), []),
        (SessionFilter(since=NOW + timedelta(minutes=1)), [["visa"]]),
        (SessionFilter(until=NOW + timedelta(minutes=1)), [["trip"]]),
        (SessionFilter(until=NOW), []),
        (SessionFilter(tag="refund", since=NOW + timedelta(minutes=1)), [["visa"]]),
        (SessionFilter(sort=SessionSort.TITLE), [["trip"], ["visa"]]),
        (SessionFilter(sort=SessionSort.CREATED), [["visa"], ["trip"]]),
        (SessionFilter(sort=SessionSort.RUNS), [["trip"], ["visa"]]),
    ],
)
def test_filters_and_orders(tree, wanted, expected):
    assert ids(page_of(tree, wanted)) == expected


@pytest.fixture
def varied(project):
    """A session for each thing that a filter may ask for."""
    parent = make_session(project, "parent", metadata={"channel": "web", "n": 5})
    append_turns(parent)
    child = make_session(project, "child", parent=parent, settings={"max_runs": 3}, metadata={"channel": "voice"})
    failed = NewRun((), status=RunStatus.FAILED, error="x", model="gpt-4o")
    append_runs(session=child, runs=[failed], now=NOW)
    mended = make_session(project, "mended")
    append_runs(session=mended, runs=[failed, NewRun((), model="gpt-4.1")], now=NOW)
    make_open_run(make_session(project, "open"))
    for name, figures in (("losing", (2, 3, 0)), ("pruning", (0, 4, 0)), ("cutting", (0, 0, 5))):
        make_session(project, name)
        columns = zip(("lost_runs", "unseen_runs", "cut_results"), figures, strict=True)
        Session.objects.filter(public_id=name).update(**dict(columns))
    return project


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"status": RunStatus.FAILED}, {"child"}),
        ({"status": RunStatus.COMPLETED}, {"parent", "mended"}),
        ({"status": RunStatus.RUNNING}, {"open"}),
        ({"model": "gpt-4o"}, {"child"}),
        ({"model": "gpt-4.1", "status": RunStatus.COMPLETED}, {"mended"}),
        ({"model": "gpt"}, set()),
        ({"metadata": {"channel": "web"}}, {"parent"}),
        ({"metadata": {"channel": "web", "n": "5"}}, {"parent"}),
        ({"metadata": {"channel": "web", "n": "6"}}, set()),
        ({"children": True}, {"parent"}),
        ({"lost": True}, {"losing"}),
        ({"unseen": True}, {"losing", "pruning"}),
        ({"cut": True}, {"cutting"}),
        ({"own_settings": True}, {"child"}),
        ({"own_settings": True, "words": "child"}, {"child"}),
        ({"own_settings": True, "children": True}, set()),
        ({"lost": True, "roots_only": True}, {"losing"}),
    ],
)
def test_filters_by_what_sessions_hold(varied, wanted, expected):
    page = page_of(varied, SessionFilter(**wanted))
    assert {row.public_id for tree in page.trees for row in tree.rows if row.sought} == expected


def test_the_sidebar_counts_sessions_with_lost_and_unseen_runs_and_cut_results(varied):
    shown = sidebar(project=varied)
    assert (str(shown.lost), str(shown.unseen), str(shown.cut)) == ("1", "2", "1")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
@pytest.mark.parametrize("wanted", ["lost", "unseen", "cut"])
def test_lost_and_unseen_runs_and_cut_results_are_found_in_indexes_of_their_own(varied, wanted):
    asked: dict[str, Any] = {wanted: True}
    finding, *_ = plans_of(varied, SessionFilter(**asked))
    assert f"session_with_{wanted}" in str(finding)
    assert "TEMP B-TREE" not in str(finding)


def test_the_order_by_tokens_counts_all_runs_of_a_lineage(project):
    for name, text in (("short", "a"), ("long", "a " * 40), ("middle", "a " * 9)):
        append_runs(session=make_session(project, name), runs=[simple_turn(text, "b")], now=NOW)
    append_turns(fork_session(session=Session.objects.get(public_id="long"), at=1, now=NOW, public_id="fork"))
    page = page_of(project, SessionFilter(sort=SessionSort.TOKENS), open_ids=["long"])
    tokens = {row.public_id: row.tokens for tree in page.trees for row in tree.rows}
    assert ids(page) == [["long", "fork"], ["middle"], ["short"]]
    # Two messages of 3 each, with 1 for the role and 1 for the letter.
    assert tokens["short"] == 10
    assert tokens["fork"] == tokens["long"] + append_turns(make_session(project, "alone"))[0].tokens_o200k


def test_titles_are_ordered_without_regard_to_case(project):
    for name in ("b", "A", "c"):
        make_session(project, name, title=name)
    assert ids(page_of(project, SessionFilter(sort=SessionSort.TITLE))) == [["A"], ["b"], ["c"]]


def test_running_now_finds_a_session_with_an_open_run_and_its_row_says_so(tree):
    hotel = Session.objects.get(public_id="hotel")
    append_runs(session=hotel, runs=[NewRun(events=(), status=RunStatus.RUNNING)], now=NOW)
    page = page_of(tree, SessionFilter(view=SessionView.RUNNING))
    assert ids(page) == [["trip", "hotel"]]
    assert [row.newest_run_status for row in page.trees[0].rows] == ["completed", "running"]


def test_the_list_shows_nothing_of_another_project(tree):
    other = make_project("other")
    make_session(other, "theirs", title="Visa", tags=["secret"])
    assert ids(page_of(other)) == [["theirs"]]
    assert ids(page_of(tree, SessionFilter(words="visa"))) == [["visa"]]
    assert ids(page_of(other, open_ids=["trip"])) == [["theirs"]]
    assert [name for name, _ in sidebar(project=tree).tags] == ["refund", "papers"]
    with pytest.raises(NotFound):
        session_tree(project=other, root_id="trip", default_model=MODEL, open_ids=[])


def caption(shown, wanted):
    if wanted.words:
        return f"{shown} of 45 matching sessions shown"
    return "45 trees, 45 sessions" if shown == 45 else f"{shown} of 45 trees shown, 45 sessions in all"


@pytest.mark.parametrize("sort", SessionSort)
@pytest.mark.parametrize("limit", [1, 7, 20, 44, 45, 100])
@pytest.mark.parametrize("words", ["", "same"])
def test_c45_pages_hold_each_of_45_sessions_of_one_second_exactly_once(project, sort, limit, words):
    bulk_sessions(project, 45, title="same")
    wanted = SessionFilter(words=words, sort=sort)
    whole = [tree[0] for tree in ids(page_of(project, wanted, limit=100))]
    assert len(set(whole)) == 45
    walked, after, pages = [], None, 0
    while pages == 0 or after:
        page = page_of(project, wanted, limit=limit, after=after)
        walked += [tree[0] for tree in ids(page)]
        assert page.caption == caption(len(walked), wanted)
        after, pages = page.next_cursor, pages + 1
    assert walked == whole
    assert pages == -(-45 // limit)


def test_a_row_that_is_unchanged_is_neither_skipped_nor_doubled_while_others_move(project):
    for n in range(10):
        make_session(project, f"s{n}", now=NOW + timedelta(minutes=n))
    first = page_of(project, limit=4)
    assert ids(first) == [["s9"], ["s8"], ["s7"], ["s6"]]
    make_session(project, "new", now=NOW + timedelta(hours=1))
    append_turns(Session.objects.get(public_id="s2"), now=NOW + timedelta(hours=1))
    Session.objects.filter(public_id="s6").delete()
    assert ids(page_of(project, limit=9, after=first.next_cursor)) == [["s5"], ["s4"], ["s3"], ["s1"], ["s0"]]


def test_a_cursor_of_another_order_is_refused(project):
    for n in range(3):
        make_session(project, f"s{n}")
    cursor = page_of(project, limit=1).next_cursor
    for wanted in (SessionFilter(sort=SessionSort.TITLE), SessionFilter(words="s")):
        with pytest.raises(InvalidInput):
            page_of(project, wanted, after=cursor)


def test_a_long_chain_of_ancestors_is_cut_to_the_nearest(project):
    parent = make_session(project, "d0")
    for depth in range(1, 20):
        parent = make_session(project, f"d{depth}", parent=parent)
    rows = page_of(project, SessionFilter(words="d19")).trees[0].rows
    assert [row.public_id for row in rows] == [f"d{depth}" for depth in range(7, 20)]
    assert [row.depth for row in rows] == list(range(13))


def test_counts_stop_at_ten_thousand():
    assert str(CappedCount.of(10_000)) == "10,000"
    assert str(CappedCount.of(10_001)) == "10,000+"
    assert str(CappedCount.of(10_001).less(25)) == "9,975+"


def test_so_does_the_count_of_children(project, monkeypatch):
    monkeypatch.setattr(capped_counts, "COUNTED_AT_MOST", 28)
    root, small = make_session(project, "root"), make_session(project, "small")
    bulk_sessions(project, 30, parent=root, forked_at=0)
    bulk_sessions(project, 3, parent=small)
    trees = {tree.root_id: tree for tree in page_of(project, open_ids=["root"]).trees}
    top, child, more = (trees["root"].rows[place] for place in (0, 1, -1))
    assert (str(top.child_count), top.only_forks) == ("28+", True)
    assert (child.siblings, str(more.count)) == (None, "3+")
    assert (str(trees["small"].rows[0].child_count), trees["small"].rows[0].only_forks) == ("3", False)


def plans_of(project, wanted, **options):
    """Return how SQLite answers each query about sessions: [its lines]."""
    with CaptureQueriesContext(connection) as captured:
        page_of(project, wanted, **options)
    plans = []
    with connection.cursor() as database:
        for query in captured:
            database.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plans.append([line[3] for line in database.fetchall()])
    return [plan for plan in plans if "sessions_app_session" in str(plan)]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
def test_the_first_children_are_picked_and_all_are_counted_from_an_index(project):
    bulk_sessions(project, 30, parent=make_session(project, "root"))
    plans = plans_of(project, SessionFilter(), open_ids=["root"])
    assert not any("TEMP B-TREE" in str(plan) for plan in plans if "session_children" in str(plan))
    using = [line for plan in plans for line in plan if "parent_id=?" in line]
    assert len(using) >= 27
    assert all("USING COVERING INDEX" in line for line in using)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
def test_what_filters_pick_is_found_and_counted_in_an_index_alone(project):
    wanted = SessionFilter(user_id="u-1")
    bulk_sessions(project, 30, title="title", user_id="u-1")
    cursor = page_of(project, wanted).next_cursor
    for after in (None, cursor):
        finding, *_, counting = plans_of(project, wanted, after=after)
        for plan in (finding, counting):
            assert "USING COVERING INDEX session_by_user (project_id=? AND user_id=?" in str(plan)
            assert "TEMP B-TREE" not in str(plan)


def test_what_is_all_on_the_page_is_not_counted_again(tree):
    with CaptureQueriesContext(connection) as captured:
        assert str(page_of(tree, SessionFilter(tag="nothing")).total) == "0"
        assert str(page_of(tree, SessionFilter(tag="refund"), limit=2).total) == "2"
    assert not any("COUNT(*)" in query["sql"] for query in captured)


def test_the_sidebar_counts_views_tags_and_users(tree):
    shown = sidebar(project=tree)
    assert {view: str(count) for view, count in shown.views.items()} == {"all": "5", "running": "0", "forks": "3"}
    assert shown.tags == [("refund", 2), ("papers", 1)]
    assert shown.users == [("u-1", 1)]
    assert not shown.at_least


def queries_of(project, wanted):
    with CaptureQueriesContext(connection) as captured:
        page = page_of(project, wanted, open_ids=["trip", "hotel"])
        assert page.trees
        sidebar(project=project)
    return len(captured)


WANTED = [
    SessionFilter(),
    SessionFilter(words="bulk"),
    SessionFilter(tag="refund"),
    SessionFilter(sort=SessionSort.TITLE),
]


def test_the_number_of_queries_does_not_depend_on_how_many_sessions_there_are(tree):
    make_session(tree, "bulk", tags=["refund"], parent=Session.objects.get(public_id="trip"))
    few = [queries_of(tree, wanted) for wanted in WANTED]
    parents = bulk_sessions(tree, 20_000, title="bulk", user_id="u-2", prompt_snapshot=None)
    for parent in parents[:25]:
        bulk_sessions(tree, 3, parent=parent)
    SessionTag.objects.bulk_create(SessionTag(session=parent, name="refund") for parent in parents[:5000])
    many = [queries_of(tree, wanted) for wanted in WANTED]
    # One more counts what is not all on the page.
    assert max(many) <= max(few) + 1 <= 17
    assert str(page_of(tree).total) == "10,000+"
    assert sidebar(project=tree).at_least


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
@pytest.mark.parametrize(
    ("sort", "index"),
    [
        (SessionSort.ACTIVITY, "session_roots_by_activity"),
        (SessionSort.TITLE, "session_roots_by_title"),
        (SessionSort.RUNS, "session_roots_by_length"),
        (SessionSort.CREATED, "session_roots_by_creation"),
        (SessionSort.UNSEEN, "session_roots_by_unseen"),
        (SessionSort.TOKENS, "session_roots_by_tokens"),
    ],
)
def test_each_order_walks_an_index_and_sorts_nothing(project, sort, index):
    for n in range(3):
        make_session(project, f"s{n}")
    cursor = page_of(project, SessionFilter(sort=sort), limit=1).next_cursor
    for after in (None, cursor):
        with CaptureQueriesContext(connection) as captured:
            page_of(project, SessionFilter(sort=sort), limit=1, after=after)
        listing = next(query["sql"] for query in captured if "order_key" in query["sql"])
        with connection.cursor() as database:
            database.execute(f"EXPLAIN QUERY PLAN {listing}")
            lines = [line[3] for line in database.fetchall()]
        assert any(index in line for line in lines)
        assert not any("TEMP B-TREE" in line for line in lines)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
def test_open_runs_are_found_by_their_own_indexes(project):
    assert "run_open_in_project" in Run.objects.unfinished().filter(project=project).explain()
    assert "run_open_once" in Run.objects.unfinished().filter(session=1).explain()


def test_a_session_without_a_title_shows_what_the_user_said_first(project):
    make_session(project, "untitled", runs=2)
    make_session(project, "titled", title="A title", runs=1)
    rows = [row for tree in page_of(project).trees for row in tree.rows]
    assert {row.public_id: row.opening for row in rows} == {"untitled": "question 1", "titled": ""}
