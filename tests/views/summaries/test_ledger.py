"""The ledger of a session, without a browser."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from sessions_app.models import Session
from tests.factories import NOW, make_project, make_session
from tests.queries.test_summary_ledgers import add, many_runs, use
from tests.views.summaries.pages import HTMX, LEDGER, page, queries

pytestmark = pytest.mark.django_db

HOSTILE = "</p><script>alert(1)</script>{{ 7 }} \"'&"


def test_it_shows_each_entry_and_which_is_in_use(client, session):
    shown = page(client)
    assert shown.count('<span class="tag">in use</span>') == 1
    assert "#1 + 4–5" in shown
    assert '1 kept, <span class="nowrap">1 gone</span>' in shown
    assert "2 entries" in shown
    assert "1–5 in use" in shown


def test_it_shows_what_the_chosen_entry_kept_and_how_its_text_differs(client, session):
    shown = page(client, f"{LEDGER}?entry=2")
    followed = LEDGER.replace("summaries/", "facts/?words=my%20mother%20wears%20a%20knee%20brace")
    gone = f'<a class="lnk" href="{followed}"><b>my mother wears a knee brace</b></a>'
    assert f"One fact left the memory at summary #2: {gone}" in shown
    assert "3 facts of runs 4–5 never came into a summary" in shown
    assert "<del>lost" in shown
    assert "<ins>found" in shown
    assert 'aria-current="true">#1 → #2</a>' in shown
    first = page(client, f"{LEDGER}?entry=1")
    assert "Text of #1" in first
    assert "<del>" not in first


def test_an_entry_says_on_which_day_and_when_it_was_asked_for_begun_and_ended(client, session):
    session.summaries.filter(number=1).update(
        created_at=NOW, started_at=NOW + timedelta(minutes=1), ended_at=NOW + timedelta(minutes=2)
    )
    said = strip_tags(page(client, f"{LEDGER}?entry=1"))
    assert "Asked for 4 May, 12:00, begun 4 May, 12:01, ended 4 May, 12:02. Turns before that went without it." in said


def test_an_entry_says_with_which_template_it_was_made(client, session):
    assert "with template" not in page(client, f"{LEDGER}?entry=1")
    session.summaries.filter(number=1).update(template="7cf6f6068a1e")
    assert "with template <code>7cf6f6068a1e</code>." in page(client, f"{LEDGER}?entry=1")


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
    assert re.search(r"stay word for word\. Next attempt at <time[^>]*>\d\d:\d\d</time>\.", shown)


def test_runs_that_do_not_fit_are_not_said_to_stay_word_for_word(client, session):
    add(session, 3, 10, predecessor=session.summary, status="failed", error="No answer.")
    Session.objects.update(settings={"offset": 2, "max_input_tokens": 60, "on_gap": "warn"})
    words = r"runs 6–10 stay word for word, as far as they fit the budget: 6(–\d+)? do(es)? not\."
    assert re.search(words, page(client))
    Session.objects.update(rests_since=timezone.now(), rests_by="mira")
    words = r"Runs 6–12 stay word for word until you resume, as far as they fit the budget: 6(–\d+)? do(es)? not\."
    assert re.search(words, page(client))


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


def test_after_a_failure_the_page_waits_for_the_next_attempt(client, session):
    add(session, 3, 10, predecessor=session.summary, status="failed", error="No answer.")
    Session.objects.update(next_attempt_at=NOW)
    shown = page(client)
    assert re.search(r"Next: the oldest of runs 6–10 again, (at|on) <time", shown)
    polled = re.search(r"poll=after-\w+", shown)
    assert polled
    poll = f"{LEDGER}?{polled[0]}"
    assert page(client, poll, status=204, **HTMX) == ""
    Session.objects.update(next_attempt_at=timezone.now())
    assert client.get(poll, headers=HTMX)["HX-Retarget"] == "#ledger"
    Session.objects.update(next_attempt_at=None)
    assert client.get(poll, headers=HTMX)["HX-Retarget"] == "#ledger"
    assert "poll=after" not in page(client)


def test_a_swap_brings_the_state_in_the_sidebar_along(client, session):
    assert '<span id="nav-failing"></span>' in page(client)
    Session.objects.update(next_attempt_at=NOW)
    swap = page(client, f"{LEDGER}?entry=2", **HTMX)
    assert re.search(r'<span id="nav-failing" hx-swap-oob="true" class="nav-n warn">.*1<span', swap)
    assert re.search(r'<div id="tree" hx-swap-oob="true">.*summaries fail', swap)


def test_costs_that_are_not_known_are_not_said_to_be_nothing(client, session):
    assert 'title="2 of unknown price not counted">–</td>' in page(client)
    session.summaries.filter(number=1).update(cost_usd=Decimal("0.5"))
    shown = page(client)
    assert re.search(r'title="1 of unknown price not counted">.*≥</span> \$0\.5000<', shown)
    session.summaries.update(cost_usd=0)
    assert "unknown price" not in page(client)


def test_a_text_that_is_the_same_is_said_to_be(client, session):
    session.summaries.update(text="The bag is lost.")
    shown = page(client, f"{LEDGER}?entry=2")
    assert "Word for word the text of #1." in shown
    assert "0 words" not in shown


def test_the_session_page_says_that_summarizing_rests(client, session):
    assert "Summarizing rests" not in page(client, "/p/p/sessions/s/")
    Session.objects.update(rests_since=timezone.now(), rests_by="mira")
    shown = page(client, "/p/p/sessions/s/")
    assert "mira rolled back to #2" in shown
    assert f'<a href="{LEDGER}">Resume in the ledger</a>' in shown


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


def test_older_entries_are_a_link_away(client, project):
    session = make_session(project, runs=3)
    for number in range(1, 61):
        add(session, number, 1)
    assert 'href="?before=11"' in page(client)
    older = page(client, f"{LEDGER}?before=11")
    assert 'id="ledger-10"' in older
    assert 'id="ledger-11"' not in older
    assert "Newest entries" in older


def test_the_session_page_leads_to_the_ledger(client, session):
    shown = page(client, "/p/p/sessions/s/")
    assert f'href="{LEDGER}' in shown
    add(session, 3, 8, status="failed", error="No answer.")
    Session.objects.update(next_attempt_at=NOW)
    assert shown.count(f'href="{LEDGER}') < page(client, "/p/p/sessions/s/").count(f'href="{LEDGER}')
    session.summaries.filter(number=3).update(status="cancelled")
    assert "No answer." not in page(client, "/p/p/sessions/s/")


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
