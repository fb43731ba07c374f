"""What sessions needed: summed up by the database, priced exactly, whatever their length."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.language_models import ModelFacts
from sessions_app.domain.openai_messages import turn
from sessions_app.domain.transcript import NewRun, Usage
from sessions_app.models import ModelOverride, Run, Session, Summary
from sessions_app.queries import usage
from sessions_app.queries.usage import session_usage
from sessions_app.services.model_overrides import set_model_override
from sessions_app.services.runs import append_runs
from tests.factories import NOW, analyze_if_many, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db
TODAY = datetime(2026, 11, 30, tzinfo=UTC)
PRICES = ModelFacts(input_price=Decimal(2), cached_input_price=Decimal("0.5"), output_price=Decimal(8))
MESSAGES = [
    {"role": "user", "content": "hello hello"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "found"},
    {"role": "assistant", "content": "there"},
]


@pytest.fixture
def project():
    project = make_project()
    set_model_override(project=project, name="ours", facts=PRICES, now=NOW)
    return project


def append(session, model="", **reported):
    run = NewRun(events=turn(MESSAGES).events, model=model, usage=Usage(**reported) if reported else None)
    return append_runs(session=session, runs=[run], now=NOW)[0]


def usage_of(session):
    return session_usage(session=Session.objects.get(pk=session.pk), now=TODAY)


def test_reported_tokens_and_our_own_count_are_told_apart(project):
    session = make_session(project)
    append(session, "ours", input=100, cached=40, output=10, reasoning=5)
    append(session, "ours", input=1)
    append(session)

    found = usage_of(session).lineage

    assert (found.runs, found.reporting) == (3, 2)
    assert found.reported == Usage(input=101, cached=40, output=10, reasoning=5)
    assert found.tokens == sum(Run.objects.values_list("tokens_o200k", flat=True)) > 0


def test_cached_tokens_cost_what_the_cache_costs(project):
    session = make_session(project)
    append(session, "ours", input=100, cached=40, output=10)

    # (60 * 2 + 40 * 0.5 + 10 * 8) USD per million.
    assert usage_of(session).cost == Decimal("0.00022")


def test_totals_are_not_made_of_rounded_parts(project):
    session = make_session(project)
    facts = ModelFacts(input_price=Decimal("0.000001"), output_price=Decimal(0))
    set_model_override(project=project, name="cheap", facts=facts, now=NOW)
    for _ in range(3):
        append(session, "cheap", input=1)

    assert usage_of(session).cost == Decimal("0.000000000003")


def test_what_has_no_price_is_counted_and_not_guessed(project):
    session = make_session(project)
    append(session, "ours", input=1_000_000)
    append(session, "nobody knows it", input=7)
    append(session, "", input=7)

    found = usage_of(session)

    assert (found.lineage.cost, found.lineage.unpriced) == (Decimal(2), 2)
    assert [(each.model, each.spent.runs, each.spent.cost, each.spent.unpriced) for each in found.models] == [
        ("", 1, 0, 1),
        ("nobody knows it", 1, 0, 1),
        ("ours", 1, 2, 0),
    ]


def test_each_call_has_the_price_of_its_own_size(project):
    session = make_session(project)
    # gemini-2.5-pro: above 200,000 input tokens both prices are higher.
    for size in (200_000, 200_001):
        append(session, "gemini-2.5-pro", input=size, output=1_000)

    small = (200_000 * Decimal("1.25") + 1_000 * 10) / 1_000_000
    large = (200_001 * Decimal("2.5") + 1_000 * 15) / 1_000_000
    assert usage_of(session).cost == small + large


def test_more_cached_tokens_than_there_were_cost_no_less_than_all_cached(project):
    session = make_session(project)
    append(session, "ours", input=10, cached=1_000)

    assert usage_of(session).cost == Decimal("0.000005")


def test_roles_have_the_tokens_of_their_events(project):
    session = make_session(project, "s")
    append(session)
    append(session)

    roles = {each.role: (each.events, each.tokens) for each in usage_of(session).roles}

    # 3 a message, 1 for each of these words and roles; 8 a call with name, arguments and result.
    assert roles["user"] == (2, 2 * (3 + 1 + 2))
    assert list(roles) == ["user", "assistant", "tool_call"]
    assert roles["assistant"][0] == 4
    assert roles["tool_call"][0] == 2


def test_a_fork_tells_its_own_runs_from_those_it_shares(project):
    trip = make_session(project, "trip")
    append(trip, "ours", input=1_000_000)
    append(trip, "ours", input=1_000_000)
    fork = make_session(project, "fork", parent=trip, forked_at=1)
    append(fork, "ours", output=1_000_000)

    found = usage_of(fork)

    assert (found.lineage.runs, found.lineage.cost) == (2, Decimal(10))
    assert (found.own.runs, found.own.cost) == (1, Decimal(8))
    assert found.cost == Decimal(8)
    assert usage_of(trip).cost == Decimal(4)


def summary(session, number, cost, **columns):
    return Summary.objects.create(
        session=session,
        number=number,
        covers_through=number,
        summarizer="openai",
        attempts=1,
        cost_usd=cost,
        created_at=NOW,
        **{"status": "completed", "tokens_before": 100, "tokens_o200k": 10, **columns},
    )


def test_summaries_are_in_the_cost_all_attempts_of_them(project):
    session = make_session(project)
    summary(session, 1, Decimal("0.00000001"))
    summary(session, 2, Decimal("0.10000000"))
    summary(session, 3, Decimal("0.20000000"), status="failed", tokens_o200k=0)
    summary(session, 4, None)
    summary(session, 5, Decimal(0), origin="adopted")
    summary(session, 6, None, status="running", tokens_o200k=0)

    found = usage_of(session)

    assert found.summaries.cost == found.cost == Decimal("0.30000001")
    assert (found.summaries.entries, found.summaries.unpriced) == (5, 1)
    assert (found.summaries.tokens_read, found.summaries.tokens_written) == (500, 30)


def test_an_empty_session_needed_nothing(project):
    found = usage_of(make_session(project))

    assert (found.lineage.runs, found.lineage.tokens, found.cost, found.models, found.roles) == (0, 0, 0, [], [])


def test_models_beyond_the_first_are_in_the_totals_unpriced(project, monkeypatch):
    monkeypatch.setattr(usage, "MOST_MODELS", 1)
    session = make_session(project)
    append(session, "ours", input=1_000_000)
    append(session, "ours", input=1_000_000)
    append(session, "another", input=3)

    found = usage_of(session)

    assert [each.model for each in found.models] == ["ours"]
    assert (found.lineage.reported.input, found.lineage.cost, found.lineage.unpriced) == (2_000_003, 4, 1)


def bulk_runs(session, count):
    Run.objects.bulk_create(
        Run(
            project=session.project,
            session=session,
            position=position,
            status="completed",
            model="ours",
            usage={"input": 1, "cached": 0, "output": 1, "reasoning": 0},
            tokens_before_o200k=0,
            created_at=NOW,
            touched_at=NOW,
        )
        for position in range(1, count + 1)
    )
    Session.objects.filter(pk=session.pk).update(last_position=count)
    analyze_if_many(count)


def test_its_queries_do_not_depend_on_the_number_of_runs(project):
    long, short = make_session(project, "long"), make_session(project, "short")
    bulk_runs(long, 20_000)
    bulk_runs(short, 10)
    counts = []
    for session in (long, short):
        with CaptureQueriesContext(connection) as queries:
            found = usage_of(session)
        counts.append(len(queries))

    assert counts[0] == counts[1] < 12
    assert found.cost == Decimal("0.0001")
    assert usage_of(long).cost == Decimal("0.2")


def test_totals_are_added_up_from_the_models_and_runs_are_not_read_for_them_again(project, monkeypatch):
    session = make_session(project)
    append(session, "ours", input=1_000_000, cached=2, output=3, reasoning=1)
    append(session, "another", input=5)
    append(session)
    with CaptureQueriesContext(connection) as queries:
        found = usage_of(session).lineage
    assert len([each for each in queries if "reporting" in each["sql"]]) == 1

    monkeypatch.setattr(usage, "MOST_MODELS", 3)

    assert usage_of(session).lineage == found
    assert (found.runs, found.reporting, found.unpriced) == (3, 2, 1)
    assert found.reported == Usage(input=1_000_005, cached=2, output=3, reasoning=1)


def test_prices_of_another_project_do_not_count(project):
    other = make_session(make_project("other"))
    append(other, "ours", input=1)
    append_turns(other)

    assert usage_of(other).lineage.unpriced == 1
    assert ModelOverride.objects.count() == 1
