"""The settings page of a project's summarizer: what it shows, what it refuses, what it saves."""

import html
import re
from decimal import Decimal

import pytest
from pydantic import SecretStr

from sessions_app.domain.summarizers.templates import BUILT_IN_REQUEST
from sessions_app.models import ProjectSummarizer
from tests.factories import make_project, make_session
from tests.scripted_endpoint import ScriptedEndpoint, Status, Text
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db

PAGE = "/p/p/settings/summarizer/"
SECRET = "sk-never-to-be-shown"
REQUEST = "Sum up.\n{summary}\n{runs}"


@pytest.fixture(autouse=True)
def endpoints(settings):
    settings.CONVOWEB_ENDPOINTS = {"local": "http://127.0.0.1:9/v1", "other-one": "https://models.example/v1"}
    settings.CONVOWEB_ENDPOINT_KEYS = {"local": SecretStr(SECRET)}


def form(**changes):
    return {
        "name": "extractive",
        "endpoint": "",
        "model": "",
        "timeout_seconds": "60",
        "context_window": "",
        "input_price": "",
        "output_price": "",
        "request_template": BUILT_IN_REQUEST.replace("\n", "\r\n"),
        "summary_template": "",
    } | changes


def asking(**changes):
    return form(**{"name": "openai", "endpoint": "local", "model": "gpt-4.1-mini"} | changes)


