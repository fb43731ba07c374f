import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from sessions_app import tasks
from sessions_app.domain.memory_settings import settings_hash
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.summaries import SummarizerName
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall
from sessions_app.models import Membership, Session, Summary, search_index
from sessions_app.services import summaries, summarizers
from sessions_app.services.prompts import effective_settings, session_plan
from sessions_app.services.runs import add_events, append_runs, change_run
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import save_project_settings
from sessions_app.services.snapshots import refresh_snapshot
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session
from tests.services.summarizing import by_request

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)
BACKEND = "django.contrib.auth.backends.ModelBackend"
SWAP = {"HX-Request": "true", "HX-Current-URL": "http://testserver/p/p/sessions/"}


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def member(project, client):
    user = get_user_model().objects.create_user("reader")
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend=BACKEND)
    return user


@pytest.fixture
def tree(member, project):
    trip = make_session(project, "trip", runs=3, title="Family trip")
    hotel = make_session(project, "hotel", parent=trip, forked_at=1, title="Hotel", tags=["refund"])
    make_session(project, "late", parent=hotel, forked_at=1, title="Late arrival")
    return trip


def show(client, query="", **headers):
    return client.get(f"/p/p/sessions/{query}", headers=headers)


def test_strangers_are_sent_to_sign_in_and_see_nothing_of_other_projects(client, project):
    assert show(client).status_code == 302
    client.force_login(get_user_model().objects.create_user("stranger"), backend=BACKEND)
    assert show(client).status_code == 404
    assert client.get("/p/p/connect/").status_code == 404
    assert show(client, "?tree=trip&toggle=trip", **SWAP).status_code == 404


def test_an_empty_project_says_how_conversations_get_in(client, member):
    response = show(client)
    assert "sessions/empty.html" in [template.name for template in response.templates]
    page = response.content.decode()
    assert "http://testserver/api/v1" in page
    assert "/p/p/import/" in page
    assert "/p/p/connect/" in page


def test_a_filter_that_nothing_matches_is_not_an_empty_project(client, member):
    assert "No session matches" in show(client, "?q=x").content.decode()


def test_a_swap_gets_the_rows_and_the_filters_labels_and_a_clean_address(client, tree):
    response = show(client, "?q=late&user=&since=&until=&tag=&sort=activity", **SWAP)
    page = response.content.decode()
    assert "<html" not in page
    assert "Late arrival" in page
    assert '<span class="chip-x" id="chip-user" hx-swap-oob="true">' in page
    assert response["HX-Push-Url"] == "/p/p/sessions/?q=late"
    assert "HX-Request" in response["Vary"]


def test_an_address_is_not_pushed_twice(client, tree):
    headers = SWAP | {"HX-Current-URL": "http://testserver/p/p/sessions/?q=late"}
    assert "HX-Push-Url" not in show(client, "?q=late", **headers)


def test_a_caret_answers_with_one_tree_and_keeps_what_is_open_elsewhere(client, tree):
    headers = SWAP | {"HX-Current-URL": "http://testserver/p/p/sessions/?sort=title&open=other,trip"}
    response = show(client, "?tree=trip&toggle=hotel", **headers)
    page = response.content.decode()
    assert page.lstrip().startswith("<tbody")
    assert "Late arrival" in page
    address = urlsplit(response["HX-Replace-Url"])
    assert address.path == "/p/p/sessions/"
    assert parse_qs(address.query) == {"sort": ["title"], "open": ["hotel,other,trip"]}


@pytest.mark.parametrize("address", ["http://[", "http://testserver//[", "//[", ""])
@pytest.mark.parametrize("query", ["", "?q=late", "?tree=trip&toggle=trip"])
def test_a_swap_from_an_address_that_cannot_be_read_is_answered(client, tree, address, query):
    assert show(client, query, **SWAP | {"HX-Current-URL": address}).status_code == 200


@pytest.mark.parametrize("tree_id", ["nothing", "hotel", "", "%00", "a/b"])
def test_a_tree_that_is_not_there_is_not_found(client, tree, tree_id):
    assert show(client, f"?tree={tree_id}&toggle=hotel", **SWAP).status_code == 404


