"""Summaries by a model, over real HTTP to a scripted endpoint: windows, costs, failures, and nothing paid twice."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
import tiktoken
from pydantic import SecretStr

from sessions_app.clients import endpoints
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.summarizers.templates import BUILT_IN_REQUEST, template_version
from sessions_app.models import ModelOverride, ProjectSummarizer, Session, SummarizerAnswer, SummaryStatus
from sessions_app.services import ledgers, summarizer_answers, summary_claims
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import delete_session
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, append_turns, make_project, make_session
from tests.scripted_endpoint import TEN_MEGABYTES, Half, Nothing, ScriptedEndpoint, Status, Text
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db

ENCODING = tiktoken.get_encoding("o200k_base")
SETTINGS = AT_ONCE | {"offset": 1}
KEY = "sk-27182818284590452353602874713527"


@pytest.fixture
def endpoint():
    with ScriptedEndpoint() as server:
        yield server


@pytest.fixture
def project(endpoint, settings):
    settings.CONVOWEB_ENDPOINTS = {"local": endpoint.url}
    settings.CONVOWEB_ENDPOINT_KEYS = {"local": SecretStr(KEY)}
    made = make_project()
    choose(made)
    return made


def choose(project, **columns):
    """Let the project use the endpoint; its own price is one dollar a million tokens that are read, two written."""
    chosen = {"name": "openai", "endpoint": "local", "model": "gpt-4.1-mini", "timeout_seconds": 2}
    chosen |= {"input_price": Decimal(1), "output_price": Decimal(2)} | columns
    ProjectSummarizer.objects.update_or_create(project=project, defaults=chosen)


def count(text):
    return len(ENCODING.encode(text, disallowed_special=()))


def given(asked):
    """The runs and parts of runs that a request gives, by their headings."""
    return re.findall(r"^## Run (\d+)(?:, part (\d+) of (\d+))?$", asked.text, re.MULTILINE)


def newest(session):
    return session.summaries.order_by("number").last()


def test_a_models_text_comes_into_use_with_who_made_it_and_what_it_cost(project, endpoint):
    session = make_session(project, runs=4, settings=SETTINGS)
    endpoint.then(Text(" They counted to three. ", usage=(1_000, 40)))
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    entry = session.summary
    assert (entry.text, entry.covers_through) == ("They counted to three.", 3)
    assert (entry.summarizer, entry.model, entry.attempts) == ("openai", "gpt-4.1-mini", 1)
    assert entry.template == template_version(BUILT_IN_REQUEST)
    # By hand: 1,000 tokens at 1 USD and 40 at 2 USD a million.
    assert entry.cost_usd == Decimal("0.00108")
    (asked,) = endpoint.asked
    assert given(asked) == [("1", "", ""), ("2", "", ""), ("3", "", "")]
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["max_tokens"] == 512


def test_the_next_request_holds_the_summary_before_and_the_new_runs_only(project, endpoint):
    session = make_session(project, runs=3, settings=SETTINGS)
    endpoint.then(Text("First {runs} summary."), Text("Second summary."))
    advance_all(session)
    append_turns(session, 2)
    advance_all(session)
    assert session.summary.text == "Second summary."
    assert "    First {runs} summary.\n" in endpoint.asked[1].text
    assert given(endpoint.asked[1]) == [("3", "", ""), ("4", "", "")]


def test_the_projects_own_template_is_used_and_its_version_kept(project, endpoint):
    choose(project, request_template="OLD {summary} NEW {runs}")
    session = make_session(project, runs=2, settings=SETTINGS)
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
def test_costs_are_by_the_projects_own_price_or_else_by_the_price_list(project, endpoint, own, cost):
    choose(project, **own)
    session = make_session(project, runs=2, settings=SETTINGS)
    endpoint.then(Text("Short.", usage=(1_000, 40, 600)))
    advance_all(session)
    assert session.summary.cost_usd == cost


def test_what_the_project_says_of_the_model_holds_where_its_choice_says_nothing(project, endpoint):
    choose(project, model="my-llama", input_price=None, output_price=None)
    ModelOverride.objects.create(
        project=project, name="my-llama", input_price=Decimal(3), output_price=Decimal(5), context_window=2_000
    )
    session = make_session(project, runs=60, settings=SETTINGS)
    endpoint.otherwise = Text("Short.", usage=(1_000, 40))
    advance_all(session)
    entries = session.summaries.all()
    assert len(endpoint.asked) > 1
    assert sum(entry.cost_usd for entry in entries) == Decimal("0.0032") * len(endpoint.asked)


def test_where_the_endpoint_tells_no_usage_tokens_are_counted(project, endpoint):
    session = make_session(project, runs=2, settings=SETTINGS)
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
def test_a_failure_is_shown_moves_nothing_and_is_tried_again(project, endpoint, answer, said):
    session = make_session(project, runs=3, settings=SETTINGS)
    endpoint.then(answer)
    assert advance_all(session) == [Outcome.FAILED]
    entry = newest(session)
    assert (entry.status, entry.model) == (SummaryStatus.FAILED, "gpt-4.1-mini")
    assert entry.error.endswith(said)
    assert KEY not in entry.error
    assert session.summary is None
    assert session.next_attempt_at == NOW + timedelta(seconds=31)
    assert advance_all(session, now=NOW + timedelta(minutes=1)) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert (newest(session).text, newest(session).attempts) == ("A summary.", 2)


def test_a_wait_that_the_endpoint_asks_for_is_kept(project, endpoint):
    session = make_session(project, runs=3, settings=SETTINGS)
    endpoint.then(Status(429, retry_after=300))
    advance_all(session)
    assert session.next_attempt_at == NOW + timedelta(seconds=301)
    endpoint.then(Status(429, retry_after=1))
    assert advance_all(session, now=NOW + timedelta(seconds=302)) == [Outcome.FAILED]
    # The second attempt's own pause of a minute is longer.
    assert session.next_attempt_at == NOW + timedelta(seconds=363)


def test_what_failed_attempts_cost_is_in_the_sum(project, endpoint):
    session = make_session(project, runs=3, settings=SETTINGS)
    endpoint.then(Text("", usage=(1_000, 0)), Status(500), Text("At last.", usage=(1_000, 50)))
    advance_all(session)
    assert newest(session).cost_usd == Decimal("0.001")
    for hour in (1, 3):
        advance_all(session, now=NOW + timedelta(hours=hour))
    assert session.summary.text == "At last."
    assert session.summary.cost_usd == Decimal("0.0021")


def test_an_endpoint_that_the_operator_lists_no_more_is_told(project, endpoint, settings):
    settings.CONVOWEB_ENDPOINTS = {"other": endpoint.url}
    session = make_session(project, runs=3, settings=SETTINGS)
    assert advance_all(session) == [Outcome.FAILED]
    assert newest(session).error == "The operator lists no endpoint 'local' (listed: other)."
    assert endpoint.asked == []


def test_a_window_without_room_for_a_run_is_told_without_asking(project, endpoint):
    choose(project, context_window=600)
    session = make_session(project, runs=3, settings=SETTINGS)
    assert advance_all(session) == [Outcome.FAILED]
    assert "The window of 600 tokens of gpt-4.1-mini leaves no room for a run" in newest(session).error
    assert endpoint.asked == []


def test_five_thousand_runs_are_given_once_each_within_a_window_of_4096_tokens(project, endpoint):
    choose(project, context_window=4_096)
    session = make_session(project, settings={"summarize_at": 0, "offset": 6, "max_input_tokens": 4_000})
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
    headings = [heading for asked in endpoint.asked for heading in given(asked)]
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


class Killed(BaseException):
    """Stands in for the end of a process: no code of ours runs after it."""


def test_a_worker_killed_behind_the_answer_does_not_have_it_paid_again(project, endpoint, monkeypatch):
    session = make_session(project, runs=3, settings=SETTINGS)
    endpoint.then(Text("Paid for.", usage=(1_000, 40)))

    def killed(**_):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(summary_claims, "complete", killed)
        with pytest.raises(Killed):
            advance(session_pk=session.pk, now=NOW)
    session.summaries.update(lease_until=NOW - timedelta(days=3650))
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert session.summary.text == "Paid for."
    assert len(endpoint.asked) == 1


def test_pieces_that_were_answered_are_not_paid_again_when_a_later_one_fails(project, endpoint):
    choose(project, context_window=1_500)
    session = make_session(project, settings=SETTINGS | {"max_summary_tokens": 100})
    append_runs(session=session, runs=[simple_turn("A long story. " * 700, "Well."), simple_turn("?", "!")], now=NOW)
    endpoint.then(Text("One.", usage=(1_000, 0)), Status(500))
    endpoint.otherwise = Text("More.", usage=(1_000, 0))
    advance_all(session)
    assert newest(session).cost_usd == Decimal("0.001")
    advance_all(session, now=NOW + timedelta(hours=1))
    parts = [given(asked)[0][1:] for asked in endpoint.asked]
    of = parts[0][1]
    assert parts == [("1", of), ("2", of), *((str(n), of) for n in range(2, int(of) + 1))]
    assert session.summary.cost_usd == Decimal("0.001") * int(of)


def test_no_more_pieces_are_asked_for_once_it_is_cancelled(project, endpoint):
    choose(project, context_window=1_500)
    session = make_session(project, settings=SETTINGS | {"max_summary_tokens": 100})
    append_runs(session=session, runs=[simple_turn("A long story. " * 700, "Well."), simple_turn("?", "!")], now=NOW)
    ask = endpoints.ask

    def cancelled_meanwhile(*given, **options):
        if len(endpoint.asked) == 1:
            ledgers.cancel(entry=newest(session), now=NOW)
        return ask(*given, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(endpoints, "ask", cancelled_meanwhile)
        advance(session_pk=session.pk, now=NOW)
    assert len(endpoint.asked) == 2
    assert newest(session).status == SummaryStatus.CANCELLED


def test_after_a_rollback_the_same_request_costs_nothing(project, endpoint):
    session = make_session(project, runs=3, settings=SETTINGS)
    endpoint.then(Text("First.", usage=(10, 1)), Text("Second.", usage=(10, 1)))
    advance_all(session)
    first = session.summary
    append_turns(session)
    advance_all(session)
    ledgers.roll_back(session=session, entry=first, actor="me", now=NOW + timedelta(minutes=1))
    session.refresh_from_db()
    ledgers.resume(session=session, now=NOW + timedelta(minutes=2))
    advance_all(session, now=NOW + timedelta(minutes=3))
    assert (session.summary.text, session.summary.cost_usd) == ("Second.", Decimal(0))
    assert list(session.summaries.order_by("number").values_list("from_cache", flat=True)) == [False, False, True]
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    "change",
    [{"model": "gpt-4.1"}, {"request_template": "{summary} {runs}"}, {"endpoint": "second"}],
    ids=lambda change: next(iter(change)),
)
def test_another_endpoint_model_or_template_is_asked_anew(project, endpoint, settings, change):
    settings.CONVOWEB_ENDPOINTS = {"local": endpoint.url, "second": endpoint.url.replace("127.0.0.1", "localhost")}
    for public_id, columns in (("a", {}), ("b", {}), ("c", change)):
        choose(project, **columns)
        advance_all(make_session(project, public_id, runs=3, settings=SETTINGS))
    assert len(endpoint.asked) == 2


def test_no_answer_of_another_project_is_used(project, endpoint):
    other = make_project("q")
    choose(other)
    for each in (project, other):
        advance_all(make_session(each, runs=3, settings=SETTINGS))
    assert len(endpoint.asked) == 2


def test_an_answer_goes_with_its_session_and_after_a_month(project, endpoint):
    for public_id, endpoint.otherwise in (("a", Text("One.")), ("b", Text("Two."))):
        advance_all(make_session(project, public_id, runs=3 + (public_id == "b"), settings=SETTINGS))
    assert set(SummarizerAnswer.objects.values_list("text", flat=True)) == {"One.", "Two."}
    delete_session(session=Session.objects.get(public_id="a"), now=NOW)
    assert set(SummarizerAnswer.objects.values_list("text", flat=True)) == {"Two."}
    assert summarizer_answers.forget_old_answers(now=NOW + timedelta(days=29)) == 0
    assert summarizer_answers.forget_old_answers(now=NOW + timedelta(days=31)) == 1


@pytest.mark.django_db(transaction=True)
def test_an_answer_for_a_session_that_was_deleted_meanwhile_is_not_kept(project, endpoint):
    session = make_session(project, runs=3, settings=SETTINGS)

    summarizer_answers.keep_answer(session=session, request_hash="0" * 64, text="In time.", now=NOW)
    delete_session(session=session, now=NOW)
    summarizer_answers.keep_answer(session=session, request_hash="1" * 64, text="Too late.", now=NOW)
    assert not SummarizerAnswer.objects.exists()


def test_usage_is_forgiven_where_more_is_said_to_be_cached_than_was_read(project, endpoint):
    session = make_session(project, runs=2, settings=SETTINGS)
    endpoint.then(Text("Short.", usage=(10, 0, 5_000)))
    advance_all(session)
    assert session.summary.cost_usd == Decimal("0.00001")
