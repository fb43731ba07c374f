"""Files of other systems on their way in: what grows is extended, what is the same adds nothing, trees stay."""

import json
from pathlib import Path

import pytest

from sessions_app.domain.file_formats import FILE_FORMATS
from sessions_app.domain.json_streams import Found
from sessions_app.models import Run, Session
from sessions_app.services.conversation_imports import NO_PARENT
from sessions_app.services.imports import import_row, prepare_row
from sessions_app.services.sessions import update_session
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db
CASES = Path(__file__).parents[1] / "data" / "cases"


def griptape(lines, title):
    runs = [
        {"id": f"r{n}", "input": artifact(lines[n]), "output": artifact(lines[n + 1])} for n in range(0, len(lines), 2)
    ]
    return {"runs": runs, "metadata": {"title": title}}


def artifact(text):
    return {"type": "TextArtifact", "value": text}


def chuk(lines, title):
    events = [
        {"id": f"e{n}", "type": "message", "source": ("user", "llm")[n % 2], "message": line}
        for n, line in enumerate(lines)
    ]
    about = {"properties": {"title": title}}
    return {"id": f"talk-{title[0]}", "metadata": about, "parent_id": None, "child_ids": [], "events": events}


def claude_ai(lines, title):
    messages = [
        {"uuid": f"m{n}", "sender": ("human", "assistant")[n % 2], "text": line} for n, line in enumerate(lines)
    ]
    return {"uuid": f"talk-{title[0]}", "name": title, "chat_messages": messages}


FORMATS = {"griptape": griptape, "chuk": chuk, "claude_ai": claude_ai}
LINES = [f"line {n}" for n in range(8)]
EDITED = [*LINES[:6], "line 6 edited", LINES[7]]


def bring_in(project, name, *rows):
    file_format = FILE_FORMATS[name]
    found = [prepare_row(file_format=file_format, found=Found(place, row)) for place, row in enumerate(rows, 1)]
    return [import_row(project=project, file_format=file_format, row=row, now=NOW) for row in found]


def outcomes(done):
    return [str(each.outcome) for each in done]


def lines_of(session):
    runs = Run.objects.with_events().filter(session=session).order_by("position")
    return [event.text for run in runs for event in run.events.all()]


@pytest.mark.parametrize("name", FORMATS)
def test_c41_a_file_twice_and_then_longer_makes_one_session_with_each_line_once(name):
    row, project = FORMATS[name], make_project()
    new = row(["Hello", "Hi"], "New one")

    assert outcomes(bring_in(project, name, row(LINES[:4], "Growing talk"))) == ["imported"]
    assert outcomes(bring_in(project, name, row(LINES[:4], "Growing talk"))) == ["unchanged"]
    growing = Session.objects.get()
    assert growing.last_position == 2
    update_session(session=growing, changes={"title": "My name"}, now=NOW)

    assert outcomes(bring_in(project, name, row(LINES, "Growing talk"), new)) == ["extended", "imported"]
    assert outcomes(bring_in(project, name, row(LINES, "Growing talk"), new)) == ["unchanged", "unchanged"]
    growing.refresh_from_db()
    assert (growing.title, growing.last_position, lines_of(growing)) == ("My name", 4, LINES)

    assert outcomes(bring_in(project, name, row(EDITED, "Growing talk"))) == ["changed"]
    assert outcomes(bring_in(project, name, row(LINES[:4], "Growing talk"))) == ["unchanged"]
    assert (lines_of(growing), Session.objects.count()) == (LINES, 2)

    assert outcomes(bring_in(make_project("other"), name, row(LINES[:4], "Growing talk"))) == ["imported"]
    assert lines_of(growing) == LINES


def test_c33_a_failed_run_of_griptape_is_failed_here_and_importing_it_again_adds_nothing():
    row, project = json.loads((CASES / "C33-memory.json").read_text()), make_project()
    assert outcomes(bring_in(project, "griptape", row)) == ["imported"]
    assert list(Run.objects.order_by("position").values_list("status", "error"))[:3] == [
        ("completed", ""),
        ("failed", "provider refused the key"),
        ("completed", ""),
    ]
    assert outcomes(bring_in(project, "griptape", row)) == ["unchanged"]


def test_a_session_of_chuk_becomes_a_child_if_its_parent_came_before_it():
    project = make_project()
    child = chuk(LINES[:2], "Child") | {"parent_id": "talk-P"}

    [alone, _] = bring_in(make_project("other"), "chuk", child, chuk(LINES, "Parent"))
    assert (alone.detail, alone.session.parent) == (NO_PARENT, None)

    [parent, done] = bring_in(project, "chuk", chuk(LINES, "Parent"), child)
    assert (done.detail, done.session.parent, done.session.forked_at) == ("", parent.session, None)
    assert lines_of(done.session) == LINES[:2]
    assert outcomes(bring_in(project, "chuk", child)) == ["unchanged"]


def test_a_session_of_chuk_without_events_is_there_for_its_children():
    project = make_project()
    [parent, child] = bring_in(project, "chuk", chuk([], "Parent"), chuk(LINES[:2], "Child") | {"parent_id": "talk-P"})
    assert (parent.outcome, parent.session.last_position) == ("imported", 0)
    assert child.session.parent == parent.session


@pytest.mark.parametrize(
    ("row", "title"), [({"uuid": "u1", "name": "Trip"}, "Trip"), ({"uuid": "u1", "name": " "}, "u1")]
)
def test_a_conversation_of_claude_that_cannot_be_read_is_reported_by_its_name(row, title):
    prepared = prepare_row(file_format=FILE_FORMATS["claude_ai"], found=Found(1, row | {"chat_messages": "none"}))
    assert (prepared.title, prepared.error) == (title, "Its chat_messages must be a list.")
