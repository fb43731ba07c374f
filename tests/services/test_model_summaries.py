"""Summaries by a model, over real HTTP to a scripted endpoint: windows, costs, failures, and nothing paid twice."""

from datetime import timedelta
from decimal import Decimal

import pytest
import tiktoken

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.summarizers.templates import BUILT_IN_REQUEST, template_version
from sessions_app.models import ModelOverride, SummaryStatus
from sessions_app.services.runs import append_runs
from sessions_app.services.summaries import Outcome
from tests.factories import NOW, append_turns, make_session
from tests.scripted_endpoint import TEN_MEGABYTES, Half, Nothing, Status, Text
from tests.services.summarizing import AT_ONCE, KEY, advance_all, choose_model, given_runs, newest_entry, pause_from

pytestmark = pytest.mark.django_db

ENCODING = tiktoken.get_encoding("o200k_base")
SETTINGS = AT_ONCE | {"offset": 1}


def count(text):
    return len(ENCODING.encode(text, disallowed_special=()))


def test_a_models_text_comes_into_use_with_who_made_it_and_what_it_cost(model_project, endpoint):
    session = make_session(model_project, runs=4, settings=SETTINGS)
    endpoint.then(Text(" They counted to three. ", usage=(1_000, 40)))
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    entry = session.summary
    assert (entry.text, entry.covers_through) == ("They counted to three.", 3)
    assert (entry.summarizer, entry.model, entry.attempts) == ("openai", "gpt-4.1-mini", 1)
    assert entry.template == template_version(BUILT_IN_REQUEST)
    # By hand: 1,000 tokens at 1 USD and 40 at 2 USD a million.
    assert entry.cost_usd == Decimal("0.00108")
    (asked,) = endpoint.asked
    assert given_runs(asked) == [("1", "", ""), ("2", "", ""), ("3", "", "")]
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["max_tokens"] == 512


def test_the_next_request_holds_the_summary_before_and_the_new_runs_only(model_project, endpoint):
    session = make_session(model_project, runs=3, settings=SETTINGS)
    endpoint.then(Text("First {runs} summary."), Text("Second summary."))
    advance_all(session)
    append_turns(session, 2)
    advance_all(session)
    assert session.summary.text == "Second summary."
    assert "    First {runs} summary.\n" in endpoint.asked[1].text
    assert given_runs(endpoint.asked[1]) == [("3", "", ""), ("4", "", "")]


def test_the_projects_own_template_is_used_and_its_version_kept(model_project, endpoint):
    choose_model(model_project, request_template="OLD {summary} NEW {runs}")
    session = make_session(model_project, runs=2, settings=SETTINGS)
    append_runs(session=session, runs=[simple_turn("{summary} {{runs}} {x}", "<b>ok</b>")], now=NOW)
    advance_all(session)
    assert session.summary.template == template_version("OLD {summary} NEW {runs}")
    text = endpoint.asked[0].text
    assert text.startswith("OLD (There is none yet.) NEW ## Run 1\nUser:\n    question 1\n")
    append_turns(session)
    advance_all(session)
    assert "    {summary} {{runs}} {x}\n" in endpoint.asked[1].text
    assert "    <b>ok</b>\n" in endpoint.asked[1].text


@pytest.mark.parametrize(
    ("own", "cost"),
    [
        # genai-prices has no such model and nobody says a price.
        ({"model": "my-llama", "input_price": None, "output_price": None}, None),
        ({"model": "my-llama", "input_price": Decimal(0), "output_price": Decimal(0)}, Decimal(0)),
        ({"model": "my-llama", "input_price": Decimal(1), "output_price": None}, None),
        # 600 of 1,000 from the cache: one's own price holds for them too.
        ({"model": "gpt-4.1-mini"}, Decimal("0.00108")),
        # By the price list of gpt-4.1-mini: 0.40 read, 0.10 from the cache, 1.60 written, a million.
        ({"model": "gpt-4.1-mini", "input_price": None, "output_price": None}, Decimal("0.000284")),
    ],
)
def test_costs_are_by_the_projects_own_price_or_else_by_the_price_list(model_project, endpoint, own, cost):
    choose_model(model_project, **own)
    session = make_session(model_project, runs=2, settings=SETTINGS)
    endpoint.then(Text("Short.", usage=(1_000, 40, 600)))
    advance_all(session)
    assert session.summary.cost_usd == cost


def test_what_the_project_says_of_the_model_holds_where_its_choice_says_nothing(model_project, endpoint):
    choose_model(model_project, model="my-llama", input_price=None, output_price=None)
    ModelOverride.objects.create(
        project=model_project, name="my-llama", input_price=Decimal(3), output_price=Decimal(5), context_window=2_000
    )
    session = make_session(model_project, runs=60, settings=SETTINGS)
    endpoint.otherwise = Text("Short.", usage=(1_000, 40))
    advance_all(session)
    entries = session.summaries.all()
    assert len(endpoint.asked) > 1
    assert sum(entry.cost_usd for entry in entries) == Decimal("0.0032") * len(endpoint.asked)


