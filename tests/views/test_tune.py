import json
import re

import pytest
from django.utils.html import escape

from sessions_app.domain.language_models import ModelFacts
from sessions_app.domain.memory_settings import SETTINGS, Strategy
from sessions_app.domain.strategies import STRATEGIES
from sessions_app.models import Project, Session
from sessions_app.services.model_overrides import set_model_override
from sessions_app.services.prompts import session_prompt
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db

RESULT = {"HX-Request": "true", "HX-Target": "result"}


def page(client, path, **headers):
    response = client.get(path, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize(
    ("query", "overrides", "asked"),
    [
        ("", {}, None),
        ("strategy=buffer", {"strategy": "buffer"}, None),
        ("strategy=buffer&max_input_tokens=120", {"strategy": "buffer", "max_input_tokens": 120}, None),
        ("last_n=2&query=And+now%3F", {"last_n": 2}, "And now?"),
        ("format=text&max_runs=3", {"format": "text", "max_runs": 3}, None),
        ("format=responses&query=And+now%3F", {"format": "responses"}, "And now?"),
        ("format=anthropic", {"format": "anthropic"}, None),
        ("format=gemini", {"format": "gemini"}, None),
        ("format=seed", {"format": "seed"}, None),
        ("format=seed&strategy=task&query=And+now%3F", {"format": "seed", "strategy": "task"}, "And now?"),
    ],
)
def test_it_shows_the_prompt_that_the_service_builds(client, project, query, overrides, asked):
    session = make_session(project, runs=12, instructions="Be brief.")
    prompt = session_prompt(session=session, overrides=overrides, query=asked)
    shown = page(client, f"/p/p/sessions/s/tune/?{query}")
    assert f'title="{prompt.fingerprint}"' in shown
    assert f'<span class="num duel-n">{prompt.tokens.total}</span>' in shown


def test_every_setting_has_a_control_of_its_kind(client, project):
    make_session(project, runs=1)
    shown = page(client, "/p/p/sessions/s/tune/")
    for setting in SETTINGS:
        assert re.search(rf'<(input|select)[^>]* id="f-{setting.name}" name="{setting.name}"', shown), setting.name


def test_a_change_says_what_it_was_and_where_unchanged_values_come_from(client, project):
    project.settings = {"offset": 4}
    project.save()
    make_session(project, runs=1, settings={"max_runs": 9})
    shown = page(client, "/p/p/sessions/s/tune/?last_n=3")
    assert "1 change" in shown
    assert "was unlimited" in shown
    for name, layer in (("offset", "project"), ("max_runs", "session"), ("summarize_at", "built-in")):
        head = shown.split(f'id="h-{name}"')[1].split("</div>")[0]
        assert layer in head


def test_settings_without_effect_say_why(client, project):
    make_session(project, runs=1, settings={"strategy": "buffer", "max_input_tokens": 500})
    shown = page(client, "/p/p/sessions/s/tune/")
    reasons = {name: shown.split(f'id="w-{name}"')[1].split("</p>")[0] for name in ("offset", "reserve_output_tokens")}
    assert "no effect: only summary uses it" in reasons["offset"]
    assert "does not bind" in reasons["reserve_output_tokens"]
    assert "no effect: this conversation has no parent" in shown


def test_the_window_is_the_one_that_the_project_gives_the_drafted_model(client, project):
    make_session(project, runs=1, settings={"max_input_tokens": 500})
    facts = ModelFacts(context_window=1_200)
    set_model_override(project=project, name="house/model", facts=facts, now=NOW)
    saved, drafted = (page(client, f"/p/p/sessions/s/tune/{query}") for query in ("", "?model=house/model"))
    # The answer gets 1,024 of the window.
    assert "does not bind" in saved.split('id="w-reserve_output_tokens"')[1].split("</p>")[0]
    assert "does not bind" not in drafted.split('id="w-reserve_output_tokens"')[1].split("</p>")[0]
    assert "max_input_tokens 500 is above what house/model has room for, 176" in drafted


def test_a_fork_is_told_that_it_has_the_runs_of_its_parent_instead_of_its_context(client, project):
    parent = make_session(project, "parent", runs=2)
    fork = fork_session(session=parent, at=1, public_id="fork", now=NOW)
    make_session(project, "child", parent=fork)
    words = "no effect: a fork has its parent&#x27;s runs, and takes no parent context"
    assert words in page(client, "/p/p/sessions/fork/tune/")
    assert "takes no parent context" not in page(client, "/p/p/sessions/child/tune/")
    assert "no effect: this conversation has no parent<" in page(client, "/p/p/sessions/parent/tune/")


def test_a_plain_form_is_led_to_an_address_with_the_changes_alone(client, project):
    make_session(project, runs=1)
    saved = page(client, "/p/p/sessions/s/tune/").split('name="seen" value="')[1].split('"')[0].replace("&quot;", '"')
    form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in json.loads(saved).items()}
    response = client.post(
        "/p/p/sessions/s/tune/", {**form, "max_runs": "7", "query": "hm", "seen": saved, "side": "a"}
    )
    assert response["Location"] == "/p/p/sessions/s/tune/?max_runs=7&query=hm&side=a"