def test_the_next_page_comes_as_rows_and_a_button_in_place(client, member, project):
    for n in range(30):
        make_session(project, f"s{n}", title=f"Session {n}")
    first = show(client).content.decode()
    after = first.split("after=")[1].split('"')[0]
    following = show(client, f"?after={after}", **SWAP).content.decode()
    assert following.count("<tbody") == 5
    assert 'id="more" hx-swap-oob="true"' in following
    assert "30 trees, 30 sessions" in following
    assert "<html" in show(client, f"?after={after}").content.decode()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?since=yesterday", "since must be a day, or a day and a time, written like 2026-11-23 or 2026-11-23T14:20."),
        ("?until=2026-02-30T10:00", "until must be a day, or a day and a time, written like 2026-11-23"),
        ("?sort=random", "sort must be one of activity, created, runs, tokens, title, unseen."),
        ("?view=mine", "view must be one of all, running, forks."),
        ("?status=odd", "status must be one of pending, running, completed, failed, cancelled."),
        ("?" + "&".join(f"metadata.{n}=x" for n in range(11)), "At most 10 names in the metadata"),
        ("?user=%00", "Null characters are not allowed."),
        ("?after=", "This cursor is not one"),
        ("?after=abc", "This cursor is not one"),
        (f"?user={'x' * 201}", "at most 200 characters"),
    ],
)
@pytest.mark.parametrize("headers", [{}, SWAP])
def test_it_refuses_what_it_does_not_understand_and_says_why(client, tree, query, sentence, headers):
    response = show(client, query, **headers)
    assert response.status_code == 422
    assert escape(sentence) in response.content.decode()


@pytest.mark.parametrize("query", ["?since=9999-12-31", "?until=9999-12-31", "?since=0001-01-01", "?open=%00,..,trip"])
def test_extreme_but_legal_filters_are_answered(client, tree, query):
    assert show(client, query).status_code == 200


def test_times_that_are_often_asked_for_are_links_that_keep_the_other_filters(client, tree):
    today = timezone.localdate()
    week = today - timedelta(days=6)
    page = show(client, "?user=mira&since=2026-05-04").content.decode()
    assert f'<a href="?user=mira&amp;since={today}&amp;until={today}">Today</a>' in page
    assert f'<a href="?user=mira&amp;since={week}&amp;until={today}">Last 7 days</a>' in page


def test_filters_travel_in_the_address_and_can_be_removed_one_by_one(client, member, project):
    make_session(project, "s", metadata={"channel": "web", "a&b": "<i>"}, settings={"max_runs": 2})
    make_session(project, "other", metadata={"channel": "voice"})
    query = "?own=1&metadata.channel=web&key=a%26b&value=%3Ci%3E&status="
    page = show(client, query).content.decode()
    assert "1 of 1 matching session shown" in page
    assert (
        'href="?metadata.channel=web&amp;metadata.a%26b=%3Ci%3E" aria-label="own settings, remove this filter">' in page
    )
    assert 'href="?own=1&amp;metadata.a%26b=%3Ci%3E" aria-label="channel = web, remove this filter">' in page
    assert '<input type="hidden" name="metadata.a&amp;b" value="&lt;i&gt;">' in page
    swapped = show(client, query, **SWAP)
    assert swapped["HX-Push-Url"] == "/p/p/sessions/?own=1&metadata.channel=web&metadata.a%26b=%3Ci%3E"
    assert (
        'id="chips-set" role="group" aria-label="Filters that are set" hx-swap-oob="true"' in swapped.content.decode()
    )


def test_the_next_page_keeps_to_the_filters(client, member, project):
    for n in range(30):
        make_session(project, f"s{n}", metadata={"channel": "web"})
    page = show(client, "?metadata.channel=web").content.decode()
    assert 'href="?metadata.channel=web&amp;after=' in page


def test_the_sidebar_leads_to_sessions_with_lost_runs(client, member, project):
    lossy = make_session(project, "lossy", runs=12, settings={"max_input_tokens": 70, "last_n": 8, "on_gap": "warn"})
    make_session(project, "fine", runs=2)
    refresh_snapshot(session=lossy)
    page = show(client, "?lost=1").content.decode()
    assert re.search(r'href="/p/p/sessions/\?lost=1"[^>]* aria-current="true"', page)
    assert "1 of 1 matching session shown" in page
    assert ">fine</a>" not in page


def snapshot(session, **changes):
    values = effective_settings(session=session).values
    parts = {"instructions": 100, "runs": 900, "overhead": 3}
    session.prompt_snapshot = {
        "position": session.last_position,
        "settings": settings_hash(values),
        "summary": None,
        "total": 1003,
        "budget": 4000,
        "parts": parts,
        "unseen": 2,
        "lost": 0,
        "reserve": 0,
        "wish": session.summary_wanted_at.isoformat(),
        "error": None,
    } | changes
    session.save(update_fields=["prompt_snapshot"])


def test_a_row_shows_the_stored_figures_of_the_next_prompt(client, tree):
    snapshot(tree, lost=2)
    page = show(client).content.decode()
    assert '<span class="num">1,003</span>' in page
    assert "2 runs the model cannot see, 2 lost" in page
    assert "ctx stale" not in page


