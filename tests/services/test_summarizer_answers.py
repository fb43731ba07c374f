"""Answers of models are paid for once: kept at once, taken again for the same request, gone with their session."""

import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection

from sessions_app.clients import endpoints
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Session, SummarizerAnswer, SummaryStatus
from sessions_app.services import ledgers, session_deletion, summarizer_answers, summary_claims
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, append_turns, make_project, make_session
from tests.scripted_endpoint import Status, Text
from tests.services.summarizing import AT_ONCE, advance_all, choose_model, given_runs, newest_entry

pytestmark = pytest.mark.django_db

SETTINGS = AT_ONCE | {"offset": 1}


class Killed(BaseException):
    """Stands in for the end of a process: no code of ours runs after it."""


def test_a_worker_killed_behind_the_answer_does_not_have_it_paid_again(model_project, endpoint, monkeypatch):
    session = make_session(model_project, runs=3, settings=SETTINGS)
    endpoint.then(Text("Paid for.", usage=(1_000, 40)))

    def killed(**_):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(summary_claims, "complete", killed)
        with pytest.raises(Killed):
            advance(session_pk=session.pk, now=NOW)
    session.summaries.update(lease_until=NOW - timedelta(days=3650))
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert session.summary.text == "Paid for."
    assert len(endpoint.asked) == 1


def test_pieces_that_were_answered_are_not_paid_again_when_a_later_one_fails(model_project, endpoint):
    choose_model(model_project, context_window=1_500)
    session = make_session(model_project, settings=SETTINGS | {"max_summary_tokens": 100})
    append_runs(session=session, runs=[simple_turn("A long story. " * 700, "Well."), simple_turn("?", "!")], now=NOW)
    endpoint.then(Text("One.", usage=(1_000, 0)), Status(500))
    endpoint.otherwise = Text("More.", usage=(1_000, 0))
    advance_all(session)
    assert newest_entry(session).cost_usd == Decimal("0.001")
    advance_all(session, now=NOW + timedelta(hours=1))
    parts = [given_runs(asked)[0][1:] for asked in endpoint.asked]
    of = parts[0][1]
    assert parts == [("1", of), ("2", of), *((str(n), of) for n in range(2, int(of) + 1))]
    assert session.summary.cost_usd == Decimal("0.001") * int(of)


def test_no_more_pieces_are_asked_for_once_it_is_cancelled(model_project, endpoint):
    choose_model(model_project, context_window=1_500)
    session = make_session(model_project, settings=SETTINGS | {"max_summary_tokens": 100})
    append_runs(session=session, runs=[simple_turn("A long story. " * 700, "Well."), simple_turn("?", "!")], now=NOW)
    ask = endpoints.ask

    endpoint.otherwise = Text("More.", usage=(1_000, 0))

    def cancelled_meanwhile(*given, **options):
        if len(endpoint.asked) == 1:
            ledgers.cancel(entry=newest_entry(session), now=NOW)
        return ask(*given, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(endpoints, "ask", cancelled_meanwhile)
        advance(session_pk=session.pk, now=NOW)
    assert len(endpoint.asked) == 2
    cancelled = newest_entry(session)
    assert (cancelled.status, cancelled.cost_usd) == (SummaryStatus.CANCELLED, Decimal("0.002")), "what was paid counts"


def test_what_was_paid_for_an_entry_that_was_cancelled_meanwhile_counts(model_project, endpoint, monkeypatch):
    session = make_session(model_project, runs=3, settings=SETTINGS)
    endpoint.then(Text("Too late.", usage=(1_000, 0)))
    ask = endpoints.ask

    def cancelled_meanwhile(*given, **options):
        ledgers.cancel(entry=newest_entry(session), now=NOW)
        return ask(*given, **options)

    monkeypatch.setattr(endpoints, "ask", cancelled_meanwhile)
    assert advance(session_pk=session.pk, now=NOW) is Outcome.BUSY
    cancelled = newest_entry(session)
    assert (cancelled.text, cancelled.status, cancelled.cost_usd) == ("", SummaryStatus.CANCELLED, Decimal("0.001"))


def test_after_a_rollback_the_same_request_costs_nothing(model_project, endpoint):
    session = make_session(model_project, runs=3, settings=SETTINGS)
    endpoint.then(Text("First.", usage=(10, 1)), Text("Second.", usage=(10, 1)))
    advance_all(session)
    first = session.summary
    append_turns(session)
    advance_all(session)
    ledgers.roll_back(session=session, entry=first, actor="me", now=NOW + timedelta(minutes=1))
    session.refresh_from_db()
    ledgers.resume(session=session, now=NOW + timedelta(minutes=2))
    advance_all(session, now=NOW + timedelta(minutes=3))
    assert (session.summary.text, session.summary.cost_usd) == ("Second.", Decimal(0))
    assert list(session.summaries.order_by("number").values_list("from_cache", flat=True)) == [False, False, True]
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    "change",
    [{"model": "gpt-4.1"}, {"request_template": "{summary} {runs}"}, {"endpoint": "second"}],
    ids=lambda change: next(iter(change)),
)
def test_another_endpoint_model_or_template_is_asked_anew(model_project, endpoint, settings, change):
    settings.CONVOWEB_ENDPOINTS = {"local": endpoint.url, "second": endpoint.url.replace("127.0.0.1", "localhost")}
    for public_id, columns in (("a", {}), ("b", {}), ("c", change)):
        choose_model(model_project, **columns)
        advance_all(make_session(model_project, public_id, runs=3, settings=SETTINGS))
    assert len(endpoint.asked) == 2