def test_a_swap_gets_the_result_and_puts_the_short_address_into_the_browser(client, project):
    make_session(project, runs=3)
    response = client.get("/p/p/sessions/s/tune/", {"max_runs": "2", "offset": "6"}, headers=RESULT)
    swapped = response.content.decode()
    assert response["HX-Replace-Url"] == "/p/p/sessions/s/tune/?max_runs=2"
    assert swapped.lstrip().startswith('<section class="bench-main" id="result"')
    assert 'id="h-max_runs" hx-swap-oob="true"' in swapped
    assert 'id="f-max_runs"' not in swapped


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"max_runs": "2", "max_input_tokens": "500"}, "of 500 tokens, 1 not seen by the model"),
        ({"max_runs": "x"}, "Draft: no prompt. max_runs must be a whole number from 1"),
    ],
)
def test_a_swap_says_what_came_of_it_to_those_who_hear_the_page(client, project, query, said):
    make_session(project, runs=3, settings={"strategy": "buffer"})
    response = client.get("/p/p/sessions/s/tune/", query, headers=RESULT)
    assert said in json.loads(response["HX-Trigger"])["announce"]["value"]


def test_each_strategy_says_what_it_does(client, project):
    make_session(project, runs=1)
    for strategy in Strategy:
        head = page(client, f"/p/p/sessions/s/tune/?strategy={strategy}").split('id="w-strategy"')[1].split("</p>")[0]
        assert escape(STRATEGIES[strategy].ABOUT) in head


def test_fewer_tokens_stand_behind_a_minus_sign(client, project):
    make_session(project, runs=3, settings={"strategy": "buffer"})
    assert '<span class="delta muted">\N{MINUS SIGN}' in page(client, "/p/p/sessions/s/tune/?max_runs=1")


def test_what_is_too_small_is_told_part_by_part_and_together(client, project):
    make_session(project, runs=1, instructions="Answer at length. " * 20)
    shown = page(client, "/p/p/sessions/s/tune/?max_input_tokens=20")
    needs = shown.split("What needs how many tokens")[1].split("</table>")[0]
    *parts, together, budget = map(int, re.findall(r'class="num">(?:<b>)?(\d+)', needs))
    assert (sum(parts), budget) == (together, 20)


@pytest.mark.parametrize("path", ["tune/", "tune/why/"])
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("max_runs=abc", "max_runs must be a whole number from 1"),
        ("strategy=newest", "strategy must be one of buffer, summary"),
        ("max_input_tokens=5", "the budget is 5"),
        ("model=nobody-knows-it", "The context window of nobody-knows-it is not known"),
        ("autoprune=false&max_input_tokens=40", "With autoprune off"),
    ],
)
def test_what_cannot_be_built_is_a_state_of_the_page(client, project, path, query, said):
    make_session(project, runs=9, instructions="Be brief.")
    shown = page(client, f"/p/p/sessions/s/{path}?{query}")
    assert said in shown
    assert "Draft: no prompt" in shown


