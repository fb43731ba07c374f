"""The whole way on real conversations: imported by the command, built for a bot over the API, shown on a page."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from sessions_app.domain.memory_settings import Strategy
from sessions_app.models import Event, Project, Run, Session
from tests.domain.recount import count_messages, count_prompt
from tests.provider_rules import broken_rules

FILE = Path(__file__).parents[3] / "shared" / "data" / "airline-support.jsonl"
STRATEGIES = ("buffer", "summary")
BUDGETS = (2_500, 5_000, 12_000)
TOO_SMALL = 500
# Those that send something from the beginning.
GAPPED = ("head_tail", "hierarchical", "minimal", "task")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not FILE.exists(), reason=f"{FILE.name} does not lie in ../shared/data"),
]


@pytest.fixture
def bot(client, capsys):
    """A client with a key of the project that holds the imported conversations."""
    call_command("create_project", "airline")
    call_command("import_sessions", str(FILE), "--project", "airline")
    capsys.readouterr()
    call_command("create_api_key", "--project", "airline", "--name", "bot", "--scopes", "read,write")
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {capsys.readouterr().out.strip()}"
    return client


def build(bot, session, **settings):
    path = f"/api/v1/sessions/{session.public_id}/prompt"
    return bot.post(path, json.dumps({"settings": settings}), content_type="application/json")


def test_nothing_of_the_file_is_lost(bot):
    project = Project.objects.get(slug="airline")
    assert Session.objects.filter(project=project).count() == 100
    assert Run.objects.filter(project=project).count() == 757
    assert Event.objects.filter(run__project=project, kind="tool_call").count() == 572


def test_every_prompt_keeps_its_budget_is_valid_and_tells_each_runs_fate(bot):
    built = 0
    for session in Session.objects.order_by("pk"):
        for strategy in STRATEGIES:
            for budget in BUDGETS:
                answer = build(bot, session, strategy=strategy, max_input_tokens=budget)
                assert answer.status_code == 200, answer.content
                prompt = answer.json()
                total = count_messages(prompt["messages"], prompt["encoding"])
                assert prompt["margin"] == 1
                assert total == prompt["tokens"]["total"] <= budget == prompt["tokens"]["budget"]
                assert broken_rules(prompt["messages"], last_is_history=True) == []
                assert prompt["messages"][0]["content"].count(session.instructions) == 1
                fates = [p for f in prompt["fates"] for p in range(f["first"], f["last"] + 1)]
                assert fates == list(range(1, session.last_position + 1))
                built += 1
    assert built == 600


@pytest.mark.parametrize("strategy", sorted(set(Strategy) - set(STRATEGIES)))
def test_the_other_strategies_keep_the_budget_are_valid_and_mark_what_is_left_out(bot, strategy):
    gaps = 0
    for session in Session.objects.order_by("pk"):
        prompt = build(bot, session, strategy=strategy, max_input_tokens=BUDGETS[0], keep_tool_results=2).json()
        assert count_messages(prompt["messages"], prompt["encoding"]) == prompt["tokens"]["total"] <= BUDGETS[0]
        assert broken_rules(prompt["messages"], last_is_history=True) == []
        fates = [f["fate"] for f in prompt["fates"] for _ in range(f["first"], f["last"] + 1)]
        assert len(fates) == session.last_position
        results = [message["content"] for message in prompt["messages"] if message["role"] == "tool"]
        assert all(content == "[result not shown]" for content in results[:-2])
        kept = [position for position, fate in enumerate(fates, 1) if fate == "kept"]
        marks = re.findall(r"\[(\d+) runs? not shown\]", json.dumps(prompt["messages"]))
        expected = [after - before - 1 for before, after in pairwise([*kept, len(fates) + 1])]
        assert list(map(int, marks)) == [gap for gap in expected if gap]
        gaps += len(marks)
    assert bool(gaps) == (strategy in GAPPED)


@pytest.mark.parametrize("shape", ["responses", "anthropic", "gemini"])
def test_the_other_formats_keep_the_budget_and_are_valid_too(bot, shape):
    for session in Session.objects.order_by("pk"):
        prompt = build(bot, session, strategy="buffer", max_input_tokens=BUDGETS[0], format=shape).json()
        messages, system = prompt["messages"], prompt["system"]
        total = count_prompt(shape, messages, system, prompt["encoding"])
        assert total == prompt["tokens"]["total"] <= BUDGETS[0]
        assert broken_rules(messages, last_is_history=True, format=shape, system=system) == []
        assert json.dumps([system, messages]).count(json.dumps(session.instructions)[1:-1]) == 1


def test_a_budget_below_the_instructions_is_refused_and_says_so(bot):
    for session in Session.objects.order_by("pk"):
        for strategy in STRATEGIES:
            answer = build(bot, session, strategy=strategy, max_input_tokens=TOO_SMALL)
            problem = answer.json()
            assert answer.status_code == 422
            assert problem["type"].endswith("budget-too-small")
            assert "instructions" in problem["detail"]


def test_the_page_shows_the_prompt_that_the_bot_gets(bot, admin_client):
    for session in Session.objects.order_by("pk"):
        for strategy in STRATEGIES:
            for budget in BUDGETS:
                settings = {"strategy": strategy, "max_input_tokens": budget}
                page = admin_client.get(reverse("tune", args=["airline", session.public_id]), settings)
                shown = re.findall(r"sha256:[0-9a-f]{64}", page.content.decode())
                assert set(shown) >= {build(bot, session, **settings).json()["fingerprint"]}
