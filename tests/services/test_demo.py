"""The demo project has something to show on every page."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.models import Event, Membership, Project, Run, Session
from sessions_app.services.demo import CONVERSATIONS, FIRST_CONVERSATION, load_demo
from sessions_app.services.prompts import settings_of_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return User.objects.create_user("owner")


def test_it_has_trees_forks_tools_endings_summaries_and_tags(owner):
    now = timezone.now()
    project = load_demo(owner=owner, now=now)
    assert Project.objects.visible_to(owner).get() == project
    sessions = {session.public_id: session for session in project.sessions.all()}
    prompts = {session.public_id: session.prompt_snapshot or {} for session in sessions.values()}
    assert len(sessions) == len(list(CONVERSATIONS.glob("*.json")))
    assert sessions["lisbon-escalated"].depth == 3
    assert sessions["lisbon-car"].parent == sessions["lisbon-trip"]
    assert sessions["lisbon-car"].forked_at is None
    assert sessions["lisbon-rebooking"].last_position == 60
    assert set(Run.objects.values_list("status", flat=True)) == {"completed", "failed", "cancelled", "running"}
    assert Event.objects.filter(kind="tool_call").count() > 50
    assert Event.objects.exclude(error=None).exists()
    assert sessions["lisbon-rebooking"].summary is not None
    assert prompts["lost-bag"]["lost"] > 0
    assert prompts["policy-questions"]["unseen"] > 0
    assert prompts["storm-line"]["reserve"] > 0
    assert all(prompt["error"] is None for prompt in prompts.values())
    assert not project.sessions.exclude(summary_wanted_at=None).exists()
    assert all(session.updated_at <= now for session in sessions.values())
    assert Run.objects.filter(created_at__gt=now).count() == 0
    newest_root = project.sessions.roots().order_by("-tree_active_at").first()
    assert newest_root == sessions["lost-bag"]
    assert newest_root.title == FIRST_CONVERSATION
    assert newest_root.tree_active_at > now - timedelta(minutes=5)


def test_loading_it_again_changes_nothing(owner):
    load_demo(owner=owner, now=timezone.now())
    counts = [model.objects.count() for model in (Project, Session, Run, Event, Membership)]
    load_demo(owner=owner, now=timezone.now())
    assert [model.objects.count() for model in (Project, Session, Run, Event, Membership)] == counts


def test_what_the_tools_gave_is_json_as_a_provider_would_send_it(owner):
    load_demo(owner=owner, now=timezone.now())
    for event in Event.objects.filter(kind="tool_call"):
        assert isinstance(json.loads(event.arguments), dict)
        assert event.result is None or isinstance(json.loads(event.result), dict)


def test_its_settings_have_versions_that_were_in_force_before_its_first_run(owner):
    project = load_demo(owner=owner, now=timezone.now())

    versions = project.settings_versions.filter(session=None).order_by("number")

    assert [version.settings for version in versions] == [
        {"max_input_tokens": 4000},
        {"max_input_tokens": 4000, "include_parent_context": True},
        {"max_input_tokens": 4000, "include_parent_context": True, "tool_result_max_tokens": 120},
    ]
    assert all(version.note and version.actor == "owner" for version in versions)
    assert versions[2].saved_at < Run.objects.earliest("created_at").created_at
    session = project.sessions.get(public_id="lisbon-rebooking")
    assert settings_of_turn(session=session, at=50).versions.unknown == ""