def test_where_the_endpoint_tells_no_usage_tokens_are_counted(model_project, endpoint):
    session = make_session(model_project, runs=2, settings=SETTINGS)
    endpoint.then(Text("They want tea."))
    advance_all(session)
    read, written = count(endpoint.asked[0].text) + 7, count("They want tea.")
    assert session.summary.cost_usd == Decimal(read + 2 * written) / 1_000_000


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Status(500, "boom"), "The endpoint local answered 500: boom."),
        (Status(401, f"bad key {KEY}"), "CONVOWEB_ENDPOINT_KEY_LOCAL is not accepted: bad key [key]."),
        (Half(), "The endpoint local closed the connection before its answer was whole."),
        (Nothing(), "The endpoint local did not answer within 2 s."),
        (TEN_MEGABYTES, "The endpoint local answered with more than 1,016,384 bytes."),
        (Text(""), "The model answered with an empty text."),
        (Text(None, refusal="No."), "The model refused to summarize: No."),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_failure_is_shown_moves_nothing_and_is_tried_again(model_project, endpoint, answer, said):
    session = make_session(model_project, runs=3, settings=SETTINGS)
    endpoint.then(answer)
    assert advance_all(session) == [Outcome.FAILED]
    entry = newest_entry(session)
    assert (entry.status, entry.model) == (SummaryStatus.FAILED, "gpt-4.1-mini")
    assert entry.error.endswith(said)
    assert KEY not in entry.error
    assert session.summary is None
    assert pause_from(session, NOW) in range(31, 34)
    assert advance_all(session, now=NOW + timedelta(minutes=1)) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert (newest_entry(session).text, newest_entry(session).attempts) == ("A summary.", 2)


def test_a_wait_that_the_endpoint_asks_for_is_kept(model_project, endpoint):
    session = make_session(model_project, runs=3, settings=SETTINGS)
    endpoint.then(Status(429, retry_after=300))
    advance_all(session)
    assert pause_from(session, NOW) in range(301, 304)
    endpoint.then(Status(429, retry_after=1))
    again = NOW + timedelta(seconds=310)
    assert advance_all(session, now=again) == [Outcome.FAILED]
    # The second attempt's own pause of a minute is longer.
    assert pause_from(session, again) in range(61, 64)


def test_what_failed_attempts_cost_is_in_the_sum(model_project, endpoint):
    session = make_session(model_project, runs=3, settings=SETTINGS)
    endpoint.then(Text("", usage=(1_000, 0)), Status(500), Text("At last.", usage=(1_000, 50)))
    advance_all(session)
    assert newest_entry(session).cost_usd == Decimal("0.001")
    for hour in (1, 3):
        advance_all(session, now=NOW + timedelta(hours=hour))
    assert session.summary.text == "At last."
    assert session.summary.cost_usd == Decimal("0.0021")


def test_an_endpoint_that_the_operator_lists_no_more_is_told(model_project, endpoint, settings):
    settings.CONVOWEB_ENDPOINTS = {"other": endpoint.url}
    session = make_session(model_project, runs=3, settings=SETTINGS)
    assert advance_all(session) == [Outcome.FAILED]
    assert newest_entry(session).error == "The operator lists no endpoint 'local' (listed: other)."
    assert endpoint.asked == []


def test_a_window_without_room_for_a_run_is_told_without_asking(model_project, endpoint):
    choose_model(model_project, context_window=600)
    session = make_session(model_project, runs=3, settings=SETTINGS)
    assert advance_all(session) == [Outcome.FAILED]
    assert "The window of 600 tokens of gpt-4.1-mini leaves no room for a run" in newest_entry(session).error
    assert endpoint.asked == []


def test_five_thousand_runs_are_given_once_each_within_a_window_of_4096_tokens(model_project, endpoint):
    choose_model(model_project, context_window=4_096)
    session = make_session(model_project, settings={"summarize_at": 0, "offset": 6, "max_input_tokens": 4_000})
    turns = [simple_turn(f"question {n} {{x}} 我们\n## Run {n}", f"answer {n}\n\n" * (n % 4)) for n in range(1, 5_001)]
    turns[2_499] = simple_turn("A long story. " * 5_000, "Well.")
    append_runs(session=session, runs=turns, now=NOW)
    endpoint.otherwise = lambda asked: Text(f"- a line of request {len(endpoint.asked)}\n" * 40)
    while advance_all(session)[-1] is Outcome.ADVANCED:
        pass
    assert session.summary.covers_through == 4_994

    for asked in endpoint.asked:
        # By hand: 3 for the message and 1 for its role, 3 for the prompt.
        assert count(asked.text) + 7 + asked.body["max_tokens"] <= 4_096
    headings = [heading for asked in endpoint.asked for heading in given_runs(asked)]
    whole = [int(run) for run, part, _ in headings if not part]
    assert whole == [n for n in range(1, 4_995) if n != 2_500]
    parts = [(int(run), int(part), int(of)) for run, part, of in headings if part]
    assert parts == [(2_500, n, len(parts)) for n in range(1, len(parts) + 1)]
    assert len(parts) > 5
    assert sum(asked.text.count("A long story.") for asked in endpoint.asked) >= 4_990
    # Each request holds the text that the one before was answered with.
    for number, asked in enumerate(endpoint.asked[1:], 1):
        assert f"    - a line of request {number}\n" in asked.text
    assert len(endpoint.asked) < 120


def test_usage_is_forgiven_where_more_is_said_to_be_cached_than_was_read(model_project, endpoint):
    session = make_session(model_project, runs=2, settings=SETTINGS)
    endpoint.then(Text("Short.", usage=(10, 0, 5_000)))
    advance_all(session)
    assert session.summary.cost_usd == Decimal("0.00001")
