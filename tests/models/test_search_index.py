"""What is written is found, what is deleted is not, and no query breaks anything; on either database."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.search_words import read_query
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall
from sessions_app.models import Session, search_index
from sessions_app.models.search_index import TABLE, EventsFound, are_all_read, events_with, sessions_with
from sessions_app.models.search_remains import newest_remains
from sessions_app.services.runs import add_events, append_runs, change_run, set_result
from sessions_app.services.search_purge import purge_search_index
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session, update_session
from tests.factories import NOW, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def found(project, query):
    sessions = sessions_with(read_query(query), project_pk=project.pk)
    return sorted(sessions.values_list("public_id", flat=True))


def say(session, *texts):
    return append_runs(session=session, runs=[simple_turn(text, "I see") for text in texts], now=NOW)


def entries():
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {TABLE}")
        return cursor.fetchone()[0]


def call_of(result, **fields):
    return ToolCall("c1", "find_bag", '{"claim": "AB-12"}', result, **fields)


@pytest.fixture
def bags(project):
    session = make_session(project, "bags.1", title="Lost luggage, São Paulo")
    events = (
        Event(EventKind.MESSAGE, "Where is my suitcase?", Role.USER),
        Event(EventKind.MESSAGE, "", Role.ASSISTANT),
        Event(EventKind.TOOL_CALL, tool=call_of("rack seventeen", error="timed out"), parent=1),
        Event(EventKind.MESSAGE, "我的行李 is on its way.", Role.ASSISTANT),
    )
    append_runs(session=session, runs=[NewRun(events)], now=NOW)
    return session


@pytest.mark.parametrize(
    "query",
    [
        "suitcase",
        "SUITCASE?",
        "my suit",
        "luggage",
        "sao paulo",
        "bags.1",
        "bags",
        "find_bag",
        "ab-12",
        "seventeen",
        '"rack seventeen"',
        "timed",
        "行李",
        "way 行李",
    ],
)
def test_words_of_titles_ids_messages_and_tool_calls_are_found(project, bags, query):
    assert found(project, query) == ["bags.1"]


@pytest.mark.parametrize(
    "query",
    [
        "uitcase",
        "suitcases",
        '"suit"',
        '"seventeen rack"',
        "suitcase seventeen",
        "李行",
        "w",
        "",
        "*",
        "-suitcase luggage",
    ],
)
def test_what_does_not_stand_in_one_place_is_not(project, bags, query):
    assert found(project, query) == []


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'",
        '""',
        "suitcase AND",
        "suitcase OR",
        "NOT suitcase",
        "NEAR(suitcase way)",
        "words:suitcase",
        "project : p1",
        "suitcase*",
        "^suitcase",
        "suitcase & !way | x:*",
        "suitcase <-> way",
        "\\",
        "\\'suitcase\\",
        "%_%",
        "(((((",
        "\0suitcase\0",
        "suitcase " * 2000,
        "x" * 10_000,
        "\N{ZERO WIDTH JOINER}👍🏽",
        "\ud800",
    ],
)
def test_no_query_is_an_error(project, bags, query):
    assert set(found(project, query)) <= {"bags.1"}
    are_all_read(read_query(query + " suitcase"), project_pk=project.pk)
    events_with(read_query(query + " suitcase"), project_pk=project.pk, session_pks=[bags.pk])


def test_nothing_of_another_project_is_found(project, bags):
    other = make_project("other")
    make_session(other, "theirs", title="suitcase")
    assert found(project, "suitcase") == ["bags.1"]
    assert found(other, "suitcase") == ["theirs"]
    assert found(other, f"p{project.pk}") == []


def test_an_open_run_is_found_as_it_grows(project):
    session = make_session(project)
    run = make_open_run(session, "first question")
    add_events(run=run, events=[Event(EventKind.MESSAGE, "looking", Role.ASSISTANT)], now=NOW)
    [call] = add_events(run=run, events=[Event(EventKind.TOOL_CALL, tool=call_of(None))], now=NOW)
    assert [found(project, query) for query in ("first", "looking", "claim", "shelf")] == [["s"], ["s"], ["s"], []]
    set_result(event=call, result="on a shelf", now=NOW)
    change_run(run=run, status=RunStatus.COMPLETED, output="Delivered tomorrow", now=NOW)
    assert [found(project, query) for query in ("shelf", "delivered")] == [["s"], ["s"]]


def test_a_new_title_replaces_the_old_one(project):
    session = make_session(project, title="Lost bag")
    update_session(session=session, changes={"title": "Found trunk"}, now=NOW)
    assert (found(project, "lost"), found(project, "trunk")) == ([], ["s"])


def test_shared_runs_are_found_in_the_session_that_holds_them_also_after_it_is_deleted(project):
    session = make_session(project, "origin")
    say(session, "shared words", "own words")
    session.refresh_from_db()
    first, second = (fork_session(session=session, at=1, now=NOW, public_id=name) for name in ("one", "two"))
    assert found(project, "shared") == ["origin"]
    session.refresh_from_db()
    delete_session(session=session, children=Children.REPARENT, now=NOW)
    assert found(project, "shared") == ["one", "two"]
    assert found(project, "own") == []
    assert {first.title, second.title} == {""}


def test_nothing_is_left_of_what_is_deleted(project, bags):
    kept = make_session(project, "kept")
    say(kept, "umbrella")
    before = entries()
    child = make_session(project, "zzqchild", parent=bags, title="zzqtitle")
    say(child, "zzqmessage")
    delete_session(session=child, now=NOW)
    assert entries() == before
    assert [found(project, word) for word in ("zzqmessage", "zzqtitle", "zzqchild")] == [[], [], []]
    bags.refresh_from_db()
    delete_session(session=bags, now=NOW)
    assert entries() == 3  # the title, the question and the answer of what is kept
    assert found(project, "umbrella") == ["kept"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: PostgreSQL cleans up by itself")
def test_not_even_words_of_what_is_deleted_stay_in_the_file(project):
    doomed = make_session(project, "doomed")
    say(doomed, "zzqsecret")
    for n in range(20):
        say(make_session(project, f"s{n}"), f"umbrella {n}")
    assert not purge_search_index()
    doomed.refresh_from_db()
    delete_session(session=doomed, now=NOW)
    assert words_in_the_file("zqsecret")
    assert purge_search_index()
    assert not words_in_the_file("zqsecret")
    assert newest_remains() == 0
    assert len(found(project, "umbrella")) == 20


def words_in_the_file(word):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {TABLE}_data WHERE instr(block, %s)", [word.encode()])
        return cursor.fetchone()[0]


def test_a_huge_text_of_few_or_many_words_is_indexed(project):
    session = make_session(project)
    say(session, "\N{FACE WITH TEARS OF JOY}" * 300_000, "word " * 100_000, "x" * 2_000_000)
    say(session, " ".join(chr(0x20000 + n) + "\U0001f600" * 62 for n in range(16_000)))
    assert found(project, "word") == ["s"]
    assert found(project, "x" * 80) == ["s"]
    assert found(project, chr(0x20000)) == ["s"]


def test_the_first_and_the_newest_event_of_each_session_are_told_and_in_how_many_runs_such_stand(project):
    one, other, silent = (make_session(project, name) for name in ("one", "other", "silent"))
    runs = say(one, "a bag", "a bag, said I", "two bags", "a trunk")
    say(other, "no bag")
    found = events_with(read_query("bag"), project_pk=project.pk, session_pks=[one.pk, silent.pk])
    first, newest = runs[0].events.get(index=0).pk, runs[2].events.get(index=0).pk
    assert found == {one.pk: EventsFound(first, newest, first, newest, runs=3)}
    assert events_with(read_query("bag"), project_pk=project.pk, session_pks=[]) == {}


def test_messages_are_told_beside_tool_calls(project):
    session = make_session(project)
    [run] = say(session, "a bag")
    call = Event(EventKind.TOOL_CALL, tool=call_of("a bag on a shelf"))
    [other] = append_runs(session=session, runs=[NewRun((call,))], now=NOW)
    message, newest = run.events.get(index=0).pk, other.events.get(index=0).pk
    found = events_with(read_query("bag"), project_pk=project.pk, session_pks=[session.pk])
    assert found == {session.pk: EventsFound(message, newest, message, message, runs=2)}
    assert list(events_with(read_query("shelf"), project_pk=project.pk, session_pks=[session.pk])) == [session.pk]


def test_of_common_words_only_the_newest_places_are_read(project, monkeypatch):
    for n in range(5):
        say(make_session(project, f"s{n}", title="titled"), "common word")
    assert are_all_read(read_query("common"), project_pk=project.pk)
    monkeypatch.setattr(search_index, "PLACES_READ", 3)
    assert found(project, "common") == ["s2", "s3", "s4"]
    assert found(project, "titled") == ["s2", "s3", "s4"]
    assert not are_all_read(read_query("common"), project_pk=project.pk)
    assert are_all_read(read_query("rare"), project_pk=project.pk)


def test_the_migration_indexes_what_is_there_in_batches(project, bags, monkeypatch):
    other = make_project("other")
    for n in range(3):
        say(make_session(other, f"o{n}"), "bottle", "bag")
    before = entries()
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE}")
    migration = import_module("sessions_app.migrations.0012_search_index")
    monkeypatch.setattr(migration, "AT_ONCE", 2)

    for _ in range(2):
        migration.bring_in_what_is_there(apps, None)

    assert entries() == before
    assert found(project, "suitcase") == ["bags.1"]
    assert found(other, "bottle") == ["o0", "o1", "o2"]
    assert Session.objects.count() == 4
