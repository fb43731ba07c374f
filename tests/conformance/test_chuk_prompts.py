"""chuk-ai-session-manager's prompts: every strategy, dictionary by dictionary, in the format seed."""

from typing import Any

import pytest

from sessions_app.domain.errors import InvalidSettings
from sessions_app.domain.setting_values import check_settings
from tests.conformance.chuk_sessions import STRATEGIES, chuk_events, seed_prompt, session_case
from tests.conformance.conversations import cases
from tests.conformance.real_packages import Peer, Tally
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, run, user


def ours(reader: InMemoryTranscript, asked: dict[str, Any]) -> list[Any]:
    return list(seed_prompt(reader, asked).messages or ())


def the_whole_message_object_is_sent(asked: dict[str, Any]) -> bool:
    """Without an answer, minimal sends an object with a content whole, not its content."""
    messages = [each for each in asked["events"] if each["type"] == "message"]
    only_user = bool(messages) and all(each["source"] == "user" for each in messages)
    return asked["strategy"] in ("minimal", "hierarchical") and only_user and isinstance(messages[0]["message"], dict)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_gives_the_same_dictionaries(chuk: Peer, strategy: str):
    tally = Tally(f"{chuk.package} {strategy}")
    given = [session_case(chance, strategy) for chance in cases(strategy)]
    answers = chuk.ask([asked for _, asked in given])
    for (reader, asked), answer in zip(given, answers, strict=True):
        if the_whole_message_object_is_sent(asked):
            tally.leave_out("the_whole_message_object_is_sent")
        else:
            tally.compare(ours(reader, asked), answer["answer"], asked)
    tally.settle()


@pytest.mark.parametrize("strategy", ["minimal", "hierarchical"])
def test_chuk_sends_a_message_object_whole_and_ours_its_text(chuk: Peer, strategy: str):
    runs = [run(user("hi"))]
    asked = {
        "operation": "build",
        "strategy": strategy,
        "include_parent_context": False,
        "events": chuk_events(runs, wrapped=True),
    }
    (answer,) = chuk.ask([asked])
    assert answer["answer"] == [{"role": "user", "content": {"content": "hi"}}]
    assert ours(InMemoryTranscript(runs), asked) == [{"role": "user", "content": "hi"}]


def question(**more: Any) -> dict[str, Any]:
    runs = [run(user("q1"), assistant("a1")), run(user("q2 " * 60))]
    return {
        "operation": "build",
        "strategy": "task",
        "include_parent_context": False,
        "events": chuk_events(runs),
    } | more


def test_chuk_takes_an_unknown_strategy_for_minimal_and_ours_refuses_it_with_the_known_ones(chuk: Peer):
    unknown, minimal = chuk.ask([question(strategy="task_focused"), question(strategy="minimal")])
    assert unknown == minimal
    with pytest.raises(InvalidSettings, match="minimal, task, tool, conversation, hierarchical"):
        check_settings({"strategy": "task_focused"})


def test_chuks_builder_takes_no_notice_of_its_limit_and_ours_keeps_it(chuk: Peer):
    (answer,) = chuk.ask([question(max_tokens=20)])
    assert [each["content"] for each in answer["answer"]] == ["q1", "q2 " * 60, None]
    reader = InMemoryTranscript([run(user("q1"), assistant("a1")), run(user("q2 " * 60))])
    prompt = seed_prompt(reader, question(), 20)
    assert [each["content"] for each in prompt.messages or ()] == ["q1", None]
    assert prompt.tokens.total <= 20
