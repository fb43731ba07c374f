"""Case C41: a file that is imported twice and then longer, in the format of OpenAI's messages.

That format has no branches, so a file in which an earlier line was edited is reported as changed and adds nothing to
that conversation; nothing that is here is lost.
"""

import threading

import pytest
from django.db import connection

from sessions_app.domain.file_formats.openai import OPENAI
from sessions_app.domain.json_streams import Found
from sessions_app.models import ImportOutcome, Run, Session
from sessions_app.services.imports import import_row, prepare_row
from sessions_app.services.sessions import update_session
from tests.factories import NOW, make_project

ROLES = ("user", "assistant")
CASE_DAY_1, CASE_DAY_2 = 2, 4


def talk(lines, title="Growing talk", edited=None):
    texts = [f"line {n}" if n != edited else f"line {n}, edited" for n in range(lines)]
    messages = [{"role": ROLES[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"id": "growing", "title": title, "messages": messages}


NEW_ONE = {"id": "new", "title": "New one", "messages": [{"role": "user", "content": "Hello"}]}
DAY_1 = [talk(4)]
DAY_2 = [talk(8, "Growing talk (renamed there)"), NEW_ONE]
DAY_3 = [talk(8, "Growing talk (renamed there)", edited=6)]


def bring_in(project, rows):
    found = [prepare_row(file_format=OPENAI, found=Found(place, row)) for place, row in enumerate(rows, 1)]
    return [import_row(project=project, file_format=OPENAI, row=row, now=NOW) for row in found]


def outcomes(done):
    return [each.outcome for each in done]


def lines_of(project):
    session = Session.objects.get(project=project, source_id="growing")
    runs = Run.objects.with_events().filter(session=session).order_by("position")
    return [event.text for run in runs for event in run.events.all()]


@pytest.mark.django_db(transaction=True)
def test_c41_an_import_repeated_and_grown_has_each_line_once(published):
    project = make_project()
    assert outcomes(bring_in(project, DAY_1)) == [ImportOutcome.IMPORTED]
    assert outcomes(bring_in(project, DAY_1)) == [ImportOutcome.UNCHANGED]
    session = Session.objects.get()
    assert session.last_position == CASE_DAY_1
    update_session(session=session, changes={"title": "My name"}, now=NOW)

    def bring_in_once():
        try:
            bring_in(project, DAY_2)
        finally:
            connection.close()

    twice = [threading.Thread(target=bring_in_once) for _ in range(2)]
    for thread in twice:
        thread.start()
    for thread in twice:
        thread.join()

    session.refresh_from_db()
    assert (Session.objects.count(), session.last_position, session.title) == (2, CASE_DAY_2, "My name")
    assert lines_of(project) == [f"line {n}" for n in range(8)]

    (changed,) = bring_in(project, DAY_3)
    assert changed.outcome == ImportOutcome.CHANGED
    assert "line 6, edited" in changed.detail
    assert outcomes(bring_in(project, DAY_1)) == [ImportOutcome.UNCHANGED]
    assert lines_of(project) == [f"line {n}" for n in range(8)]
    assert Session.objects.filter(project=project, title="New one").exists()

    other = make_project("other")
    assert outcomes(bring_in(other, DAY_1)) == [ImportOutcome.IMPORTED]
    assert len(lines_of(other)) == 4
    assert len(lines_of(project)) == 8
