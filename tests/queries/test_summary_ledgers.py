"""What the ledger page of a session reads."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Event, Run, Summary
from sessions_app.queries.summary_ledgers import Look, ledger_of, unfinished_row
from sessions_app.queries.summary_steps import step_of
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db
FACTS = {
    "rows": [
        ["first_person", "my mother wears a knee brace", 2, "user", "gone"],
        ["number", "96 EUR", 4, "user", "kept_new"],
    ],
    "left_out": {"missed": 3},
}


def add(session, number, covers, *, predecessor=None, status="completed", **columns):
    """Add an entry to a ledger."""
    return Summary.objects.create(
        session=session,
        number=number,
        status=status,
        covers_through=covers,
        predecessor=predecessor,
        created_at=NOW,
        **{"summarizer": "extractive", "text": f"text {number}"} | columns,
    )


def use(session, entry):
    session.summary = entry
    session.save(update_fields=["summary"])


@pytest.fixture
def session():
    """A session of 9 runs whose ledger holds an entry of each kind."""
    session = make_session(runs=9)
    first = add(session, 1, 2, origin="adopted", tokens_before=50, tokens_o200k=5, cost_usd=Decimal(0))
    second = add(
        session, 2, 4, predecessor=first, tokens_before=70, tokens_o200k=6, cost_usd=Decimal("0.5"), facts=FACTS
    )
    third = add(session, 3, 4, predecessor=second, origin="edited", actor="mira", tokens_before=6, tokens_o200k=7)
    add(session, 4, 6, predecessor=third, retired_at=NOW, cost_usd=Decimal("0.25"), duration_ms=1500, tokens_before=90)
    add(session, 5, 7, predecessor=third, status="failed", error="No answer.", text="", duration_ms=500)
    add(session, 6, 7, predecessor=third, status="cancelled", text="")
    add(session, 7, 8, predecessor=third, status="running", text="")
    use(session, third)
    return session


def test_entries_stand_newest_first_each_as_it_is(session):
    rows = ledger_of(session).rows
    assert [(row.entry.number, row.look) for row in rows] == [
        (7, Look.RUNNING),
        (6, Look.CANCELLED),
        (5, Look.FAILED),
        (4, Look.RETIRED),
        (3, Look.EDITED),
        (2, Look.MADE),
        (1, Look.ADOPTED),
    ]
    assert [row.entry.number for row in rows if row.in_use] == [3]
    assert [row.entry.number for row in rows if row.is_completed] == [4, 3, 2, 1]
    assert [row.entry.number for row in rows if row.is_unfinished] == [7]


def test_what_was_tried_again_says_as_what(session):
    retried = {row.entry.number: row.retried_as for row in ledger_of(session).rows}
    assert retried == {7: None, 6: 7, 5: 6, 4: None, 3: None, 2: None, 1: None}


def test_only_the_newest_entry_can_be_retried(session):
    assert not any(row.can_be_retried for row in ledger_of(session).rows)
    session.summaries.filter(number=7).delete()
    assert [row.entry.number for row in ledger_of(session).rows if row.can_be_retried] == [6]


def test_a_row_tells_the_runs_that_are_new_in_it(session):
    rows = {row.entry.number: row for row in ledger_of(session).rows}
    assert [(n, rows[n].first, rows[n].covers_more) for n in (1, 2, 3, 4)] == [
        (1, 1, True),
        (2, 3, True),
        (3, 5, False),
        (4, 5, True),
    ]


def test_a_request_that_came_to_nothing_tells_what_it_held(session):
    failed = next(row for row in ledger_of(session).rows if row.entry.number == 5)
    runs = Run.objects.filter(position__range=(5, 7)).values_list("tokens_o200k", flat=True)
    assert failed.tokens_before == 7 + sum(runs)


def test_facts_are_those_that_were_stored(session):
    rows = {row.entry.number: row.facts for row in ledger_of(session).rows}
    assert rows[1] is None
    assert (rows[2].kept, rows[2].gone, rows[2].missed) == (1, 1, 3)


def test_the_totals_are_of_all_entries_and_of_what_is_covered(session):
    totals = ledger_of(session).totals
    runs = Run.objects.filter(position__lte=4).values_list("tokens_o200k", flat=True)
    assert (totals.entries, totals.cost_usd, totals.duration_ms) == (7, Decimal("0.75"), 2000)
    assert totals.unpriced == 1  # the edited one, whose cost was not given
    assert totals.tokens == sum(runs)


def test_the_entry_that_goes_on_is_found_alone(session):
    assert unfinished_row(session).progress == "7-running"
    session.summaries.filter(number=7).update(status="completed")
    assert unfinished_row(session) is None


def test_pages_follow_each_other_without_gaps():
    session = make_session(runs=3)
    for number in range(1, 131):
        add(session, number, 1)
    pages, before = [], None
    while True:
        shown = ledger_of(session, before=before)
        pages.append([row.entry.number for row in shown.rows])
        if shown.older is None:
            break
        before = shown.older
    assert [len(page) for page in pages] == [50, 50, 30]
    assert [number for page in pages for number in page] == list(range(130, 0, -1))
    assert shown.totals.entries == 130


def test_the_long_texts_of_entries_are_not_read(session):
    with CaptureQueriesContext(connection) as captured:
        ledger_of(session)
    assert not any('"text"' in query["sql"] for query in captured)


def test_a_fork_shows_its_own_ledger_with_positions_of_the_lineage():
    parent = make_session(runs=6, settings={"offset": 1})
    use(parent, add(parent, 1, 3, tokens_before=50, tokens_o200k=5))
    fork = fork_session(session=parent, at=5, now=NOW)
    rows = ledger_of(fork).rows
    assert [(row.look, row.first, row.entry.covers_through) for row in rows] == [(Look.ADOPTED, 1, 3)]
    assert rows[0].entry.adopted_from.number == 1
    runs = Run.objects.filter(session=parent, position__lte=3).values_list("tokens_o200k", flat=True)
    assert ledger_of(fork).totals.tokens == sum(runs)


def test_a_step_holds_what_its_entry_kept_and_how_its_text_differs(session):
    step = step_of(session, number=2)
    assert (step.entry.number, step.has_text) == (2, True)
    assert [row.fact.text for row in step.gone] == ["my mother wears a knee brace"]
    assert (step.difference.added, step.difference.removed) == (1, 1)
    assert [(tab.before, tab.number) for tab in step.tabs] == [(None, 1), (1, 2), (2, 3)]


def test_the_first_entry_has_no_text_to_differ_from(session):
    assert step_of(session, number=1).difference is None


def test_without_a_choice_it_is_the_step_to_the_summary_in_use(session):
    assert step_of(session, number=None).entry.number == 3
    use(session, None)
    assert step_of(session, number=None).entry.number == 7
    assert step_of(session, number=99) is None
    assert step_of(make_session(make_project("other"), "empty"), number=None) is None


def test_of_many_facts_a_few_of_each_kind_are_shown_until_all_are_asked_for(session):
    missed = [["number", f"{n} EUR", 3, "user", "missed"] for n in range(60)]
    kept = [["number", f"{n} kg", 4, "user", "kept"] for n in range(5)]
    session.summaries.filter(number=2).update(facts={"rows": missed + kept, "left_out": {}})
    step = step_of(session, number=2)
    assert [row.state for row in step.fact_rows] == ["missed"] * 12 + ["kept"] * 5
    assert step.more_facts == 48
    assert len(step_of(session, number=2, all_facts=True).fact_rows) == 65


def read(session):
    """Read a ledger page and a step; return how many queries that took and how many rows they gave."""
    session.refresh_from_db()
    with CaptureQueriesContext(connection) as captured:
        shown = ledger_of(session)
        step_of(session, number=None)
    with connection.cursor() as database:
        rows = [len(database.execute(query["sql"]).fetchall()) for query in captured]
    return len(captured), sum(rows) - len(shown.rows)


def many_runs(session, last):
    """Let a session have runs up to `last`, without their texts."""
    runs = [
        Run(
            project=session.project,
            session=session,
            public_id=f"{session.pk}-{position}",
            position=position,
            status="completed",
            tokens_o200k=10,
            tokens_before_o200k=10 * (position - 1),
            created_at=NOW,
            touched_at=NOW,
        )
        for position in range(session.last_position + 1, last + 1)
    ]
    Run.objects.bulk_create(runs)
    session.last_position = last
    session.save(update_fields=["last_position"])


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the cursor gives rows at once")
def test_its_cost_depends_neither_on_entries_nor_on_runs():
    project = make_project()
    short = make_session(project, "short", runs=3)
    long = make_session(project, "long", runs=3)
    many_runs(short, 100)
    many_runs(long, 10_000)
    for session, entries in ((short, 3), (long, 300)):
        before = None
        for number in range(1, entries + 1):
            covers = number * session.last_position // (entries + 1)
            before = add(session, number, covers, predecessor=before, tokens_before=90)
        use(session, before)
    (few, few_rows), (many, many_rows) = read(short), read(long)
    assert few == many <= 9
    # The row behind the page, which says that there is another.
    assert many_rows <= few_rows + 1
    assert Event.objects.count() == 12
