"""The demo project holds one conversation for each cause of forgetting, and for each the cure that its guide names."""

import json
import shutil
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.domain.memory_settings import Layer
from sessions_app.models import lineage_runs
from sessions_app.services import demo
from sessions_app.services.ledgers import edit
from sessions_app.services.prompts import session_prompt, settings_of_turn
from sessions_app.services.sessions import fork_session, update_session
from sessions_app.services.settings import save_project_settings

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Cause:
    """What is said once, in run `said`, and is missing in turn `at` for the reason that stands beside run `said`."""

    session: str
    fact: str
    said: int
    at: int
    fate: str
    reason: str
    cure: dict[str, Any] = field(default_factory=dict)


PRUNED = Cause("harz-weekend", "new hip", 3, 27, "pruned", "max_input_tokens 1,100", {"max_input_tokens": 4000})
LOST = Cause("palermo-group", "Aunt Gerda", 4, 23, "lost", "max_input_tokens 640", {"on_gap": "stopgap"})
DROPPED = Cause("bruno-flies", "calming drops", 2, 21, "summarized", "covered by summary", {"offset": 30})
RESULT = Cause("early-start", "03:45", 2, 8, "kept", "fits", {"tool_result_max_tokens": "unlimited"})
STRATEGY = Cause("roster-week-50", "handball", 2, 14, "skipped", "max_history 6", {"strategy": "summary"})
LAYER = Cause(
    "mila-alone", "Ilse Brandner", 3, 17, "capped", "max_runs 4", {"strategy": "summary", "max_runs": "unlimited"}
)
CAUSES = [PRUNED, LOST, DROPPED, RESULT, STRATEGY, LAYER]


def named(causes):
    return pytest.mark.parametrize("cause", causes, ids=lambda cause: cause.session)


@pytest.fixture
def owner():
    return User.objects.create_user("owner")


@pytest.fixture
def load(owner, tmp_path, monkeypatch):
    """Return what makes a demo project of a few conversations, so that a test need not wait for all of them."""

    def load(*names, now=None):
        for name in names:
            (path,) = demo.CONVERSATIONS.glob(f"*-{name}.json")
            shutil.copy(path, tmp_path)
        monkeypatch.setattr(demo, "CONVERSATIONS", tmp_path)
        return demo.load_demo(owner=owner, now=now or timezone.now())

    return load


def said_before_the_question(prompt):
    return json.dumps(prompt.messages[:-1], ensure_ascii=False)


def run_says(session, position):
    run = lineage_runs(session).get(position=position)
    return " ".join(text for event in run.events.all() for text in (event.text, event.result or ""))


def fate_of(prompt, position):
    return next(fates for fates in prompt.fates if fates.first <= position <= fates.last)


@named(CAUSES)
def test_what_was_said_is_not_in_the_prompt_of_the_turn_that_forgot_it(load, cause):
    session = load(cause.session).sessions.get()

    then = session_prompt(session=session, at=cause.at)

    assert cause.fact in run_says(session, cause.said)
    assert cause.fact not in said_before_the_question(then)
    assert fate_of(then, cause.said).fate == cause.fate
    assert cause.reason in fate_of(then, cause.said).reason
    assert then.is_as_recorded


@named(CAUSES)
def test_its_cure_brings_it_back_and_leaves_the_past_as_it_was(load, owner, cause):
    project = load(cause.session)
    session = project.sessions.get()

    cured = session_prompt(session=session, at=cause.at, overrides=cause.cure)

    assert cause.fact in said_before_the_question(cured)
    now = timezone.now()
    if cause is RESULT:
        save_project_settings(project=project, changes={"tool_result_max_tokens": None}, now=now, actor="owner")
    elif cause is LAYER:
        update_session(session=session, changes={"settings": {"strategy": None, "max_runs": None}}, now=now)
    else:
        update_session(session=session, changes={"settings": cause.cure}, now=now)
    assert cause.fact in said_before_the_question(session_prompt(session=session, at=cause.at, as_saved=True))
    then = session_prompt(session=session, at=cause.at)
    assert cause.fact not in said_before_the_question(then)
    assert then.is_as_recorded


