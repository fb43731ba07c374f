"""How a session's lineage is read from rows: which runs, in which order, at which cost."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.transcript import EventKind, Role, RunStatus
from sessions_app.models import Event, Project, Session, SessionTranscript, Summary, lineage_of
from tests.models.lineages import NOW, add_run, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return Project.objects.create(slug="p", name="P")


def read(session, position=None, *, not_below=1, tokens=10**6):
    runs = SessionTranscript(session).newest_before(position or 10**6, not_below=not_below, tokens=tokens)
    return [run.events[0].text for run in runs]


def test_a_session_without_runs_has_none(project):
    assert read(make_session(project, "a")) == []


def test_the_newest_run_comes_first(project):
    assert read(make_session(project, "a", runs=3)) == ["a 3", "a 2", "a 1"]


def test_it_reads_the_runs_that_fit_and_one_more(project):
    session = make_session(project, "a", runs=9, tokens=10)
    assert read(session, tokens=30) == ["a 9", "a 8", "a 7", "a 6"]
    assert read(session, tokens=29) == ["a 9", "a 8", "a 7"]
    assert read(session, tokens=0) == ["a 9"]


def test_it_stays_between_the_given_positions(project):
    session = make_session(project, "a", runs=9)
    assert read(session, 6, not_below=4) == ["a 5", "a 4"]
    assert read(session, 6, not_below=6) == []


def test_a_fork_goes_on_where_it_left_its_parent(project):
    parent = make_session(project, "p", runs=5)
    fork = make_session(project, "f", parent=parent, forked_at=3, runs=2)
    add_run(parent)
    assert read(fork) == ["f 5", "f 4", "p 3", "p 2", "p 1"]


def test_the_budget_reaches_through_a_fork_into_its_parent(project):
    parent = make_session(project, "p", runs=5, tokens=10)
    fork = make_session(project, "f", parent=parent, forked_at=3, runs=2, tokens=7)
    assert read(fork, tokens=14) == ["f 5", "f 4", "p 3"]
    assert read(fork, tokens=24) == ["f 5", "f 4", "p 3", "p 2"]
    assert read(fork, tokens=13) == ["f 5", "f 4"]


def test_a_fork_of_a_fork_inside_the_shared_part_skips_the_fork_between(project):
    top = make_session(project, "t", runs=10)
    middle = make_session(project, "m", parent=top, forked_at=8, runs=2)
    low = make_session(project, "l", parent=middle, forked_at=5, runs=1)
    assert [(s.session.public_id, s.first, s.last) for s in lineage_of(low)] == [("l", 6, 6), ("t", 1, 5)]
    assert read(low) == ["l 6", "t 5", "t 4", "t 3", "t 2", "t 1"]


def test_a_fork_at_zero_shares_nothing(project):
    parent = make_session(project, "p", runs=2)
    assert read(make_session(project, "f", parent=parent, forked_at=0, runs=1)) == ["f 1"]


def test_a_child_copies_and_shares_nothing(project):
    parent = make_session(project, "p", runs=2)
    assert read(make_session(project, "c", parent=parent, runs=1)) == ["c 1"]


def test_the_open_run_is_not_history(project):
    session = make_session(project, "a", runs=2)
    add_run(session, status=RunStatus.RUNNING)
    reader = SessionTranscript(session)
    assert reader.finished_through == 2
    assert reader.open_run().position == 3
    assert read(session) == ["a 2", "a 1"]


def test_a_summary_is_found_by_what_it_may_cover(project):
    session = make_session(project, "a", runs=9)
    for number, covers in ((1, 3), (2, 5)):
        session.summary = Summary.objects.create(
            session=session,
            number=number,
            covers_through=covers,
            status="completed",
            text=f"through {covers}",
            summarizer="extractive",
            created_at=NOW,
        )
    session.save()
    reader = SessionTranscript(session)
    assert [reader.newest_summary(n) and reader.newest_summary(n).text for n in (2, 3, 4, 5, 9)] == [
        None,
        "through 3",
        "through 3",
        "through 5",
        "through 5",
    ]


@pytest.mark.parametrize("tokens", [0, 6, 7, 13, 14, 23, 24, 34, 44, 45, 10**6])
@pytest.mark.parametrize("not_below", [1, 2, 4, 6])
def test_weighing_finds_the_runs_that_reading_does_and_what_they_need(project, tokens, not_below):
    parent = make_session(project, "p", runs=5, tokens=10)
    fork = make_session(project, "f", parent=parent, forked_at=3, runs=2, tokens=7)
    add_run(fork, status=RunStatus.RUNNING)
    add_run(parent)
    reader = SessionTranscript(fork)
    needs = {1: 10, 2: 10, 3: 10, 4: 7, 5: 7}
    kept = [p for p in range(5, not_below - 1, -1) if sum(needs[q] for q in range(p, 6)) <= tokens]
    weighed = reader.weigh(not_below=not_below, tokens=tokens)
    assert (weighed.first, weighed.tokens) == (6 - len(kept), sum(needs[p] for p in kept))
    assert weighed.first_out == (needs[5 - len(kept)] if 5 - len(kept) >= not_below else None)
    assert reader.tokens_between(weighed.first, 5) == weighed.tokens
    fetched = reader.newest_before(6, not_below=not_below, tokens=tokens)
    assert len(fetched) == len(kept) + (weighed.first_out is not None)


def test_runs_that_are_peculiar_in_the_same_way_are_read_as_stretches(project):
    parent = make_session(project, "p", runs=1)
    failed = RunStatus.FAILED
    for status, kinds in [(failed, ""), (failed, ""), (failed, "note"), (RunStatus.COMPLETED, "note"), (failed, "")]:
        add_run(parent, status=status, other_kinds=kinds)
    fork = make_session(project, "f", parent=parent, forked_at=6, runs=1)
    for _ in range(3):
        add_run(fork, other_kinds="note reasoning")
    weighed = SessionTranscript(fork).weigh(not_below=3, tokens=10**6)
    assert [(each.first, each.last, each.status, sorted(each.other_kinds)) for each in weighed.peculiar] == [
        (3, 3, "failed", []),
        (4, 4, "failed", ["note"]),
        (5, 5, "completed", ["note"]),
        (6, 6, "failed", []),
        (8, 10, "completed", ["note", "reasoning"]),
    ]


@pytest.mark.parametrize("runs", [20, 400])
def test_weighing_costs_the_same_whatever_fits(project, runs, django_assert_num_queries):
    session = make_session(project, "a", runs=1)
    for _ in range(runs):
        add_run(session, other_kinds="reasoning")
    reader = SessionTranscript(Session.objects.get(pk=session.pk))
    with django_assert_num_queries(4), CaptureQueriesContext(connection) as queries:
        weighed = reader.weigh(not_below=1, tokens=10**6)
    assert weighed.tokens == 10 * (runs + 1)
    assert rows_of(queries) <= 6


def rows_of(queries):
    """How many rows the statements answered with, asked again."""
    with connection.cursor() as cursor:
        return sum(len(cursor.execute(query["sql"]).fetchall()) for query in queries) if is_sqlite() else 0


def is_sqlite():
    return connection.vendor == "sqlite"


def test_peculiar_runs_are_found_by_an_index(project):
    session = make_session(project, "a", runs=1000)
    with CaptureQueriesContext(connection) as queries:
        SessionTranscript(session).weigh(not_below=1, tokens=10**6)
    found = next(query["sql"] for query in queries if "LAG" in query["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {'QUERY PLAN ' if is_sqlite() else ''}{found}")
        assert "run_peculiar" in str(cursor.fetchall())


def test_nothing_is_handed_down_to_a_fork_that_it_shares(project):
    top = make_session(project, "top", runs=1)
    parent = make_session(project, "parent", parent=top, runs=3)
    fork = make_session(project, "fork", parent=parent, forked_at=2, runs=1)
    child = make_session(project, "child", parent=fork, runs=1)
    for session, covers in ((top, 1), (parent, 1), (parent, 2), (parent, 3)):
        add_summary(session, covers)
    assert handed_down(parent) == ["top: top through 1"]
    assert handed_down(fork) == ["top: top through 1"]
    # A child's parent conversation is the fork with what it shares; what the fork's parent heard later is not its.
    assert handed_down(child, 1) == ["fork: parent through 2"]
    assert handed_down(child, 2) == ["top: top through 1", "fork: parent through 2"]
    add_summary(fork, 3)
    assert handed_down(child, 1) == ["fork: fork through 3"]


def test_what_somebody_writes_at_a_forks_parent_is_not_handed_down_to_the_forks_children(project):
    parent = make_session(project, "parent", runs=3)
    fork = make_session(project, "fork", parent=parent, forked_at=2, runs=1)
    child = make_session(project, "child", parent=fork, runs=1)
    add_summary(fork, 1)
    make_summary(parent, 8, 1, ended_at=NOW)
    assert handed_down(child) == ["fork: fork through 1"]


def handed_down(session, depth=1):
    return [f"{context.title}: {context.text}" for context in SessionTranscript(session).parent_contexts(depth)]


def add_summary(session, covers):
    session.summary = Summary.objects.create(
        session=session,
        number=covers,
        covers_through=covers,
        status="completed",
        text=f"{session.public_id} through {covers}",
        summarizer="extractive",
        created_at=NOW,
    )
    session.save()


@pytest.mark.parametrize("runs", [20, 400])
def test_reading_costs_the_same_whatever_lies_behind(project, runs, django_assert_num_queries):
    session = make_session(project, "a", runs=runs, tokens=10)
    with django_assert_num_queries(6):
        assert len(read(Session.objects.get(pk=session.pk), tokens=100)) == 11


def test_the_cut_is_found_by_an_index(project):
    session = make_session(project, "a", runs=5)
    with CaptureQueriesContext(connection) as queries:
        read(session, tokens=20)
    cut = next(q["sql"] for q in queries if '"tokens_before_o200k" <' in q["sql"])
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + ("QUERY PLAN " if connection.vendor == "sqlite" else "") + cut)
        plan = str(cursor.fetchall())
    if connection.vendor == "sqlite":
        assert "run_by_tokens" in plan


def add_event(run, kind=EventKind.MESSAGE, role="", text=""):
    index = run.events.count()
    return Event.objects.create(run=run, index=index, kind=kind, role=role, text=text, created_at=NOW)


def answered(session):
    """A session's run with its answer."""
    run = add_run(session)
    add_event(run, role=Role.ASSISTANT, text="yes")
    return run


