"""What chuk-ai-session-manager's strategies get wrong, and what the same ones of ours send to a provider instead."""

from collections.abc import Sequence
from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.transcript import ParentContext, Run, RunStatus
from sessions_app.domain.validity import validate
from tests.conformance.chuk_sessions import STRATEGIES, chuk_events
from tests.conformance.real_packages import Peer
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, run, settings, system, user

ANSWERED = run(user("q1"), assistant("a1"), call(parent=1))


def theirs(chuk: Peer, strategy: str, *runs: Run, **more: Any) -> list[Any]:
    asked = {"operation": "build", "strategy": strategy, "include_parent_context": True, "events": chuk_events(runs)}
    (answer,) = chuk.ask([asked | more])
    prompt: list[Any] = answer["answer"]
    return prompt


def ours(
    strategy: str, *runs: Run, parents: Sequence[ParentContext] = (), **overrides: Any
) -> Sequence[dict[str, Any]]:
    values = settings(strategy=strategy, format="openai", **overrides)
    prompt = build_prompt(reader=InMemoryTranscript(runs, parents=parents), settings=values, query=None)
    return [dict(message) for message in prompt.messages or ()]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chuks_results_answer_no_call_and_ours_are_paired(chuk: Peer, strategy: str):
    silent, result = theirs(chuk, strategy, ANSWERED)[1:]
    assert (silent["content"], "tool_calls" in silent, "tool_call_id" in result) == (None, False, False)
    sent = ours(strategy, ANSWERED)
    assert validate(sent, PromptFormat.OPENAI, query_follows=True) == []
    assert [message["content"] for message in sent] == ["q1", "a1", "found", "[no answer]"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chuk_drops_the_text_of_the_last_answer_and_ours_keeps_it(chuk: Peer, strategy: str):
    said = run(user("q1"), assistant("a1"), call(parent=1), assistant("final"))
    assert theirs(chuk, strategy, said)[-1] == {"role": "assistant", "content": None}
    assert ours(strategy, said)[-1] == {"role": "assistant", "content": "final"}


@pytest.mark.parametrize("strategy", ["minimal", "task", "tool"])
def test_chuk_takes_a_system_note_for_the_answer_and_ours_only_what_the_assistant_said(chuk: Peer, strategy: str):
    noted = run(user("q1"), assistant("a1"), call(parent=1), system("note"))
    assert theirs(chuk, strategy, noted)[1:] == [{"role": "assistant", "content": None}]
    assert [message["role"] for message in ours(strategy, noted)][:4] == ["user", "assistant", "tool", "user"]


def test_chuk_asks_only_the_nearest_parent_and_ours_as_many_as_it_is_told(chuk: Peer):
    below = {"ancestors": [["Root."], []]}
    assert theirs(chuk, "hierarchical", ANSWERED, **below)[0] == {"role": "user", "content": "q1"}
    sent = ours("hierarchical", ANSWERED, parents=[ParentContext("Root", "Root.")], parent_depth=2)
    assert sent[0]["role"] == "system"
    assert "Root." in sent[0]["content"]


def test_below_a_parent_a_conversation_without_events_gets_nothing_from_chuk_and_the_context_from_ours(chuk: Peer):
    assert theirs(chuk, "hierarchical", ancestors=[["Root."]]) == []
    (sent,) = ours("hierarchical", parents=[ParentContext("Root", "Root.")])
    assert "Root." in sent["content"]


def test_chuks_task_asks_the_newest_question_before_what_came_first_and_ours_last(chuk: Peer):
    prompt = theirs(chuk, "task", ANSWERED, run(user("q2")))
    assert [message["content"] for message in prompt] == ["q1", "q2", None, '"found"']
    sent = ours("task", ANSWERED, run(user("q2"), status=RunStatus.RUNNING))
    assert [message["content"] for message in sent] == ["q1", "a1", "found", "[no answer]", "q2"]


def test_chuks_task_sends_a_call_that_failed_and_ours_does_not(chuk: Peer):
    failed = run(user("q1"), assistant("a1"), call(parent=1, result="null", error="boom"))
    assert theirs(chuk, "task", failed)[-1] == {"role": "tool", "name": "look_up", "content": '"null"'}
    assert [message["role"] for message in ours("task", failed)] == ["user", "assistant"]
