"""What people do with a ledger on its page: ask, stop, try again, edit, go back, resume."""

import pytest

from sessions_app.models import Session
from tests.queries.test_summary_ledgers import add
from tests.views.summaries.pages import HTMX, LEDGER, numbers, page, posted

pytestmark = pytest.mark.django_db


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


def test_rolling_back_asks_first_and_then_rests_until_it_is_resumed(client, session):
    asked = page(client, f"{LEDGER}1/use/")
    assert "Roll back to summary #1?" in asked
    assert "Runs 4–12 are sent word for word" in asked
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
    shown = response.content.decode()
    assert "My text.</textarea>" in shown
    assert "copy what should stay" in shown
    assert f'href="{LEDGER}2/edit/"' in shown
    assert "Put into use" not in shown
    assert numbers(session) == [(1, "completed"), (2, "completed")]


def test_an_entry_without_a_text_cannot_come_into_use(client, session):
    add(session, 3, 8, status="failed")
    assert client.get(f"{LEDGER}3/use/").status_code == 302
    assert "Summary #3 has no text" in page(client)
    posted(client, f"{LEDGER}3/use/")
    assert "only a completed one can come into use" in page(client)
