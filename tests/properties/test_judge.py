"""The judge itself: an answer that is right passes, and each way to spoil it is found."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.properties.conversations import conversation
from tests.properties.engine import engine_over, in_memory
from tests.properties.judge import faults
from tests.properties.requests import request, with_settings

Plain = dict[str, Any]


def message(role: str, text: str) -> Plain:
    return {"kind": "message", "role": role, "text": text, "content": None, "call": None, "parent": None}


def turn(position: int) -> Plain:
    call = {"id": "a b", "name": "look_up", "arguments": "no json", "result": f"q{position}n3z found", "error": None}
    events = [
        message("user", f"q{position}n1z Where is it?"),
        message("assistant", f"q{position}n2z I look."),
        message("", "") | {"kind": "call", "role": None, "call": call, "parent": 1},
        message("assistant", f"q{position}n4z There. " + "Really. " * 20),
    ]
    return {"status": "completed", "error": "", "events": events}


CONVERSATION = {
    "instructions": "qIz Be kind.",
    "runs": [turn(position) for position in range(1, 7)],
    "summaries": [{"number": 1, "covers_through": 2, "text": "qS1az They asked. qS1bz"}],
    "parents": [],
    "shared": None,
}
PLAIN = {
    "model": "gpt-4o",
    "strategy": "summary",
    "format": "openai",
    "offset": 0,
    "max_runs": "unlimited",
    "last_n": "unlimited",
    "max_input_tokens": 320,
    "autoprune": True,
    "on_gap": "warn",
    "include_parent_context": False,
    "max_summary_tokens": 512,
    "tool_result_max_tokens": "unlimited",
    "keep_tool_results": "unlimited",
}
ENGINE = engine_over(in_memory(CONVERSATION))


def asked() -> Plain:
    chance = Random(1)
    nothing: Plain = {"query": "qQz Well?", "context": [], "tools": [], "instructions": None, "base": None, "at": None}
    plain = request(chance, conversation(chance), "summary", "openai") | nothing | {"shorten": False}
    return with_settings(plain, **PLAIN)


def laws(spoil: Callable[[Plain], object]) -> set[str]:
    """Return which laws a spoilt answer breaks."""
    answer = copy.deepcopy(ENGINE(asked()))
    spoil(answer)
    return {fault.partition(":")[0] for fault in faults(CONVERSATION, asked(), answer, ENGINE)}


def drop_a_run(answer: Plain) -> None:
    answer["messages"] = [each for each in answer["messages"] if "q6n" not in str(each)]


def swap_runs(answer: Plain) -> None:
    head, *rest, query = answer["messages"]
    answer["messages"] = [head, *rest[len(rest) // 2 :], *rest[: len(rest) // 2], query]


def test_a_right_answer_has_no_fault_and_runs_of_every_kind():
    answer = ENGINE(asked())
    assert [each["fate"] for each in answer["fates"]] == ["summarized", "lost", "lost", "kept"]
    assert laws(lambda answer: None) == set()


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        (lambda answer: answer["messages"][-2].update(content="More. " * 400), "budget"),
        (lambda answer: answer["tokens"].update(total=answer["tokens"]["total"] - 1), "budget"),
        (lambda answer: answer.update(margin=1.3), "budget"),
        (lambda answer: answer["messages"][2]["tool_calls"][0].update(id="a b"), "validity"),
        (lambda answer: answer["messages"][1].update(content=" "), "validity"),
        (lambda answer: answer["messages"].pop(3), "validity"),
        (lambda answer: answer["messages"].insert(0, answer["messages"].pop()), "fixed"),
        (lambda answer: answer["messages"][0].update(content="qS1az They asked. qS1bz"), "fixed"),
        (lambda answer: answer["messages"][0].update(content="qIz Be kind."), "summary"),
        (drop_a_run, "fates"),
        (swap_runs, "order"),
        (lambda answer: answer["fates"].pop(), "fates"),
        (lambda answer: answer["fates"].insert(0, answer["fates"][0]), "fates"),
        (lambda answer: answer["fates"][0].update(fate="capped"), "fates"),
        (lambda answer: answer["fates"][1].update(fate="pruned"), "fates"),
        (lambda answer: answer["fates"][-1].update(fate="lost"), "fates"),
        (lambda answer: answer["fates"][-1].update(reason=""), "fates"),
        (lambda answer: answer.update(warnings=[]), "warnings"),
        (lambda answer: answer["messages"][1].update(role="assistant"), "speakers"),
        (lambda answer: answer.update(refusal="RunsLost"), "refusals"),
        (lambda answer: answer.update(refusal="BudgetTooSmall", needs={"query": 2}), "refusals"),
    ],
)
def test_a_spoilt_answer_is_found(spoil: Callable[[Plain], object], law: str):
    assert law in laws(spoil)


def test_runs_that_are_lost_though_an_extract_fits_are_found():
    wanted = with_settings(asked(), on_gap="stopgap")
    assert faults(CONVERSATION, wanted, ENGINE(wanted), ENGINE) == []
    found = faults(CONVERSATION, wanted, ENGINE(asked()), ENGINE)
    assert "gaps" in {fault.partition(":")[0] for fault in found}