def test_no_answer_of_another_project_is_used(model_project, endpoint):
    other = make_project("q")
    choose_model(other)
    for each in (model_project, other):
        advance_all(make_session(each, runs=3, settings=SETTINGS))
    assert len(endpoint.asked) == 2


def test_an_answer_goes_with_its_session_and_after_a_month(model_project, endpoint):
    for public_id, endpoint.otherwise in (("a", Text("One.")), ("b", Text("Two."))):
        advance_all(make_session(model_project, public_id, runs=3 + (public_id == "b"), settings=SETTINGS))
    assert set(SummarizerAnswer.objects.values_list("text", flat=True)) == {"One.", "Two."}
    delete_session(session=Session.objects.get(public_id="a"), now=NOW)
    assert set(SummarizerAnswer.objects.values_list("text", flat=True)) == {"Two."}
    assert summarizer_answers.forget_old_answers(now=NOW + timedelta(days=29)) == 0
    assert summarizer_answers.forget_old_answers(now=NOW + timedelta(days=31)) == 1


@pytest.mark.django_db(transaction=True)
def test_an_answer_for_a_session_that_was_deleted_meanwhile_is_not_kept(model_project, endpoint):
    session = make_session(model_project, runs=3, settings=SETTINGS)

    summarizer_answers.keep_answer(session=session, request_hash="0" * 64, text="In time.", now=NOW)
    delete_session(session=session, now=NOW)
    summarizer_answers.keep_answer(session=session, request_hash="1" * 64, text="Too late.", now=NOW)
    assert not SummarizerAnswer.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_comes_while_its_session_is_deleted_does_not_hinder_that(model_project, monkeypatch):
    above = make_session(model_project, "above")
    session = make_session(model_project, "below", parent=above, runs=3, settings=SETTINGS)

    def answered():
        summarizer_answers.keep_answer(session=session, request_hash="0" * 64, text="Meanwhile.", now=NOW)
        connection.close()

    worker = threading.Thread(target=answered)
    delete_rows = session_deletion._delete_rows

    def late(rows):
        delete_rows(rows)
        if rows.model is SummarizerAnswer:
            worker.start()
            worker.join(timeout=1)

    monkeypatch.setattr(session_deletion, "_delete_rows", late)
    delete_session(session=above, now=NOW, children=Children.DELETE)
    worker.join()
    assert not SummarizerAnswer.objects.exists()
    assert not Session.objects.exists()