def test_the_newest_answered_run_is_found_through_a_fork(project):
    parent = make_session(project, "p")
    answered(parent)
    add_run(parent)
    fork = make_session(project, "f", parent=parent, forked_at=2, runs=3)
    assert SessionTranscript(fork).newest_answered(not_below=1).position == 1
    assert SessionTranscript(fork).newest_answered(not_below=2) is None
    answered(fork)
    add_run(fork, status=RunStatus.RUNNING)
    newest = SessionTranscript(fork).newest_answered(not_below=1)
    assert (newest.position, [event.text for event in newest.events]) == (6, ["f 6", "yes"])


def test_the_open_run_is_not_the_newest_answered(project):
    session = make_session(project, "a", runs=1)
    add_event(add_run(session, status=RunStatus.RUNNING), role=Role.ASSISTANT)
    assert SessionTranscript(session).newest_answered(not_below=1) is None


def test_the_first_input_is_read_without_what_follows_it(project):
    parent = make_session(project, "p")
    run = answered(parent)
    fork = make_session(project, "f", parent=parent, forked_at=1, runs=1)
    first = SessionTranscript(fork).first_input(not_below=1)
    assert (first.run.position, [event.text for event in first.run.events], first.is_all) == (1, ["p 1"], False)
    assert first.run.tokens == run.tokens_o200k
    second = SessionTranscript(fork).first_input(not_below=2)
    assert (second.run.position, second.is_all) == (2, True)
    assert SessionTranscript(fork).first_input(not_below=3) is None


