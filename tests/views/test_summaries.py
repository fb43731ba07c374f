"""The ledger of a session and the sessions that need somebody to look at their summaries, without a browser."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app.models import Membership, Session, Summary
from tests.factories import NOW, make_project, make_session
from tests.queries.test_summary_ledgers import FACTS, add, many_runs, use

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/p/p/sessions/s/summaries/?entry=1"}
HOSTILE = "</p><script>alert(1)</script>{{ 7 }} \"'&"
LEDGER = "/p/p/sessions/s/summaries/"


@pytest.fixture
def project(client, published):
    user = get_user_model().objects.create_user("mira")
    project = make_project()
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return project


@pytest.fixture
def session(project):
    """A session of 12 runs with two summaries, the newest in use."""
    session = make_session(project, runs=12, title="Lost bag", settings={"offset": 2})
    first = add(session, 1, 3, text="The bag is lost.", tokens_before=60, tokens_o200k=5, ended_at=NOW)
    use(session, add(session, 2, 5, predecessor=first, text="The bag is found.", facts=FACTS, tokens_before=70))
    return session


def page(client, path=LEDGER, status=200, **headers):
    response = client.get(path, headers=headers)
    assert response.status_code == status
    return re.sub(r"\s+", " ", response.content.decode())


def posted(client, path, data=None, **headers):
    return client.post(path, data or {}, headers=headers)


def numbers(session):
    return list(session.summaries.order_by("number").values_list("number", "status"))


def test_it_shows_each_entry_and_which_is_in_use(client, session):
    shown = page(client)
    assert shown.count('<span class="tag">in use</span>') == 1
    assert "#1 + 4–5" in shown
    assert '1 kept, <span class="nowrap">1 gone</span>' in shown
    assert "2 entries" in shown
    assert "1–5 in use" in shown


def test_it_shows_what_the_chosen_entry_kept_and_how_its_text_differs(client, session):
    shown = page(client, f"{LEDGER}?entry=2")
    assert "One fact left the memory at summary #2: <b>my mother wears a knee brace</b>" in shown
    assert "3 facts of runs 4–5 never came into a summary" in shown
    assert "<del>lost" in shown
    assert "<ins>found" in shown
    assert 'aria-current="true">#1 → #2</a>' in shown
    first = page(client, f"{LEDGER}?entry=1")
    assert "Text of #1" in first
    assert "<del>" not in first


def test_an_entry_that_is_not_there_is_said_to_be_missing(client, session):
    assert "There is no such entry." in page(client, f"{LEDGER}?entry=99")
    for odd in ("entry=x", "entry=-1", "entry=99999999999999999999", "before=x", "before=0"):
        page(client, f"{LEDGER}?{odd}")


def test_without_a_summary_it_says_when_the_next_is_made(client, project):
    make_session(project, runs=3, settings={"max_input_tokens": 4000})
    shown = page(client)
    assert "No summary yet" in shown
    assert "more than <b>75 %</b> of the budget of 4,000 tokens" in shown
    assert "offset 6 keeps the newest out" in shown
    assert 'id="now-b" type="submit" disabled' in shown


def test_under_a_strategy_that_does_not_summarize_it_says_so(client, project):
    make_session(project, settings={"strategy": "buffer"})
    assert "<code>buffer</code>, which makes no summaries" in page(client)


@pytest.mark.parametrize(
    ("overrides", "covers", "why"),
    [
        ({"offset": 2}, 5, ""),
        ({"offset": 7}, 5, "All other runs are in a summary already; offset 7 keeps the newest out."),
        ({"offset": 0}, 12, "Every finished run is in a summary already."),
    ],
)
def test_the_button_says_why_nothing_can_be_summarized(client, project, overrides, covers, why):
    session = make_session(project, runs=12, settings=overrides)
    use(session, add(session, 1, covers))
    button = re.search(r'<button class="btn" id="now-b"[^>]*>', page(client)).group()
    assert ("disabled" in button) is bool(why)
    assert (f'title="{why}"' in button) is bool(why)


def test_hostile_texts_are_escaped(client, session):
    facts = {"rows": [["name", HOSTILE, 2, "user", "gone"]], "left_out": {}}
    session.summaries.filter(number=2).update(text=HOSTILE, facts=facts, actor=HOSTILE, origin="edited", model=HOSTILE)
    add(session, 3, 8, status="failed", error=HOSTILE, model=HOSTILE)
    Session.objects.update(title=HOSTILE, rests_since=NOW, rests_by=HOSTILE, next_attempt_at=NOW)
    for path in (LEDGER, f"{LEDGER}?entry=3", f"{LEDGER}2/edit/", f"{LEDGER}1/use/", "/p/p/summaries/"):
        assert "<script>alert" not in page(client, path)


def test_another_projects_ledger_does_not_exist_here(client, project):
    theirs = make_session(make_project("strangers"), "theirs", runs=3)
    add(theirs, 1, 2)
    for action in ("", "now/", "resume/", "1/cancel/", "1/retry/", "1/edit/", "1/use/"):
        for slug in ("strangers", "p"):
            path = f"/p/{slug}/sessions/theirs/summaries/{action}"
            assert client.get(path).status_code in (404, 405)
            assert client.post(path).status_code in (404, 405)
    assert client.get("/p/strangers/summaries/").status_code == 404


def test_a_failure_says_what_it_means_and_offers_to_retry(client, session):
    add(session, 3, 8, predecessor=session.summary, status="failed", error="No answer.", attempts=2)
    Session.objects.update(next_attempt_at=timezone.now())
    shown = page(client)
    assert "<b>No answer.</b>" in shown
    assert "Attempt 2. Nothing moved: #2 stays in use, runs 6–8 stay word for word" in shown
    assert 'aria-label="Retry #3"' in shown


def test_a_second_press_finds_the_same_entry(client, session):
    for _ in range(2):
        response = posted(client, f"{LEDGER}now/")
        assert (response.status_code, response["Location"]) == (302, LEDGER)
    assert numbers(session) == [(1, "completed"), (2, "completed"), (3, "pending")]
    assert session.summaries.get(number=3).actor == "mira"
    assert 'title="Summary #3 waits for a worker."' in page(client)


def test_a_swap_gets_the_ledger_and_what_was_said(client, session):
    response = posted(client, f"{LEDGER}now/", **HTMX)
    shown = response.content.decode()
    assert response.status_code == 200
    assert "Summary #3 is asked for." in response["HX-Trigger"]
    assert shown.lstrip().startswith('<div class="ledger" id="ledger"')
    assert 'id="summary-job" hx-swap-oob="true"' in shown
    assert "<html" not in shown
    assert 'aria-current="true">#1</a>' in shown.replace("\n", "")


def test_a_refusal_is_said_in_place(client, session):
    Session.objects.update(settings={"offset": 12})
    response = posted(client, f"{LEDGER}now/", **HTMX)
    assert response.status_code == 200
    assert '"level": "error"' in response["HX-Trigger"]
    posted(client, f"{LEDGER}resume/")
    assert "Summarizing does not rest in this session." in page(client)


def test_what_waits_is_cancelled_and_tried_again_as_a_new_entry(client, session):
    posted(client, f"{LEDGER}now/")
    posted(client, f"{LEDGER}3/cancel/")
    assert numbers(session)[2:] == [(3, "cancelled")]
    posted(client, f"{LEDGER}3/retry/")
    assert numbers(session)[2:] == [(3, "cancelled"), (4, "pending")]
    assert "Retried as #4." in page(client)


def test_as_long_as_a_worker_should_come_by_the_page_waits_for_the_next_step(client, session):
    poll = f"{LEDGER}?poll=next"
    assert "poll=next" not in page(client)
    Session.objects.update(summary_wanted_at=timezone.now())
    assert "poll=next" in page(client)
    assert page(client, poll, status=204, **HTMX) == ""
    add(session, 3, 8, predecessor=session.summary, status="running")
    assert 'id="ledger-3"' in page(client, poll, **HTMX)
    session.summaries.filter(number=3).update(status="completed")
    Session.objects.update(summary_wanted_at=None)
    assert client.get(poll, headers=HTMX)["HX-Retarget"] == "#ledger"
    Session.objects.update(summary_wanted_at=timezone.now(), next_attempt_at=timezone.now())
    assert "poll=next" not in page(client)


def test_of_several_steps_it_shows_how_far_they_have_come(client, session):
    add(session, 3, 8, predecessor=session.summary, status="running")
    assert '<progress aria-label="Summary 3 is running"></progress>' in page(client)
    Session.objects.update(summarize_through=10)
    assert 'max="10" value="5"' in page(client)


def test_progress_is_asked_for_only_while_something_goes_on(client, session):
    assert 'hx-trigger="every 2s"' not in page(client)
    add(session, 3, 8, predecessor=session.summary, status="running")
    assert page(client).count('hx-trigger="every 2s"') == 1
    row = page(client, f"{LEDGER}?poll=3-running", **HTMX)
    assert row.lstrip().startswith('<tr class="now" id="ledger-3"')
    assert "</tr>" in row
    assert "<table" not in row


def test_when_it_has_ended_the_whole_ledger_follows(client, session):
    add(session, 3, 8, predecessor=session.summary, status="failed", error="No answer.")
    response = client.get(f"{LEDGER}?poll=3-running", headers=HTMX)
    assert (response["HX-Retarget"], response["HX-Reswap"]) == ("#ledger", "outerHTML")
    assert "Summary 3: failed" in response["HX-Trigger"]
    assert "No answer." in response.content.decode()


def test_rolling_back_asks_first_and_then_rests_until_it_is_resumed(client, session):
    asked = page(client, f"{LEDGER}1/use/")
    assert "Roll back to summary #1?" in asked
    assert "Runs 4–12 are word for word again" in asked
    session.refresh_from_db()
    assert session.summary.number == 2
    assert posted(client, f"{LEDGER}1/use/")["Location"] == f"{LEDGER}?entry=1"
    rests = page(client)
    assert "mira rolled back to #1 at" in rests
    assert "Runs 4–12 stay word for word until you resume" in rests
    assert '<span class="tag plain">rolled back</span>' in rests
    assert "Use #2 again" in rests
    assert client.get(f"{LEDGER}1/use/")["Location"] == f"{LEDGER}?entry=1"
    assert "Summary #1 is in use already." in page(client)
    posted(client, f"{LEDGER}resume/")
    assert "Summarizing rests" not in page(client)


def test_a_person_edits_the_summary_in_use(client, session):
    asked = page(client, f"{LEDGER}2/edit/")
    assert "The bag is found.</textarea>" in asked
    response = posted(client, f"{LEDGER}2/edit/", {"text": "The bag is red.\r\nIt is found."})
    assert response["Location"] == f"{LEDGER}?entry=3"
    entry = session.summaries.get(number=3)
    assert (entry.text, entry.origin, entry.actor) == ("The bag is red.\nIt is found.", "edited", "mira")
    assert "edited by mira" in page(client)


def test_a_text_that_is_too_long_is_told_and_kept_in_the_field(client, session):
    Session.objects.update(settings={"max_summary_tokens": 3})
    response = posted(client, f"{LEDGER}2/edit/", {"text": "one two three four five"})
    shown = response.content.decode()
    assert response.status_code == 422
    assert "The text needs 5 tokens; max_summary_tokens allows 3." in shown
    assert "one two three four five</textarea>" in shown
    assert posted(client, f"{LEDGER}2/edit/", {"text": " "}).status_code == 422


def test_an_entry_that_is_not_in_use_any_more_is_not_edited(client, session):
    assert "#2 is. Only the one in use can be edited." in page(client, f"{LEDGER}1/edit/")
    response = posted(client, f"{LEDGER}1/edit/", {"text": "My text."})
    assert response.status_code == 409
    assert "My text.</textarea>" in response.content.decode()
    assert numbers(session) == [(1, "completed"), (2, "completed")]


def test_older_entries_are_a_link_away(client, project):
    session = make_session(project, runs=3)
    for number in range(1, 61):
        add(session, number, 1)
    assert 'href="?before=11"' in page(client)
    older = page(client, f"{LEDGER}?before=11")
    assert 'id="ledger-10"' in older
    assert 'id="ledger-11"' not in older
    assert "Newest entries" in older


def test_an_entry_without_a_text_cannot_come_into_use(client, session):
    add(session, 3, 8, status="failed")
    assert client.get(f"{LEDGER}3/use/").status_code == 302
    assert "Summary #3 has no text" in page(client)
    posted(client, f"{LEDGER}3/use/")
    assert "only a completed one can come into use" in page(client)


def test_the_session_page_leads_to_the_ledger(client, session):
    shown = page(client, "/p/p/sessions/s/")
    assert f'href="{LEDGER}' in shown
    add(session, 3, 8, status="failed", error="No answer.")
    assert shown.count(f'href="{LEDGER}') < page(client, "/p/p/sessions/s/").count(f'href="{LEDGER}')
    session.summaries.filter(number=3).update(status="cancelled")
    assert "No answer." not in page(client, "/p/p/sessions/s/")


def queries(client, path):
    with CaptureQueriesContext(connection) as captured:
        page(client, path)
    return len(captured)


def test_the_page_costs_the_same_for_few_and_many_entries_and_runs(client, project):
    short, long = make_session(project, "short", runs=3), make_session(project, "long", runs=3)
    many_runs(short, 100)
    many_runs(long, 10_000)
    for session, entries in ((short, 3), (long, 300)):
        before = None
        for number in range(1, entries + 1):
            before = add(session, number, number * session.last_position // (entries + 1), predecessor=before)
        use(session, before)
    page(client, "/p/p/sessions/short/summaries/")
    few = queries(client, "/p/p/sessions/short/summaries/")
    assert queries(client, "/p/p/sessions/long/summaries/") == few <= 40


def failing(project, name, **columns):
    session = make_session(project, name, title=f"Title {name}")
    Summary.objects.create(
        session=session, number=1, covers_through=1, status="failed", error=f"Error {name}", created_at=NOW
    )
    Session.objects.filter(pk=session.pk).update(next_attempt_at=timezone.now() + timedelta(hours=1), **columns)


def test_the_sidebar_counts_the_sessions_whose_summaries_fail(client, project):
    make_session(project, "fine")
    assert '<span class="sr-only"> failing</span>' not in page(client, "/p/p/sessions/")
    failing(project, "a")
    failing(project, "b")
    failing(make_project("strangers"), "c")
    assert re.search(r'</svg>2<span class="sr-only"> failing</span>', page(client, "/p/p/sessions/"))


def test_the_project_page_lists_who_fails_rests_and_waits(client, project):
    failing(project, "a")
    resting = make_session(project, "b", title="Title b")
    Session.objects.filter(pk=resting.pk).update(rests_since=timezone.now(), rests_by="mira")
    add(make_session(project, "c", title="Title c"), 1, 1, status="pending")
    listed = {show: page(client, f"/p/p/summaries/?show={show}") for show in ("failing", "resting", "working", "odd")}
    titles = {show: re.findall(r"Title (\w)</a>", text) for show, text in listed.items()}
    assert titles == {"failing": ["a"], "resting": ["b"], "working": ["c"], "odd": ["a"]}
    assert "Error a" in listed["failing"]
    assert "mira rolled back" in listed["resting"]


def test_without_any_it_says_what_would_be_listed(client, project):
    assert "No summary of this project fails." in page(client, "/p/p/summaries/")


def test_the_project_page_is_paged_and_costs_the_same_however_many_there_are(client, project):
    failing(project, "one")
    page(client, "/p/p/summaries/")
    few = queries(client, "/p/p/summaries/")
    for n in range(60):
        failing(project, f"s{n}")
    assert queries(client, "/p/p/summaries/") == few <= 14
    first = page(client, "/p/p/summaries/")
    after = re.search(r"after=(\d+)", first).group(1)
    rest = page(client, f"/p/p/summaries/?show=failing&after={after}", **HTMX)
    assert "<html" not in rest
    listed = re.findall(r"Title (\w+)</a>", first) + re.findall(r"Title (\w+)</a>", rest)
    assert (len(listed), len(set(listed))) == (61, 61)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only on SQLite: the wording of its plans")
@pytest.mark.parametrize(("column", "index"), [("next_attempt_at", "failing"), ("rests_since", "resting")])
def test_they_are_found_by_an_index_of_their_own(project, column, index):
    assert f"session_summary_{index}" in Session.objects.filter(project=project).exclude(**{column: None}).explain()
