"""ChatGPT's trees on their way in: the newest path is the session, the others are forks that share its runs."""

import json
from pathlib import Path

import pytest

from sessions_app.domain.errors import HistoryChanged
from sessions_app.domain.file_formats.chatgpt import CHATGPT
from sessions_app.domain.json_streams import Found
from sessions_app.models import Run, Session, lineage_runs
from sessions_app.services import tree_imports
from sessions_app.services.imports import import_row, prepare_row
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import update_session
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db
CASES = Path(__file__).parents[1] / "data" / "cases"


def rows(name):
    return json.loads((CASES / name).read_text())


def bring_in(project, given):
    found = [prepare_row(file_format=CHATGPT, found=Found(place, row)) for place, row in enumerate(given, 1)]
    return [import_row(project=project, file_format=CHATGPT, row=row, now=NOW) for row in found]


def outcomes(done):
    return [str(each.outcome) for each in done]


def lines_of(session):
    runs = lineage_runs(Session.objects.get(pk=session.pk)).with_events().order_by("position")
    return [event.text for run in runs for event in run.events.all()]


def forks_of(session):
    found = Session.objects.filter(root=session.root_id, forked_at__isnull=False).order_by("pk")
    return [(fork.forked_at, lines_of(fork)[-2:]) for fork in found]


def test_c28_every_branch_is_kept_and_only_the_newest_path_is_the_session():
    [done] = bring_in(make_project(), rows("C28-conversations.json"))

    session = done.session
    assert lines_of(session) == [
        "Draw up a menu.",
        "Soup, bread, pear tart.",
        "Without bread, please.",
        "Soup, pear tart.",
    ]
    assert forks_of(session) == [
        (0, ["Draw up a menu.", "Soup, bread."]),
        (1, ["Without soup, please.", "Bread, pear tart."]),
        (1, ["Soup, bread, pear tart.", "Without tart, please."]),
    ]
    assert done.detail == "Edited questions and other answers that became forks: 3."
    # Two runs of the session, one of each fork: what is shared is stored once.
    assert (Run.objects.count(), done.new_runs) == (5, 5)


def test_c28_importing_it_again_adds_nothing():
    project = make_project()
    bring_in(project, rows("C28-conversations.json"))
    [again] = bring_in(project, rows("C28-conversations.json"))
    assert (again.outcome, again.detail, again.new_runs) == ("unchanged", "", 0)
    assert (Session.objects.count(), Run.objects.count()) == (4, 5)


def test_c41_the_export_of_three_days():
    project, days = make_project(), [rows(f"C41-day{day}.json") for day in (1, 2, 3)]
    lines = [f"line {number}" for number in range(8)]

    assert outcomes(bring_in(project, days[0])) == ["imported"]
    assert outcomes(bring_in(project, days[0])) == ["unchanged"]
    talk = Session.objects.get()
    assert lines_of(talk) == lines[:4]
    update_session(session=talk, changes={"title": "My name"}, now=NOW)

    assert outcomes(bring_in(project, days[1])) == ["extended", "imported"]
    assert outcomes(bring_in(project, days[1])) == ["unchanged", "unchanged"]
    talk.refresh_from_db()
    assert (talk.title, talk.last_position, lines_of(talk)) == ("My name", 4, lines)

    [changed, *_] = bring_in(project, days[2])
    assert (changed.outcome, changed.new_runs) == ("extended", 1)
    assert lines_of(talk) == lines
    assert forks_of(talk) == [(3, ["line 5", "line 6 edited"])]
    assert outcomes(bring_in(project, days[2])) == ["unchanged"]

    assert outcomes(bring_in(project, days[0])) == ["unchanged"]
    assert (lines_of(talk), Session.objects.count()) == (lines, 3)
    assert outcomes(bring_in(make_project("other"), days[0])) == ["imported"]
    assert lines_of(talk) == lines


