"""The sweeper finds what the rows say is still to be done."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings as configuration
from django.utils import timezone
from structlog.testing import capture_logs

from sessions_app import tasks
from sessions_app.clients import Work
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import ApiKey, IdempotentAnswer, Import, Session, SummarizerAnswer, lineages
from sessions_app.services import summaries
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


def test_it_pokes_sessions_whose_wish_waits_and_may_be_tried(published):
    waiting = make_session(runs=1)
    resting = make_session(waiting.project, "resting", runs=1)
    done = make_session(waiting.project, "done", runs=1)
    Session.objects.filter(pk=resting.pk).update(next_attempt_at=timezone.now() + timedelta(minutes=1))
    Session.objects.filter(pk=done.pk).update(summary_wanted_at=None)
    tasks.sweep()
    assert published == [(Work.SUMMARIZE, (waiting.pk,))]


def test_it_closes_runs_that_nobody_touches_any_more(published):
    session = make_session()
    long_ago = timezone.now() - timedelta(seconds=configuration.CONVOWEB_RUN_TIMEOUT + 1)
    turn = replace(simple_turn("anybody?", None), status=RunStatus.RUNNING)
    append_runs(session=session, runs=[turn], now=long_ago)
    tasks.sweep()
    run = session.runs.get()
    assert (run.status, run.error) == ("failed", "interrupted")


def test_it_forgets_answers_after_a_day(published):
    key = ApiKey.objects.create(project=make_project(), name="bot", key_id="k", secret_hash="x")
    for hours in (23, 25):
        IdempotentAnswer.objects.create(
            api_key=key,
            scope="POST /sessions",
            key=str(hours),
            body_hash="",
            status=201,
            body="",
            created_at=timezone.now() - timedelta(hours=hours),
        )
    tasks.sweep()
    assert [answer.key for answer in IdempotentAnswer.objects.all()] == ["23"]


def test_it_forgets_what_models_answered_after_a_month(published):
    session = make_session()
    for days in (29, 31):
        SummarizerAnswer.objects.create(
            project=session.project,
            session=session,
            request_hash=str(days),
            text="",
            created_at=timezone.now() - timedelta(days=days),
        )
    tasks.sweep()
    assert [answer.request_hash for answer in SummarizerAnswer.objects.all()] == ["29"]


def test_it_pokes_imports_that_nobody_works_on(published):
    work = Import.objects.create(
        project=make_project(), file_name="f.jsonl", file_format="openai", size=1, created_at=timezone.now()
    )
    tasks.sweep()
    assert published == [(Work.RUN_IMPORT, (work.pk,))]


def test_a_chore_that_fails_does_not_keep_the_others(published, monkeypatch):
    session = make_session(runs=1)

    def fail(*, now):
        raise RuntimeError("broken")

    monkeypatch.setattr(tasks.runs, "close_interrupted_runs", fail)
    tasks.sweep()
    assert published == [(Work.SUMMARIZE, (session.pk,))]


def test_a_deleted_session_is_nothing_to_do(published):
    tasks.summarize(4711)
    assert not Session.objects.exists()


def test_a_fork_that_is_deleted_with_its_parent_while_its_task_runs_ends_it_with_a_line(monkeypatch):
    parent = make_session(runs=9, settings={"summarize_at": 0, "max_input_tokens": 4000, "offset": 2})
    fork = fork_session(session=parent, at=9, now=NOW)
    usual = lineages.ancestors_of

    def deleted_meanwhile(session, **how):
        if Session.objects.filter(pk=parent.pk).exists():
            delete_session(session=parent, now=NOW, children=Children.DELETE)
        return usual(session, **how)

    monkeypatch.setattr(lineages, "ancestors_of", deleted_meanwhile)
    with capture_logs() as logs:
        tasks.summarize(fork.pk)
    assert [(line["event"], line["session_pk"]) for line in logs] == [("deleted_while_summarizing", fork.pk)]


def test_a_session_that_is_deleted_between_its_row_and_its_runs_ends_its_task_with_a_line(monkeypatch):
    session = make_session(runs=9, settings={"summarize_at": 0, "max_input_tokens": 4000, "offset": 2})
    usual = summaries.standing_of

    def deleted_meanwhile(reader, **how):
        assert reader.finished_through == 9
        delete_session(session=session, now=NOW)
        return usual(reader, **how)

    monkeypatch.setattr(summaries, "standing_of", deleted_meanwhile)
    with capture_logs() as logs:
        tasks.summarize(session.pk)
    assert [(line["event"], line["session_pk"]) for line in logs] == [("deleted_while_summarizing", session.pk)]
