"""How the page of a session shows what was said: laid out, as it was written, and never as anything that runs."""

import json
from pathlib import Path

import pytest
from django.utils.html import escape

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall
from sessions_app.models import Summary
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
PAYLOADS = json.loads((Path(__file__).parents[1] / "data/cases/C47-html-in-messages.json").read_text())["input"][
    "payloads"
]
MADE_FROM_TEXT = (
    "<script>window",
    "<img",
    "<svg/",
    "<iframe",
    "<style>body",
    "<base",
    '<form action="https:',
    '<a href="https://ok',
)


def page(client, query="", **headers):
    response = client.get(f"/p/p/sessions/s/{query}", headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def called(name="look", arguments='{"a": [1, 2]}', result='{"b": "c"}'):
    return NewRun(
        (
            Event(EventKind.MESSAGE, "Look.", Role.USER),
            Event(EventKind.MESSAGE, "", Role.ASSISTANT),
            Event(EventKind.TOOL_CALL, tool=ToolCall("c1", name, arguments, result), parent=1),
            Event(EventKind.MESSAGE, "I looked.", Role.ASSISTANT),
        )
    )


@pytest.fixture
def session(project):
    return make_session(project, settings={"strategy": "buffer"})


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("query", ["", "?view=raw", "?find=window", "?find=collector"])
def test_whatever_a_conversation_holds_is_shown_as_text(client, project, payload, query):
    session = make_session(
        project, title=payload, instructions=payload, user_id=payload, tags=[payload], metadata={payload: payload}
    )
    turns = [simple_turn(payload, payload), called(payload, payload, payload)]
    append_runs(session=session, runs=turns, now=NOW)
    summary = Summary.objects.create(
        session=session, number=1, covers_through=1, status="completed", text=payload, summarizer="x", created_at=NOW
    )
    session.summary = summary
    session.save()
    shown = page(client, query)
    for made in MADE_FROM_TEXT:
        assert made not in shown
    assert "javascript:window" not in [part.split('"')[0] for part in shown.split('href="')]
    assert "{{ 7*7 }}" in shown or "7*7" not in payload


def test_markdown_is_laid_out_and_raw_shows_it_as_it_was_written(client, session):
    text = "**Two** flights:\n\n- HX 420"
    append_runs(session=session, runs=[simple_turn("Which?", text)], now=NOW)
    laid_out, raw = page(client), page(client, "?view=raw")
    assert "<strong>Two</strong> flights:" in laid_out
    assert text in raw
    assert "<strong>Two" not in raw


def test_raw_stays_in_the_links_of_the_page(client, session):
    append_runs(session=session, runs=[simple_turn("a", "b")] * 50, now=NOW)
    shown = page(client, "?view=raw")
    assert 'href="/p/p/sessions/s/?run=50&amp;view=raw#run-50"' in shown
    assert "/p/p/sessions/s/?show=&amp;from=1&amp;to=10&amp;view=raw" in shown
    assert "/p/p/sessions/s/?show=kept&amp;view=raw" in shown
    assert "/p/p/sessions/s/?strip=1&amp;view=raw" in shown
    assert "?from=50&amp;to=50&amp;view=raw" in escape(page(client, "?strip=1&view=raw", **HTMX)).replace(
        "&amp;amp;", "&amp;"
    )


def test_one_run_is_shown_as_it_was_written_by_a_swap(client, session):
    append_runs(session=session, runs=[simple_turn("*a*", "b")], now=NOW)
    swapped = page(client, "?from=1&to=1&whole=1&view=raw", **HTMX)
    assert ">*a*<" in swapped
    assert "<em>" not in swapped


def test_tool_calls_are_closed_with_json_laid_out_and_raw_exactly_as_given(client, session):
    arguments = '{"city":"Lisbon","nights":7,"guests":4}'
    append_runs(session=session, runs=[called(arguments=arguments, result="no JSON <b>")], now=NOW)
    laid_out, raw = page(client), page(client, "?view=raw")
    assert '<details class="tool" id="call-' in laid_out
    assert " open>" not in laid_out
    assert '<span class="j-k">&quot;city&quot;</span>: <span class="j-s">&quot;Lisbon&quot;</span>' in laid_out
    assert "no JSON &lt;b&gt;" in laid_out
    assert escape(arguments) in raw


def test_a_long_call_is_asked_for_when_it_is_opened_and_stands_whole_in_the_whole_run(client, session):
    result = json.dumps(["word"] * 2_000)
    append_runs(session=session, runs=[called(result=result)], now=NOW)
    call = session.runs.get().events.get(kind="tool_call")
    shown = page(client)
    address = f"/p/p/sessions/s/calls/{call.pk}/"
    assert f'hx-get="{address}?" hx-trigger="toggle once"' in shown
    assert shown.count("word") < 100
    opened = client.get(f"{address}?view=raw", headers=HTMX).content.decode()
    assert escape(result) in opened
    plain = client.get(address)
    assert plain["Location"] == "/p/p/sessions/s/?run=1&whole=1#run-1"
    assert page(client, "?run=1&whole=1").count("word") > 2_000


def test_a_call_of_another_session_or_project_does_not_exist_here(client, session):
    other = make_session(make_project("strangers"), "theirs")
    append_runs(session=other, runs=[called()], now=NOW)
    call = other.runs.get().events.get(kind="tool_call")
    for address in (f"/p/p/sessions/s/calls/{call.pk}/", f"/p/strangers/sessions/theirs/calls/{call.pk}/"):
        assert client.get(address, headers=HTMX).status_code == 404
    assert client.get(f"/p/p/sessions/s/calls/{'9' * 30}/", headers=HTMX).status_code == 404


def test_a_page_of_long_texts_lays_out_only_so_much_and_says_so(client, session):
    long = "**bold** " * 600
    append_runs(session=session, runs=[simple_turn(long, long)] * 20, now=NOW)
    shown = page(client)
    assert 0 < shown.count('<div class="txt md">') < 40
    assert "a page lays out only so much Markdown" in shown


def test_a_text_of_a_megabyte_stays_plain(client, session):
    append_runs(session=session, runs=[simple_turn("**b** [" * 150_000, "ok")], now=NOW)
    shown = page(client, "?run=1&whole=1")
    assert "<strong>b" not in shown
    assert "as it was written" in shown