def test_a_run_without_input_is_passed_over(project):
    session = make_session(project, "a", runs=2)
    session.runs.get(position=1).events.update(role=Role.ASSISTANT)
    assert SessionTranscript(session).first_input(not_below=1).run.position == 2


@pytest.mark.parametrize(
    ("among", "expected"),
    [(1, None), (2, (4, 2)), (3, (4, 2)), (4, (3, 2)), (5, (3, 2)), (6, (2, 2)), (8, (1, 2)), (99, (1, 2))],
)
def test_the_oldest_question_among_the_newest_messages(project, among, expected):
    parent = make_session(project, "p")
    for _ in range(3):
        answered(parent)
    fork = make_session(project, "f", parent=parent, forked_at=2)
    for _ in range(2):
        add_event(answered(fork), kind=EventKind.TOOL_CALL)
    add_run(fork, status=RunStatus.RUNNING)
    place = SessionTranscript(fork).oldest_question(among=among, not_below=1)
    assert (place and (place.position, place.messages)) == expected


def test_runs_without_messages_are_passed_over_and_long_runs_cut(project):
    session = make_session(project, "a", runs=3)
    session.runs.get(position=2).events.update(kind=EventKind.NOTE)
    run = session.runs.get(position=3)
    for role in (Role.USER, Role.ASSISTANT, Role.ASSISTANT):
        add_event(run, role=role)
    found = [SessionTranscript(session).oldest_question(among=n, not_below=1) for n in (2, 3, 4, 5)]
    assert [(place and (place.position, place.messages)) for place in found] == [None, (3, 3), (3, 4), (1, 1)]


