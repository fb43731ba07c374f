"""Choosing a project's summarizer and how its prompts introduce a summary."""

from datetime import timedelta

import pytest

from sessions_app.clients import Work
from sessions_app.domain.errors import NotFound
from sessions_app.models import Project, ProjectSummarizer, Session
from sessions_app.services.project_summarizers import save_project_summarizer
from sessions_app.services.prompts import session_prompt
from sessions_app.services.snapshots import refresh_snapshot
from tests.factories import NOW, make_owner, make_project, make_session
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)
TEMPLATE = "Before:\n{summary}"


def save(project, **changes):
    return save_project_summarizer(project=project, changes=changes, by=make_owner(project), now=LATER)


def wishes():
    return list(Session.objects.order_by("pk").values_list("summary_wanted_at", flat=True))


def beginning_of(session):
    messages = session_prompt(session=session).messages or ()
    return messages[0]["content"]


def rest():
    Session.objects.update(summary_wanted_at=None)


def test_it_stores_the_choice_and_keeps_what_is_not_named():
    project = make_project()
    save(project, name="openai", endpoint="local", model="small", timeout_seconds=20)
    save(project, model="large")
    chosen = ProjectSummarizer.objects.get(project=project)
    assert (chosen.name, chosen.endpoint, chosen.model, chosen.timeout_seconds) == ("openai", "local", "large", 20)


def test_another_introduction_alters_the_next_prompt_and_leaves_the_summary_alone():
    session = make_session(runs=9, settings=AT_ONCE)
    advance_all(session)
    before = session.summary
    assert beginning_of(session).startswith("# Summary of runs 1-")
    save(session.project, summary_template=TEMPLATE)
    assert beginning_of(session) == f"Before:\n{before.text}"
    session.refresh_from_db()
    assert session.summary == before


def test_another_introduction_makes_what_lists_show_stale_until_it_is_worked_out_again():
    session = make_session(runs=9, settings=AT_ONCE)
    advance_all(session)
    refresh_snapshot(session=session)
    session.refresh_from_db()
    before = session.prompt_snapshot
    rest()
    save(session.project, summary_template=f"{'word ' * 30}{{summary}}")
    assert wishes() == [LATER]
    session.refresh_from_db()
    refresh_snapshot(session=session)
    session.refresh_from_db()
    assert session.prompt_snapshot["template"] != before["template"]
    assert session.prompt_snapshot["parts"]["summary"] > before["parts"]["summary"] + 20


def test_another_model_asks_for_nothing_where_nothing_has_failed():
    session = make_session(runs=2)
    rest()
    save(session.project, name="openai", endpoint="local", model="small")
    assert wishes() == [None]


def test_another_summarizer_is_tried_at_once_where_the_one_before_has_failed(
    published, django_capture_on_commit_callbacks
):
    session = make_session(runs=2)
    make_session(session.project, "t", runs=2)
    rest()
    Session.objects.filter(pk=session.pk).update(next_attempt_at=NOW + timedelta(hours=1))
    published.clear()
    with django_capture_on_commit_callbacks(execute=True):
        save(session.project, name="openai", endpoint="local", model="small")
    assert wishes() == [LATER, None]
    assert not Session.objects.exclude(next_attempt_at=None).exists()
    assert published == [(Work.SWEEP, ())]


def test_saving_the_same_again_asks_for_nothing():
    session = make_session(runs=2)
    save(session.project, summary_template=TEMPLATE)
    rest()
    save(session.project, summary_template=TEMPLATE)
    assert wishes() == [None]


def test_another_project_is_left_alone():
    mine, other = make_project(), make_project("q")
    make_session(other, runs=1)
    rest()
    save(mine, summary_template=TEMPLATE)
    assert wishes() == [None]


def test_a_project_that_was_deleted_meanwhile_is_not_found():
    project = make_project()
    mira = make_owner(project)
    Project.objects.all().delete()
    with pytest.raises(NotFound):
        save_project_summarizer(project=project, changes={"model": "small"}, by=mira, now=LATER)