def test_a_deleted_session_comes_back_beside_its_forks_that_stayed():
    project = make_project()
    [done] = bring_in(project, rows("C28-conversations.json"))
    delete_session(session=done.session, now=NOW, children=Children.REPARENT)
    assert Session.objects.filter(parent=None).count() == 3

    [again] = bring_in(project, rows("C28-conversations.json"))

    assert (again.outcome, again.new_runs, forks_of(again.session)) == ("imported", 2, [])
    assert again.detail == "Forks that left this conversation, which stay as they are: 3."
    assert outcomes(bring_in(project, rows("C28-conversations.json"))) == ["unchanged"]
    assert Session.objects.count() == 4


def node(name, role, text, parent, *children):
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
    return {name: {"message": message, "parent": parent, "children": list(children)}}


def test_an_answer_that_comes_later_completes_its_run_and_another_one_is_a_fork_at_the_run_before():
    project = make_project()
    asked = node("q1", "user", "One?", None, "a1") | node("a1", "assistant", "1", "q1", "q2")
    asked |= node("q2", "user", "Two?", "a1", "a2", "b2")
    given = {"id": "c", "title": "T", "current_node": "q2", "mapping": asked}
    first = asked | {"q2": {**asked["q2"], "children": []}}
    assert outcomes(bring_in(project, [{**given, "mapping": first}])) == ["imported"]

    with_answer = asked | node("a2", "assistant", "2", "q2")
    assert outcomes(bring_in(project, [{**given, "mapping": with_answer}])) == ["extended"]
    with_both = with_answer | node("b2", "assistant", "two", "q2")
    [done] = bring_in(project, [{**given, "mapping": with_both, "current_node": "b2"}])

    assert (done.outcome, lines_of(done.session)) == ("extended", ["One?", "1", "Two?", "2"])
    assert forks_of(done.session) == [(1, ["Two?", "two"])]
    grown = {"q3": {**node("q3", "user", "Three?", "b2")["q3"]}}
    [more] = bring_in(project, [{**given, "mapping": with_both | grown, "current_node": "q3"}])
    assert (more.outcome, more.new_runs, forks_of(done.session)) == ("extended", 1, [(1, ["two", "Three?"])])


def test_a_session_that_went_on_here_is_reported_as_changed_and_nothing_is_written():
    project = make_project()
    [done] = bring_in(project, rows("C41-day1.json"))
    append_runs(session=done.session, runs=[prepared_run()], now=NOW)
    [again] = bring_in(project, rows("C41-day2.json")[:1])
    assert (again.outcome, again.session) == ("changed", done.session)
    assert Session.objects.count() == 1


def prepared_run():
    [row] = rows("C28-conversations.json")
    return CHATGPT.conversation(row).runs[0]


def test_a_tree_that_others_change_all_the_time_is_reported_and_rolled_back(monkeypatch):
    project = make_project()
    bring_in(project, rows("C41-day1.json"))
    monkeypatch.setattr(tree_imports, "extend", lambda *given: None)
    prepared = prepare_row(file_format=CHATGPT, found=Found(1, rows("C41-day2.json")[0])).conversation
    assert prepared is not None
    with pytest.raises(HistoryChanged, match="being changed by others"):
        tree_imports.import_tree(project=project, source="chatgpt", conversation=prepared, now=NOW)


def test_c24_what_is_hidden_is_not_in_the_prompt():
    bring_in(make_project(), rows("C24-conversations.json"))
    prompt = str(session_prompt(session=Session.objects.get()))
    assert ("Moss." in prompt, "Preferred tone" in prompt, "Something tiny" in prompt) == (True, False, False)


def test_c29_odd_times_and_titles_cost_nothing():
    done = bring_in(make_project(), rows("C29-conversations.json"))
    assert outcomes(done) == ["imported"] * 7
    titles = [each.session.title for each in done]
    assert (titles[0], titles[5]) == ("hello from c29a", "hello from c29f")
    began = {each.session.title: Session.objects.get(pk=each.session.pk).created_at for each in done}
    assert began["Milliseconds"].isoformat() == "2026-01-09T23:06:40.123000+00:00"
    assert began["Text time"].isoformat() == "2026-01-10T08:30:00+00:00"
    assert began["No time at all"] == NOW