def test_messages_are_counted_in_several_steps_where_there_are_many(project, monkeypatch):
    monkeypatch.setattr("sessions_app.models.transcripts._MOST_AT_ONCE", 3)
    reader = SessionTranscript(make_session(project, "a", runs=10))
    for among in range(1, 11):
        assert reader.oldest_question(among=among, not_below=1).position == 11 - among


def test_questions_below_a_position_do_not_count(project):
    session = make_session(project, "a", runs=5)
    reader = SessionTranscript(session)
    assert reader.oldest_question(among=99, not_below=3).position == 3
    assert reader.oldest_question(among=99, not_below=6) is None


@pytest.mark.parametrize("runs", [20, 400])
def test_excerpts_cost_the_same_whatever_the_length(project, runs, django_assert_max_num_queries):
    session = Session.objects.get(pk=make_session(project, "a", runs=runs).pk)
    reader = SessionTranscript(session)
    with django_assert_max_num_queries(10):
        reader.first_input(not_below=1)
        reader.newest_answered(not_below=runs - 5)
        reader.oldest_question(among=5, not_below=1)


def make_summary(session, number, covers, *, ended_at):
    session.summary = Summary.objects.create(
        session=session,
        number=number,
        covers_through=covers,
        status="completed",
        text=f"through {covers}",
        summarizer="extractive",
        created_at=NOW,
        ended_at=ended_at,
    )
    session.save()


def test_as_of_a_turn_there_is_what_lay_before_and_its_input(project):
    session = make_session(project, "a", runs=2)
    answered(session)
    reader = SessionTranscript(session).as_of(3)
    assert reader.finished_through == 2
    assert [run.position for run in reader.newest_before(99, not_below=1, tokens=99)] == [2, 1]
    asked = reader.open_run()
    assert (asked.position, asked.status, [event.text for event in asked.events]) == (3, RunStatus.RUNNING, ["a 3"])
    assert reader.first_input(not_below=3) is None
    assert reader.newest_answered(not_below=1) is None


def test_as_of_a_turn_there_are_the_summaries_that_had_been_made(project):
    session = make_session(project, "a", runs=9)
    for number, (covers, minutes) in enumerate([(2, 10), (5, 20)], 1):
        make_summary(session, number, covers, ended_at=NOW + timedelta(minutes=minutes))
    session.runs.filter(position=7).update(created_at=NOW + timedelta(minutes=15))
    session.runs.filter(position__gte=8).update(created_at=NOW + timedelta(minutes=25))
    reader = SessionTranscript(session)
    assert reader.newest_summary(9).covers_through == 5
    assert [(s and s.covers_through) for s in (reader.as_of(n).newest_summary(n - 1) for n in (6, 7, 8))] == [
        None,
        2,
        5,
    ]
    child = make_session(project, "c", parent=session, runs=1)
    assert SessionTranscript(child).parent_contexts(1)[0].text == "through 5"
    assert SessionTranscript(child).as_of(1).parent_contexts(1) == []


def test_as_of_a_turn_that_a_fork_shares_there_are_the_summaries_of_the_session_that_made_it(project):
    parent = make_session(project, "a", runs=9)
    for number, (covers, minutes) in enumerate([(2, 10), (5, 20)], 1):
        make_summary(parent, number, covers, ended_at=NOW + timedelta(minutes=minutes))
    parent.runs.filter(position__gte=7).update(created_at=NOW + timedelta(minutes=25))
    fork = make_session(project, "f", parent=parent, forked_at=8, runs=1)
    bare = SessionTranscript(fork)
    assert bare.as_of(7).newest_summary(6).covers_through == 5
    assert bare.as_of(9).newest_summary(8) is None
    make_summary(fork, 1, 4, ended_at=NOW)
    both = SessionTranscript(fork)
    assert both.as_of(6).newest_summary(5) is None
    assert both.as_of(7).newest_summary(6).text == "through 5"
    assert both.as_of(9).newest_summary(8).text == "through 4"