def test_the_saved_side_can_be_looked_at_beside_a_draft(client, project):
    session = make_session(project, runs=3)
    shown = page(client, "/p/p/sessions/s/tune/?max_runs=1&side=a")
    assert f'title="{session_prompt(session=session).fingerprint}"' in shown


def test_runs_that_are_not_sent_are_named_in_the_prompt(client, project):
    make_session(project, runs=10)
    shown = page(client, "/p/p/sessions/s/tune/?max_runs=7&last_n=4")
    assert "6 runs the model cannot see" in shown
    assert "3 capped" in shown
    assert "3 skipped" in shown


def test_older_runs_of_a_prompt_come_by_a_swap(client, project):
    make_session(project, runs=100, settings={"strategy": "buffer"})
    shown = page(client, "/p/p/sessions/s/tune/")
    assert "Runs 4–63: 120 messages" in shown
    assert all(f"question {n}" in shown for n in (1, 2, 3, 64, 100))
    more = page(client, "/p/p/sessions/s/tune/?from=4&to=63", **{"HX-Request": "true"})
    assert "question 63" in more
    assert "Runs 4–23: 40 messages" in more
    assert "question 64" not in more
    plain = page(client, "/p/p/sessions/s/tune/?from=4&to=63").split('<ol class="msgs">')[1]
    assert "question 63" in plain
    assert "question 64" not in plain


def test_why_says_the_reason_and_what_differs(client, project):
    session = make_session(project, runs=5, settings={"strategy": "buffer"})
    make_open_run(session)
    shown = page(client, "/p/p/sessions/s/tune/why/?last_n=2")
    assert "last_n 2: only the newest 2 runs" in shown
    assert shown.count(", differs from A") == 3
    assert "the open run is always the tail" in shown
    only = page(client, "/p/p/sessions/s/tune/why/?last_n=2&only=changed")
    assert only.count(", differs from A") == 3
    assert "the open run is always the tail" not in only


def test_groups_of_why_open_by_a_swap(client, project):
    make_session(project, runs=100, settings={"strategy": "buffer"})
    rows = page(client, "/p/p/sessions/s/tune/why/?from=1&to=60", **{"HX-Request": "true"})
    assert rows.count("<tr") == 41
    assert "<table" not in rows


def test_saving_to_the_session_stores_only_what_the_draft_changes(
    client, project, published, django_capture_on_commit_callbacks
):
    session = make_session(project, runs=1, settings={"offset": 3})
    seen = json.dumps({"max_runs": "unlimited", "last_n": "unlimited"})
    form = {"max_runs": "7", "last_n": "unlimited", "seen": seen, "sure": "1"}
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post("/p/p/sessions/s/tune/save/", form)
    assert response["Location"] == "/p/p/sessions/s/tune/"
    session.refresh_from_db()
    assert session.settings == {"offset": 3, "max_runs": 7}
    assert published == [("sessions_app.tasks.summarize", (session.pk,))]
    assert "1 setting saved to this session." in page(client, "/p/p/sessions/s/tune/")


def test_saving_the_inherited_value_takes_the_sessions_own_away(client, project):
    session = make_session(project, runs=1, settings={"offset": 3, "max_runs": 4})
    client.post("/p/p/sessions/s/tune/save/", {"offset": "6", "sure": "1"})
    session.refresh_from_db()
    assert session.settings == {"max_runs": 4}