def test_list_tree_and_session_say_the_same_of_lost_runs(client, member, project):
    session = make_session(project, runs=12, settings={"max_input_tokens": 70, "last_n": 8, "on_gap": "warn"})
    refresh_snapshot(session=session)
    plan = session_plan(session=session)
    lost = sum(fates.count for fates in plan.lost)
    assert 0 < lost < plan.unseen

    said = f"{plan.unseen} runs the model cannot see, {lost} lost"

    assert show(client).content.decode().count(f'title="{said}"') == 1
    session_page = client.get("/p/p/sessions/s/").content.decode()
    assert session_page.count(f'title="{said}"') == 1  # in the tree beside it
    assert f"{said}</p>" in session_page
    assert client.get("/p/p/sessions/s/tune/").content.decode().count(f'title="{said}"') == 3


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "1 tree, 3 sessions"),
        ("?since=2026-05-01", "1 of 1 tree shown"),
        ("?view=forks", "2 of 2 matching sessions shown"),
    ],
)
def test_it_says_what_it_counts(client, tree, query, said):
    assert said in show(client, query).content.decode()


def shows_stale_figures(client):
    return "ctx stale" in show(client).content.decode()


@pytest.mark.parametrize("changes", [{"wish": None}, {"settings": "another"}])
def test_figures_are_dimmed_when_anything_has_changed_since(client, tree, changes):
    snapshot(tree, **changes)
    assert shows_stale_figures(client)


def test_a_change_dims_the_figures_until_they_are_worked_out_anew(client, member, project):
    session = make_session(project, runs=2)
    run = make_open_run(session)
    changes = (
        lambda now: update_session(session=session, changes={"instructions": "word " * 3000}, now=now),
        lambda now: add_events(run=run, events=[Event(EventKind.MESSAGE, "word " * 2000, Role.ASSISTANT)], now=now),
        lambda now: change_run(run=run, status=RunStatus.COMPLETED, now=now),
        lambda now: save_project_settings(project=project, changes={"offset": 5}, now=now),
    )
    for minute, change in enumerate(changes, 1):
        summaries.advance(session_pk=session.pk, now=LATER)
        assert not shows_stale_figures(client)
        change(NOW + timedelta(minutes=minute))
        assert shows_stale_figures(client)


def test_figures_that_are_right_are_not_dimmed_while_a_summary_is_tried_again(client, member, project, monkeypatch):
    monkeypatch.setitem(summarizers.SUMMARIZERS, SummarizerName.EXTRACTIVE, by_request(lambda request: ""))
    session = make_session(project, runs=9, settings={"summarize_at": 0})
    tasks.summarize(session.pk)
    session.refresh_from_db()
    assert session.summary_wanted_at is not None
    assert session.prompt_snapshot is not None
    assert not shows_stale_figures(client)
    append_turns(session, now=LATER)
    assert shows_stale_figures(client)


def test_a_changed_project_setting_makes_figures_stale(client, tree, project):
    snapshot(tree)
    project.settings = {"max_runs": 2}
    project.save()
    assert "ctx stale" in show(client).content.decode()


def test_a_prompt_that_cannot_be_built_says_so(client, tree):
    tree.prompt_snapshot = {"position": 3, "settings": "x", "error": "The instructions need 900 tokens."}
    tree.save(update_fields=["prompt_snapshot"])
    page = show(client).content.decode()
    assert "cannot be built" in page
    assert "The instructions need 900 tokens." in page


def add_summary(session, status, *, number, covers):
    return Summary.objects.create(
        session=session, number=number, status=status, covers_through=covers, summarizer="extractive", created_at=NOW
    )


def test_a_row_tells_the_state_of_the_summary(client, tree, project):
    Session.objects.update(summary_wanted_at=None)
    assert "none yet" in show(client).content.decode()
    tree.summary = add_summary(tree, "completed", number=1, covers=2)
    tree.save(update_fields=["summary"])
    assert "runs 1–2" in show(client).content.decode()
    failed = add_summary(tree, "failed", number=2, covers=3)
    Session.objects.update(next_attempt_at=NOW)
    assert "failed after run 2" in show(client).content.decode()
    failed.delete()
    Session.objects.update(next_attempt_at=None)
    waiting = add_summary(tree, "pending", number=2, covers=3)
    assert "</svg>waiting</span>" in show(client).content.decode()
    waiting.delete()
    add_summary(tree, "running", number=2, covers=3)
    assert '<span class="sbadge now">' in show(client).content.decode()
    project.settings = {"strategy": "buffer"}
    project.save()
    assert '<span class="sbadge off"' in show(client).content.decode()