def words_of(answer):
    """Return what an answer says, whitespace folded."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def previewed(client, target, **changes):
    address = f"{PAGE}preview/"
    return client.post(address, asking(**changes), HTTP_HX_REQUEST="true", HTTP_HX_TARGET=target)


def test_it_is_the_offline_summarizer_until_another_is_chosen(client, project):
    page = client.get(PAGE)
    assert page.status_code == 200
    assert re.search(r'value="extractive"[^>]* checked', page.content.decode())
    assert BUILT_IN_REQUEST in html.unescape(page.content.decode())
    assert not ProjectSummarizer.objects.exists()


@pytest.mark.parametrize("address", [PAGE, f"{PAGE}preview/", f"{PAGE}test/"])
def test_others_find_no_such_page(client, project, address):
    make_project("q")
    assert client.get(address.replace("/p/p/", "/p/q/")).status_code == 404
    assert client.post(address.replace("/p/p/", "/p/q/"), form()).status_code == 404
    client.logout()
    assert client.get(address).status_code == 302


def test_it_saves_what_is_sent_and_says_what_follows(client, project):
    answer = client.post(
        PAGE,
        asking(
            context_window="8,192",
            input_price="0.15",
            output_price="0.6",
            timeout_seconds="20",
            request_template="Sum up.\r\n{summary}\r\n{runs}\r\n",
            summary_template="Before: {summary}",
        ),
        follow=True,
    )
    assert "those that exist stay as they are. Next prompts introduce them as you wrote." in words_of(answer)
    chosen = ProjectSummarizer.objects.get()
    assert (chosen.name, chosen.endpoint, chosen.model) == ("openai", "local", "gpt-4.1-mini")
    assert (chosen.timeout_seconds, chosen.context_window) == (20, 8192)
    assert (chosen.input_price, chosen.output_price) == (Decimal("0.15"), Decimal("0.6"))
    assert (chosen.request_template, chosen.summary_template) == (REQUEST, "Before: {summary}")
    page = html.unescape(client.get(PAGE).content.decode())
    assert f"{REQUEST}</textarea>" in page
    assert 'value="8192"' in page


def test_the_built_in_request_is_not_stored_as_one_of_the_projects_own(client, project):
    client.post(PAGE, form())
    assert ProjectSummarizer.objects.get().request_template == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"endpoint": "elsewhere"}, "endpoint must be one of local, other-one."),
        ({"endpoint": ""}, "endpoint must be one of local, other-one."),
        ({"model": " "}, "model must be named for this summarizer."),
        ({"model": "../x"}, "The name of a model is 1-200 characters"),
        ({"timeout_seconds": "0"}, "timeout must be a whole number from 1 to 600."),
        ({"timeout_seconds": ""}, "timeout must be a whole number from 1 to 600."),
        ({"context_window": "many"}, "context window must be a whole number from 1 to 2,147,483,647."),
        ({"input_price": "-1"}, "input price must be a number of USD from 0 to 999,999"),
        ({"output_price": "0.0000001"}, "output price must be a number of USD from 0 to 999,999"),
        ({"name": "psychic"}, "summarizer must be one of extractive, openai."),
        ({"request_template": "{summary}\n{run}"}, "Line 2: {run} is unknown; this template knows {summary} and"),
        ({"request_template": "{summary}"}, "{runs} is missing."),
        ({"summary_template": "Before:"}, "{summary} is missing."),
        ({"summary_template": "{summary} {runs}"}, "Line 1: {runs} is unknown; this template knows {summary}."),
    ],
)
def test_what_is_not_in_order_is_named_at_its_field_and_nothing_is_saved(client, project, changes, said):
    answer = client.post(PAGE, asking(**changes))
    assert answer.status_code == 422
    assert said in words_of(answer)
    assert not ProjectSummarizer.objects.exists()


def test_a_value_that_was_refused_still_stands_in_its_field(client, project):
    page = client.post(PAGE, asking(timeout_seconds="soon", summary_template="Before:")).content.decode()
    assert 'value="soon"' in page
    assert "Before:</textarea>" in page


def test_an_endpoint_that_the_operator_took_away_is_named_and_cannot_be_saved_again(client, project):
    ProjectSummarizer.objects.create(project=project, name="openai", endpoint="gone", model="m")
    assert "gone is not in the list any more." in words_of(client.get(PAGE))
    assert client.post(PAGE, asking(endpoint="gone")).status_code == 422


def test_keys_are_told_to_be_set_or_not_and_never_shown(client, project):
    page = client.get(PAGE)
    assert "local CONVOWEB_ENDPOINT_KEY_LOCAL set" in words_of(page)
    assert "other-one CONVOWEB_ENDPOINT_KEY_OTHER_ONE not set" in words_of(page)
    assert SECRET not in page.content.decode()
    assert "models.example" not in page.content.decode()


def test_without_endpoints_it_says_how_to_set_one_up(client, project, settings):
    settings.CONVOWEB_ENDPOINTS, settings.CONVOWEB_ENDPOINT_KEYS = {}, {}
    page = words_of(client.get(PAGE))
    assert "No endpoint is set up" in page
    assert "CONVOWEB_ENDPOINTS=" in page
    assert "Test the endpoint" not in page.split("One tiny call")[1]
    assert "endpoint cannot be chosen: none is set up." in words_of(client.post(PAGE, asking()))


def test_it_knows_window_and_prices_of_a_model_from_the_tables(client, project):
    facts = previewed(client, "facts", model="gpt-4.1-mini").content.decode()
    placeholders = re.findall(r'name="(\w+)"[^>]*placeholder="([^"]*)"', facts)
    assert placeholders == [("context_window", "1,047,576"), ("input_price", "0.4"), ("output_price", "1.6")]
    assert '<option value="gpt-4.1-mini">' in facts
    assert facts.lstrip().startswith("<fieldset")


def test_the_request_is_shown_as_it_would_be_sent_with_its_tokens(client, project):
    session = make_session(project, runs=9, settings=AT_ONCE)
    advance_all(session)
    asked = previewed(client, "asked", request_template=REQUEST, sample="s")
    said = words_of(asked)
    first = session.summary.covers_through + 1
    assert f"question {first}" in said
    assert "question 1 " not in said.split("Sum up.")[0]
    assert "behind summary #" in said
    assert re.search(r"[1-9]\d* tokens", said)
    # The beginning of the SHA-256 of the template, by sha256sum.
    assert "template 7cf6f6068a1e" in said
    assert asked.content.decode().lstrip().startswith("<div")


def test_a_broken_request_says_where_beside_its_field_and_shows_no_request(client, project):
    make_session(project, runs=9)
    said = words_of(previewed(client, "asked", request_template="{summary}\n\n{runs} {user}"))
    assert "Line 3: {user} is unknown" in said
    assert "tokens" not in said


def test_a_window_that_is_too_small_says_so_in_place_of_the_request(client, project):
    make_session(project, runs=9)
    assert "The window of 300 tokens of gpt-4.1-mini leaves no room" in words_of(
        previewed(client, "asked", context_window="300")
    )


def test_a_summary_is_shown_as_it_would_stand_in_a_prompt(client, project):
    session = make_session(project, runs=9, settings=AT_ONCE)
    advance_all(session)
    said = html.unescape(previewed(client, "stands", summary_template="Before:\n{summary}").content.decode())
    assert f"Before:\n{session.summary.text}</pre>" in said
    assert "with the built-in heading" in said


def test_a_session_without_a_summary_shows_an_extract(client, project):
    make_session(project, runs=3)
    assert "there is no summary yet, an extract stands in" in words_of(previewed(client, "stands"))


def test_without_sessions_the_built_in_example_is_shown(client, project):
    page = words_of(client.get(PAGE))
    assert "claim is 7731" in page
    assert "The example" in page


def test_a_session_of_another_project_is_no_sample(client, project):
    make_session(make_project("q"), "theirs", runs=3)
    assert "question 1" not in words_of(previewed(client, "templates", sample="theirs"))


def test_what_people_said_is_only_text(client, project):
    session = make_session(project, runs=9, settings=AT_ONCE, title="<script>alert(1)</script>")
    advance_all(session)
    assert "<script>alert" not in client.get(PAGE).content.decode()
    assert "<b>bold" not in previewed(client, "stands", summary_template="<b>bold</b> {summary}").content.decode()


def test_the_whole_page_comes_back_without_htmx_with_what_was_sent(client, project):
    make_session(project, runs=9)
    page = client.post(f"{PAGE}preview/", asking(summary_template="Before: {summary}"))
    assert page.status_code == 200
    assert "<h1" in page.content.decode()
    assert "Before: {summary}</textarea>" in page.content.decode()
    assert not ProjectSummarizer.objects.exists()


@pytest.mark.parametrize("path", ["preview/", "test/"])
def test_an_address_that_is_only_posted_to_leads_to_the_page(client, project, path):
    assert client.get(PAGE + path).headers["Location"] == PAGE


def tried(client, **changes):
    answer = client.post(f"{PAGE}test/", asking(**changes), HTTP_HX_REQUEST="true", HTTP_HX_TARGET="trial")
    assert answer.status_code == 200
    return words_of(answer)


def test_trying_shows_the_answer_its_tokens_and_what_it_cost(client, project, settings):
    with ScriptedEndpoint(Text("ready", usage=(11, 2))) as endpoint:
        settings.CONVOWEB_ENDPOINTS = {"local": endpoint.url}
        said = tried(client, input_price="1000", output_price="2000")
        assert [asked.headers["authorization"] for asked in endpoint.asked] == [f"Bearer {SECRET}"]
    assert "It answered in" in said
    assert "ready Tokens asked 11 Tokens answered 2 Cost $0.0150" in said
    assert not ProjectSummarizer.objects.exists()


def test_what_trying_costs_is_unknown_without_a_price(client, project, settings):
    with ScriptedEndpoint(Text("ready", usage=(11, 2))) as endpoint:
        settings.CONVOWEB_ENDPOINTS = {"local": endpoint.url}
        assert "Cost unknown: no price" in tried(client, model="somebody/unheard-of")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Status(401, f"wrong key {SECRET}"), "CONVOWEB_ENDPOINT_KEY_LOCAL is not accepted"),
        (Status(404, "no such model"), "answered 404: no such model"),
        (Text(""), "It answered, but with an empty text."),
    ],
)
def test_a_refusal_is_told_in_plain_words_without_the_key(client, project, settings, answer, said):
    with ScriptedEndpoint(answer) as endpoint:
        settings.CONVOWEB_ENDPOINTS = {"local": endpoint.url}
        shown = tried(client)
    assert said in shown
    assert SECRET not in shown


def test_an_endpoint_that_is_not_there_is_told_so(client, project):
    assert "No answer" in tried(client)
    assert "cannot be reached" in tried(client)


def test_without_an_endpoint_or_a_model_there_is_nothing_to_try(client, project):
    assert "Choose an endpoint and name a model first." in tried(client, name="extractive", endpoint="")
    assert "Choose an endpoint and name a model first." in tried(client, name="extractive", model="")
    assert "endpoint must be one of local, other-one." in tried(client, endpoint="elsewhere")
