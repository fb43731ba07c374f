"""Drafts of those who are signed out while they tune."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth import get_user_model

from sessions_app.domain.memory_settings import stored_values
from sessions_app.domain.settings_draft import value_as_text
from sessions_app.services.prompts import effective_settings
from tests.factories import make_session

pytestmark = pytest.mark.django_db

TUNE = "/p/p/sessions/s/tune/"
PASSWORD = "a password of the tests"


@pytest.fixture
def form(client, project):
    """Return all that the form of the page sends, of somebody who has signed out in another tab."""
    session = make_session(project, runs=9, settings={"max_runs": 7})
    user = get_user_model().objects.get(username="reader")
    user.set_password(PASSWORD)
    user.save()
    client.logout()
    seen = stored_values(effective_settings(session=session).values)
    texts = {name: value_as_text(value) for name, value in seen.items()}
    return texts | {"seen": json.dumps(seen), "tab": "prompt", "csrfmiddlewaretoken": "x"}


def signed_in_from(client, address):
    """Sign in where one was led to, and return the address that one is led to then."""
    answer = client.post(address, {"username": "reader", "password": PASSWORD})
    assert answer.status_code == 302
    return answer.url


def asked(address):
    parts = urlsplit(address)
    return parts.path, parse_qs(parts.query)


def test_an_address_leads_back_to_its_draft(client, form):
    address = f"{TUNE}compare/?last_n=3&query=And+now%3F"
    there = client.get(address)
    assert asked(signed_in_from(client, there.url)) == (f"{TUNE}compare/", {"last_n": ["3"], "query": ["And now?"]})
    assert 'id="f-last_n" name="last_n" value="3"' in client.get(address).content.decode()


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true", "HX-Target": "result"}])
def test_a_change_that_was_sent_too_late_is_led_through_signing_in(client, form, headers):
    sent = form | {"last_n": "3", "autoprune": ["false", "true"], "query": "And now?", "context": ["One.", ""]}
    answer = client.post(TUNE, sent, headers=headers)
    there = answer.headers["HX-Redirect"] if headers else answer.url
    back = signed_in_from(client, there)
    assert asked(back) == (TUNE, {"last_n": ["3"], "query": ["And now?"], "context": ["One."], "tab": ["prompt"]})
    shown = client.get(back).content.decode()
    assert 'id="f-last_n" name="last_n" value="3"' in shown
    assert "1 change" in shown


def test_saving_too_late_leads_to_the_question_and_saves_nothing(client, form):
    answer = client.post(f"{TUNE}save/", {"last_n": "3", "tab": "why", "note": "Why.", "sure": "1"})
    shown = client.get(signed_in_from(client, answer.url)).content.decode()
    assert "Save 1 setting to this session" in shown


def test_what_is_too_long_for_an_address_is_left_behind(client, form):
    answer = client.post(TUNE, {"last_n": "3", "context": "long " * 1_000})
    assert signed_in_from(client, answer.url) == TUNE