@pytest.mark.parametrize(
    ("columns", "badge"),
    [
        ({"next_attempt_at": NOW}, "failed after run 2"),
        ({"rests_since": NOW, "summary_wanted_at": timedelta(hours=-1)}, "resting, runs 1–2"),
        ({"summary_wanted_at": timedelta(minutes=-5)}, "behind, runs 1–2"),
        ({"summary_wanted_at": timedelta(minutes=5)}, "runs 1–2"),
    ],
)
def test_a_row_tells_of_summaries_that_fail_rest_or_wait_for_long(client, tree, columns, badge):
    now = timezone.now()
    columns = {name: now + moment if isinstance(moment, timedelta) else moment for name, moment in columns.items()}
    entry = add_summary(tree, "completed", number=1, covers=2)
    Session.objects.filter(pk=tree.pk).update(**({"summary": entry, "summary_wanted_at": None} | columns))
    assert f"</svg>{badge}</span>" in show(client).content.decode()


def test_the_number_of_queries_is_the_same_for_one_session_and_for_a_full_page(client, member, project):
    make_session(project, "first", tags=["a"])
    show(client, "?open=first")
    with CaptureQueriesContext(connection) as few:
        show(client, "?open=first")
    for n in range(25):
        root = make_session(project, f"s{n}", tags=["a", "b"])
        append_turns(root, 2)
        snapshot(root)
        make_session(project, f"c{n}", parent=root)
    with CaptureQueriesContext(connection) as many:
        page = show(client, "?open=first").content.decode()
    assert page.count("<tbody") == 25
    # One more counts what is not all on the page.
    assert len(many) == len(few) + 1 <= 22


def test_a_hit_shows_the_words_in_the_run_that_they_stand_in_and_leads_there(client, tree, project):
    late = Session.objects.get(public_id="late")
    turns = [simple_turn("My train is late", "Sorry"), simple_turn("Which platform?", "The train leaves from 7")]
    append_runs(session=late, runs=turns, now=LATER)
    page = show(client, "?q=train").content.decode()
    assert "1 of 1 matching session shown" in page
    assert '<a class="hit" href="/p/p/sessions/late/?find=train&amp;at=2#run-2"' in page
    assert '<a class="hit" href="/p/p/sessions/late/?find=train&amp;at=3#run-3"' in page
    assert "Run 2</b><span" in page
    assert '<span class="num">2 runs</span>' in page
    assert 'href="/p/p/sessions/late/facts/?words=train"' in page
    assert "My <mark>train</mark> is late" in page
    assert "The <mark>train</mark> leaves from 7" in page
    assert page.count('class="way"') == 2
    assert "<mark>Late</mark> arrival" in show(client, "?q=late").content.decode()
    assert "My train is <mark>late</mark>" in show(client, "?q=late").content.decode()


def test_a_hit_in_a_tool_call_names_the_tool(client, member, project):
    call = ToolCall("c1", "find_bag", "{}", "shelf seventeen")
    append_runs(session=make_session(project), runs=[NewRun((Event(EventKind.TOOL_CALL, tool=call),))], now=NOW)
    page = show(client, "?q=seventeen").content.decode()
    assert '<span class="hit-by">find_bag</span>' in page
    assert "shelf <mark>seventeen</mark>" in page


@pytest.mark.parametrize(
    "query", ['"', "'", "* OR (", "%00", "%ED%A0%80", "x" * 4000, "bag%20" * 1500, "%F0%9F%91%8D", "project:p1 words:"]
)
def test_any_words_can_be_searched_for(client, tree, query):
    assert show(client, f"?q={query}").status_code == 200
    assert show(client, f"?q={query}", **SWAP).status_code == 200


def test_the_caption_says_that_only_the_newest_places_were_read(client, member, project, monkeypatch):
    monkeypatch.setattr(search_index, "PLACES_READ", 3)
    make_session(project, "talk", runs=5)
    assert "among the newest 5,000 places with these words" in show(client, "?q=question").content.decode()
    assert "among the newest" not in show(client, "?q=talk").content.decode()


@pytest.mark.parametrize("name", ["title", "user_id"])
def test_hostile_texts_are_escaped(client, member, project, name):
    hostile = "<script>window.pwned=1</script>\"'{{ 7*7 }}{% debug %}"
    make_session(project, "s", **{name: hostile}, tags=[hostile])
    page = show(client, "?q=s").content.decode()
    assert "<script>window" not in page
    assert escape(hostile) in page
    assert Session.objects.get().public_id == "s"


def test_hostile_texts_are_escaped_where_they_are_found(client, member, project):
    hostile = "<script>window.pwned=1</script> <img src=x onerror=alert(1)> bag"
    append_runs(session=make_session(project, title=hostile), runs=[simple_turn(hostile, "ok")], now=NOW)
    page = show(client, "?q=bag script").content.decode()
    assert "<script>window" not in page
    assert "<img src" not in page
    assert "&lt;<mark>script</mark>&gt;" in page