@named(CAUSES)
def test_neither_title_nor_tags_nor_instructions_give_the_answer_away(load, cause):
    session = load(cause.session).sessions.get()

    shown = " ".join([session.title, session.instructions, *session.tags.values_list("name", flat=True)])

    words = cause.fact.lower().split()
    assert not [word for word in words if word in shown.lower().split()]


def test_lost_runs_are_a_warning_with_a_way_out(load):
    session = load(LOST.session).sessions.get()

    warning = next(w for w in session_prompt(session=session, at=LOST.at).warnings if w.code == "runs_lost")

    assert "max_input_tokens" in warning.detail
    assert session.summary.ended_at > lineage_runs(session).get(position=LOST.at).created_at


def test_a_fact_that_a_summary_dropped_comes_back_by_editing_the_summary(load):
    session = load(DROPPED.session).sessions.get()
    assert DROPPED.fact not in session.summary.text
    assert session.summary.covers_through >= DROPPED.said

    text = "Bruno, a beagle, flies on 10 February. He had fits, so no calming drops for him."
    edit(entry=session.summary, text=text, actor="owner", now=timezone.now())

    prompt = session_prompt(session=session, query="What can I do so that he stays quiet?")
    assert text in said_before_the_question(prompt)


def test_a_long_tool_result_was_cut_by_the_projects_default(load):
    session = load(RESULT.session).sessions.get()

    effective = settings_of_turn(session=session, at=RESULT.at)

    assert effective.values.tool_result_max_tokens == 120
    assert effective.origins["tool_result_max_tokens"] is Layer.PROJECT
    assert "Main Plaza" in said_before_the_question(session_prompt(session=session, at=RESULT.at))


def test_an_override_of_the_session_hid_a_default_under_which_everything_is_sent(load):
    session = load(LAYER.session).sessions.get()

    then = settings_of_turn(session=session, at=LAYER.at)
    before = session_prompt(session=session, at=9)

    assert {name for name, layer in then.origins.items() if layer is Layer.SESSION} == {"strategy", "max_runs"}
    version = session.settings_versions.get()
    assert (version.actor, version.note) == ("owner", "Trying whether four turns are enough for short talks.")
    assert LAYER.fact in said_before_the_question(before)


def test_what_was_said_at_the_parent_behind_the_fork_is_in_none_of_the_forks_prompts(load):
    project = load("surf-trip", "surf-trip-later")
    parent, fork = (project.sessions.get(public_id=name) for name in ("surf-trip", "surf-trip-later"))

    then = session_prompt(session=fork, at=12)

    assert "longboard, 2 m 85" in run_says(parent, 7)
    assert fork.forked_at == 6
    assert "longboard" not in said_before_the_question(then)
    assert {fates.fate for fates in then.fates} == {"kept"}
    assert then.is_as_recorded
    context = session_prompt(session=fork, at=12, overrides={"include_parent_context": True, "parent_depth": 3})
    assert "longboard" not in said_before_the_question(context)


def test_a_fork_behind_it_knows_what_was_said_at_the_parent(load):
    project = load("surf-trip", "surf-trip-later")
    parent = project.sessions.get(public_id="surf-trip")

    later = fork_session(session=parent, at=8, now=timezone.now())

    prompt = session_prompt(session=later, query="The same boards, please book them.")
    assert "longboard, 2 m 85" in said_before_the_question(prompt)


def test_turns_that_somebody_complains_of_have_a_time_of_their_own(load):
    now = datetime(2026, 5, 4, 3, 20, tzinfo=timezone.get_default_timezone())

    project = load("harz-weekend", "roster-week-50", now=now)

    forgot = lineage_runs(project.sessions.get(public_id="harz-weekend")).get(position=27)
    assert forgot.created_at == now.replace(day=3, hour=16, minute=5)
    other = lineage_runs(project.sessions.get(public_id="roster-week-50")).get(position=14)
    assert other.created_at == (now - timedelta(days=4)).replace(hour=8, minute=50)