@pytest.mark.parametrize("path", ["save/", "default/"])
@pytest.mark.parametrize(
    ("form", "said"), [({"max_runs": "0"}, "Nothing was saved."), ({}, "There is nothing to save")]
)
def test_bad_values_and_empty_drafts_save_nothing(client, project, published, path, form, said):
    session = make_session(project, runs=1)
    shown = client.post(f"/p/p/sessions/s/tune/{path}", form, follow=True).content.decode()
    session.refresh_from_db()
    assert said in shown
    assert (session.settings, Project.objects.get().settings, published) == ({}, {}, [])


def test_saving_as_default_asks_first_and_says_whom_it_reaches(
    client, project, published, django_capture_on_commit_callbacks
):
    make_session(project, "s", runs=1, settings={"max_runs": 4})
    make_session(project, "t", runs=1)
    make_session(make_project("strangers"), "theirs")
    asking = page(client, "/p/p/sessions/s/tune/default/?max_runs=7&last_n=3")
    assert "Save 2 settings as project default" in asking
    assert re.search(r"<b class=\"num\">2</b><span>sessions inherit at least one of these", asking)
    assert re.search(r"<b class=\"num\">1</b><span>of all sessions sets at least one of these itself", asking)
    assert "This session sets max_runs itself and keeps that." in asking
    assert Project.objects.get(slug="p").settings == {}
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/p/p/sessions/s/tune/default/", {"max_runs": "7", "last_n": "3", "sure": "1"})
    assert Project.objects.get(slug="p").settings == {"max_runs": 7, "last_n": 3}
    assert Session.objects.get(public_id="s").settings == {"max_runs": 4}
    assert published == [("sessions_app.tasks.sweep", ())]


@pytest.mark.parametrize("seen", ["", "no json", "[1]", "null", "{}"])
def test_a_broken_note_of_what_was_seen_does_no_harm(client, project, seen):
    make_session(project, runs=1)
    response = client.post("/p/p/sessions/s/tune/save/", {"max_runs": "7", "seen": seen, "sure": "1"})
    assert response.status_code == 302
    assert Session.objects.get().settings == {"max_runs": 7}


def test_illegal_characters_in_the_query_are_replaced(client, project):
    make_session(project, runs=1)
    assert "a\ufffdb" in page(client, "/p/p/sessions/s/tune/?query=a%00b")


@pytest.mark.parametrize("seen", ["[" * 20_000, '{"offset":' * 20_000, "[]", "null", "{", '{"offset":[[1]]}'])
def test_a_form_that_says_nonsense_about_what_it_was_made_from_is_read_all_the_same(client, project, seen):
    make_session(project, runs=1)
    assert client.get("/p/p/sessions/s/tune/", {"offset": "3", "seen": seen}, follow=True).status_code == 200
    form = {"offset": "3", "seen": seen, "sure": "1"}
    assert client.post("/p/p/sessions/s/tune/save/", form).status_code in (302, 409)


def test_what_the_groups_of_a_prompt_need_adds_up(client, project):
    session = make_session(project, runs=5, instructions="Be brief.")
    shown = page(client, "/p/p/sessions/s/tune/?query=And+now%3F")
    groups = re.findall(r'<li class="msg-g".*?<span class="num">([\d,]+) tokens', shown)
    total = session_prompt(session=session, query="And now?").tokens.total
    assert sum(int(tokens.replace(",", "")) for tokens in groups) == total


def test_inheriting_all_tells_the_bars_around_the_workbench_too(client, project):
    make_session(project, runs=2, settings={"last_n": 1})
    headers = {"HX-Request": "true", "HX-Target": "bench"}

    swapped = client.get("/p/p/sessions/s/tune/?last_n=unlimited", headers=headers).content.decode()

    assert re.search(r'id="chg-bar" class="chg" hx-swap-oob="true">\D*1 change', swapped)
    assert 'id="draft-note" hx-swap-oob="true">Draft B is kept' in swapped
    restored = client.get(
        "/p/p/sessions/s/tune/?last_n=unlimited", headers=headers | {"HX-History-Restore-Request": "true"}
    ).content.decode()
    assert restored.count('id="draft-note"') == 1
