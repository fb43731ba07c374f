"""What templates would make of a session: the request that is really sent then, and a summary as prompts hold it."""

import pytest

from sessions_app.domain.errors import SummarizerFailed
from sessions_app.models import ProjectSummarizer
from sessions_app.services.project_summarizers import save_project_summarizer
from sessions_app.services.prompts import session_prompt
from sessions_app.services.sessions import fork_session
from sessions_app.services.summarizer_previews import preview_introduction, preview_request, sample_of
from sessions_app.services.summarizer_trials import try_endpoint
from tests.domain.recount import count_messages
from tests.factories import NOW, append_turns, make_owner, make_project, make_session
from tests.scripted_endpoint import Nothing, ScriptedEndpoint, Text
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db

REQUEST = "Sum up.\n{summary}\n{runs}"


@pytest.fixture
def endpoint(settings):
    with ScriptedEndpoint(Text("They spoke of the sea."), otherwise=Text("They spoke of the sea again.")) as endpoint:
        settings.CONVOWEB_ENDPOINTS, settings.CONVOWEB_ENDPOINT_KEYS = {"local": endpoint.url}, {}
        yield endpoint


def choose(project, **changes):
    values = {"name": "openai", "endpoint": "local", "model": "gpt-4.1-mini", "request_template": REQUEST}
    return save_project_summarizer(project=project, changes=values | changes, by=make_owner(project), now=NOW)


def previewed(session, chosen):
    return preview_request(sample=sample_of(project=session.project, session=session), chosen=chosen)


def test_the_request_that_is_shown_is_the_one_that_is_sent(endpoint):
    session = make_session(runs=9, settings=AT_ONCE)
    chosen = choose(session.project)
    shown = previewed(session, chosen)
    assert endpoint.asked == []
    advance_all(session)
    assert [asked.text for asked in endpoint.asked] == [shown.text]
    assert shown.tokens == count_messages(endpoint.asked[0].body["messages"], "o200k_base")
    assert shown.calls == 1


def test_so_is_the_next_one_behind_a_summary(endpoint):
    session = make_session(runs=9, settings=AT_ONCE)
    chosen = choose(session.project)
    advance_all(session)
    append_turns(session, 3)
    shown = previewed(session, chosen)
    assert "They spoke of the sea." in shown.text
    advance_all(session)
    assert endpoint.asked[1].text == shown.text


def test_runs_that_one_request_does_not_hold_take_several_calls(endpoint):
    session = make_session(settings=AT_ONCE | {"max_summary_tokens": 50})
    append_turns(session, 60)
    shown = previewed(session, choose(session.project, context_window=500))
    assert shown.calls > 1
    assert shown.tokens + 50 <= 500


def test_a_window_without_room_for_a_run_is_told(endpoint):
    session = make_session(runs=9, settings=AT_ONCE)
    with pytest.raises(SummarizerFailed, match="leaves no room for a run"):
        previewed(session, choose(session.project, context_window=100))


def test_runs_that_offset_keeps_out_are_shown_and_said_to_be(endpoint):
    session = make_session(runs=4)
    sample = sample_of(project=session.project, session=session)
    assert (sample.first, sample.last, sample.aged) == (1, 4, False)
    append_turns(session, 4)
    sample = sample_of(project=session.project, session=session)
    assert (sample.first, sample.last, sample.aged) == (1, 2, True)


def test_a_fork_shows_the_runs_that_it_shares(endpoint):
    session = make_session(runs=8)
    fork = fork_session(session=session, at=8, now=NOW, public_id="fork")
    assert sample_of(project=session.project, session=fork).first == 1


def test_where_everything_is_summarized_there_is_no_request_but_an_introduction(endpoint):
    session = make_session(runs=4, settings=AT_ONCE | {"offset": 0})
    choose(session.project)
    advance_all(session)
    sample = sample_of(project=session.project, session=session)
    assert not sample.runs
    assert preview_introduction(sample=sample, template="").shown.text == (
        "# Summary of runs 1-4\nThey spoke of the sea."
    )


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic", "gemini", "text", "seed"])
@pytest.mark.parametrize("template", ["", "Before:\n{summary}"])
def test_a_summary_is_shown_as_the_built_prompt_holds_it(endpoint, format, template):
    session = make_session(runs=9, settings=AT_ONCE | {"format": format})
    choose(session.project, summary_template=template)
    advance_all(session)
    shown = preview_introduction(sample=sample_of(project=session.project, session=session), template=template).shown
    prompt = session_prompt(session=session)
    messages = [message["content"] for message in prompt.messages or () if "content" in message]
    sent = prompt.text or prompt.system or messages[0]
    assert sent.startswith(shown.text)
    assert shown.tokens == prompt.tokens.summary


def test_the_example_is_there_for_a_project_without_sessions():
    project = make_project()
    sample = sample_of(project=project, session=None)
    chosen = ProjectSummarizer(project=project)
    assert "insulin" in preview_request(sample=sample, chosen=chosen).text.lower()
    assert "7731" in preview_introduction(sample=sample, template="").shown.text


def test_a_trial_waits_no_longer_than_its_timeout(settings):
    project = make_project()
    with ScriptedEndpoint(otherwise=Nothing()) as endpoint:
        settings.CONVOWEB_ENDPOINTS, settings.CONVOWEB_ENDPOINT_KEYS = {"local": endpoint.url}, {}
        chosen = ProjectSummarizer(project=project, endpoint="local", model="m", timeout_seconds=1)
        trial = try_endpoint(chosen=chosen, now=NOW)
    assert "did not answer within 1 s" in trial.error
    assert 900 < trial.milliseconds < 5_000


def test_a_trial_of_an_endpoint_that_is_not_listed_any_more_is_told(settings):
    settings.CONVOWEB_ENDPOINTS = {}
    chosen = ProjectSummarizer(project=make_project(), endpoint="gone", model="m")
    assert "lists no endpoint 'gone'" in try_endpoint(chosen=chosen, now=NOW).error
