import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.search_words import read_query
from sessions_app.domain.transcript import Event, EventKind, NewRun, ToolCall
from sessions_app.queries.search_hits import search_hits
from sessions_app.queries.session_filters import SessionFilter
from sessions_app.queries.sessions import session_page
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

BAG = read_query("bag")


def say(session, *texts):
    session.refresh_from_db()
    return append_runs(session=session, runs=[simple_turn(text, "I see") for text in texts], now=NOW)


def words(hit):
    return "".join(f"[{piece.text}]" if piece.hit else piece.text for piece in hit.pieces)


def test_the_first_and_the_newest_place_are_shown_with_their_positions_in_the_lineage():
    project = make_project()
    trip = make_session(project, "trip", runs=3)
    fork = make_session(project, "fork", parent=trip, forked_at=2)
    say(fork, "one bag", "a bag", "two bags", "none")
    hits = search_hits(BAG, project=project, session_pks=[trip.pk, fork.pk])
    assert list(hits) == [fork.pk]
    shown = [(hit.position, hit.speaker, words(hit)) for hit in hits[fork.pk].ends]
    assert shown == [(3, "user", "one [bag]"), (5, "user", "two [bags]")]
    assert hits[fork.pk].runs == 3


def test_of_tool_calls_and_a_single_message_both_runs_are_shown_and_of_two_messages_these():
    project = make_project()
    session = make_session(project)
    shelf = NewRun((Event(EventKind.TOOL_CALL, tool=ToolCall("c1", "look_up", "{}", "a bag on a shelf")),))
    append_runs(session=session, runs=[shelf, simple_turn("Where is my bag?", "Your bag is here")], now=NOW)
    hits = search_hits(BAG, project=project, session_pks=[session.pk])[session.pk]
    assert [(hit.position, hit.speaker) for hit in hits.ends] == [(1, "look_up"), (2, "user")]
    say(session, "My bag again")
    hits = search_hits(BAG, project=project, session_pks=[session.pk])[session.pk]
    assert [(hit.position, hit.speaker) for hit in hits.ends] == [(2, "user"), (3, "user")]


def test_a_hit_far_inside_a_long_message_is_shown_without_reading_on_forever():
    project = make_project()
    session = make_session(project)
    say(session, "word " * 10_000 + "my bag " + "word " * 100_000)
    [hit] = search_hits(BAG, project=project, session_pks=[session.pk])[session.pk].ends
    assert "my [bag] word" in words(hit)


def test_a_search_asks_and_reads_as_much_in_a_long_conversation_as_in_a_short_one():
    counts = []
    for length in (2, 2_000):
        project = make_project(f"p{length}")
        session = make_session(project)
        say(session, *["a bag"] * length)
        with CaptureQueriesContext(connection) as captured:
            page = session_page(project=project, wanted=SessionFilter(words="bag"), default_model="m", limit=25)
        hits = page.trees[0].rows[0].hits
        assert ([hit.position for hit in hits.ends], hits.runs) == ([1, length], length)
        counts.append(len(captured))
    assert counts[0] == counts[1]
