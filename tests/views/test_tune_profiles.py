"""A profile as A of the tune page."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.memory_settings import stored_values
from sessions_app.models import Profile
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.prompts import effective_settings, session_prompt
from sessions_app.services.replays import replay_session
from sessions_app.services.sessions import update_session
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

TUNE = "/p/p/sessions/s/tune/"
SHORT = {"strategy": "buffer", "last_n": 2}


@pytest.fixture
def session(project):
    return make_session(project, runs=12, settings={"strategy": "buffer"})


@pytest.fixture
def profile(session):
    return make_profile(session, "Short & sweet", SHORT)


def make_profile(session, name, settings):
    values = stored_values(effective_settings(session=session, overrides=settings).values)
    return save_new_profile(project=session.project, name=name, settings=values, actor="ada", now=NOW)


def page(client, path, **texts):
    response = client.get(f"{TUNE}{path}", texts)
    assert response.status_code == 200
    return unescape(response.content.decode())


def figure(shown, name):
    row = shown.split(f">{name}</th>")[1].split("</tr>")[0]
    return re.findall(r'<td class="num">([^<]+)</td>', row)


def test_without_a_profile_there_is_nothing_to_choose(client, session):
    assert 'id="a-is"' not in page(client, "")


@pytest.mark.parametrize("tab", ["", "why/", "compare/", "replay/"])
def test_every_tab_lets_choose_what_a_is_and_keeps_it(client, session, profile, tab):
    shown = page(client, tab, a=f"profile:{profile.pk}")
    assert f'<option value="profile:{profile.pk}" selected>Short & sweet</option>' in shown
    for other in ("", "why/", "compare/", "replay/"):
        assert f'href="{TUNE}{other}?a=profile%3A{profile.pk}"' in shown, other


def test_compare_shows_the_profile_beside_what_is_saved(client, session, profile):
    shown = page(client, "compare/", a=f"profile:{profile.pk}")
    assert figure(shown, "Runs the model cannot see") == ["10", "0", "−10"]
    assert "<del>2</del>" in shown.split("<code>last_n</code>")[1].split("</tr>")[0]


def test_compare_shows_the_profile_beside_the_draft(client, session, profile):
    shown = page(client, "compare/", a=f"profile:{profile.pk}", last_n="5")
    assert figure(shown, "Runs the model cannot see") == ["10", "7", "−3"]


def test_replay_shows_the_profile_beside_the_draft(client, session, profile):
    a, b = replay_session(session=session, settings={"/a": SHORT, "/b": {"last_n": 5}}, now=NOW)
    shown = page(client, "replay/", a=f"profile:{profile.pk}", last_n="5")
    total = shown.split(">Prompt tokens, all turns</h2>")[1].split("</div>")[0]
    assert re.findall(r'<span class="num">([^<]+)</span>', total) == [f"{a.totals.tokens:,}", f"{b.totals.tokens:,}"]


def test_the_prompt_under_the_profile_can_be_looked_at(client, session, profile):
    prompt = session_prompt(session=session, overrides=SHORT)
    assert f'title="{prompt.fingerprint}"' in page(client, "", a=f"profile:{profile.pk}", side="a")


def test_a_draft_that_is_the_profile_is_the_same(client, session, profile):
    assert "Both send the same, word for word." in page(client, "compare/", a=f"profile:{profile.pk}", last_n="2")


def test_at_a_past_turn_the_profile_takes_the_place_of_the_settings_of_then(client, session, profile):
    update_session(session=session, changes={"settings": {"last_n": 3}}, now=NOW)
    prompt = session_prompt(session=session, overrides=SHORT, at=9, as_saved=True)
    shown = page(client, "", a=f"profile:{profile.pk}", side="a", at="9")
    assert f'title="{prompt.fingerprint}"' in shown
    assert "with the settings of the profile Short & sweet." in shown
    assert figure(page(client, "compare/", a=f"profile:{profile.pk}", at="9"), "Runs in the prompt")[:2] == ["2", "3"]


@pytest.mark.parametrize("a", ["profile:999", "profile:", "profile:x", "saved", "x" * 5000])
def test_what_is_no_profile_is_told_and_what_is_saved_takes_its_place(client, session, profile, a):
    shown = page(client, "compare/", a=a)
    assert "The profile that this address names as A is gone; A is what is saved." in shown
    assert "a=" not in shown.split('id="tab-replay"')[1].split(">")[0].replace("aria", "")


def test_the_profiles_of_others_are_none(client, session, profile):
    other = make_session(make_project("other"), "s")
    theirs = make_profile(other, "Theirs", {})
    shown = page(client, "", a=f"profile:{theirs.pk}")
    assert "Theirs" not in shown
    assert "is gone" in shown


def test_saving_a_draft_beside_a_profile_saves_the_draft_alone(client, session, profile):
    form = {"a": f"profile:{profile.pk}", "last_n": "5", "sure": "1"}
    answer = client.post(f"{TUNE}save/", form)
    assert answer.url == f"{TUNE}?a=profile%3A{profile.pk}"
    session.refresh_from_db()
    assert session.settings == {"strategy": "buffer", "last_n": 5}


def test_a_hostile_name_stays_a_text(client, session):
    name = '</option><script>alert(1)</script>"'
    made = make_profile(session, name, SHORT)
    for tab in ("", "why/", "compare/", "replay/"):
        answer = client.get(f"{TUNE}{tab}", {"a": f"profile:{made.pk}"}).content.decode()
        assert "<script>alert" not in answer
        assert name in unescape(answer)


def test_the_list_of_profiles_leads_to_comparing_with_one(client, session, profile):
    shown = client.get("/p/p/settings/profiles/?session=s").content.decode()
    assert f'href="{TUNE}compare/?a=profile:{profile.pk}"' in shown


def test_many_profiles_cost_as_many_queries_as_one(client, session, profile):
    counts = []
    for more in (0, 50):
        Profile.objects.bulk_create(
            Profile(project=session.project, name=f"more {n}", settings=profile.settings, saved_at=NOW)
            for n in range(more)
        )
        with CaptureQueriesContext(connection) as queries:
            page(client, "compare/", a=f"profile:{profile.pk}", last_n="5")
        counts.append(len(queries))
    assert counts[0] == counts[1]
