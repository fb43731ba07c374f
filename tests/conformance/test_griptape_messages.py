"""Griptape's `to_prompt_stack`: which messages a memory gives, with and without a summary, for all `last_n`."""

from random import Random
from typing import Any

import pytest

from sessions_app.domain.errors import InvalidSettings
from sessions_app.domain.setting_values import check_settings
from tests.conformance.conversations import MODELS, cases, exchanges, text, text_prompt, told, transcript
from tests.conformance.real_packages import Peer, Tally


def case(chance: Random) -> dict[str, Any]:
    runs = exchanges(chance)
    asked: dict[str, Any] = {
        "operation": "to_prompt_stack",
        "runs": runs,
        "model": chance.choice(MODELS),
        "summary": None,
    }
    if runs and chance.random() < 0.5:
        asked |= {"summary": "S " + text(chance), "summary_index": chance.randint(1, len(runs))}
    none = chance.random() < 0.3
    asked["last_n"] = None if none else 0 if chance.random() < 0.025 else chance.randint(1, len(runs) + 2)
    return asked


def ours(asked: dict[str, Any]) -> dict[str, Any]:
    reader = transcript(asked["runs"], summary=asked["summary"], index=asked.get("summary_index", 0))
    strategy = "buffer" if asked["summary"] is None else "summary"
    last_n = "unlimited" if asked["last_n"] is None else asked["last_n"]
    prompt = text_prompt(reader, strategy=strategy, last_n=last_n, model=asked["model"])
    return {"messages": told(prompt), "text": prompt.text}


def last_n_0_means_all(asked: dict[str, Any]) -> bool:
    return asked["last_n"] == 0


def test_the_messages_are_the_same(griptape: Peer):
    tally = Tally(f"{griptape.package} to_prompt_stack(last_n)")
    asked = [case(chance) for chance in cases("messages")]
    for each, answer in zip(asked, griptape.ask(asked), strict=True):
        if last_n_0_means_all(each):
            tally.leave_out("last_n_0_means_all")
        else:
            tally.compare(ours(each), answer["answer"], each)
    tally.settle()


def test_griptapes_last_n_of_0_sends_all_runs_and_ours_none(griptape: Peer):
    asked: dict[str, Any] = {
        "operation": "to_prompt_stack",
        "runs": [("q", "a")],
        "model": "gpt-4o",
        "summary": None,
        "last_n": 0,
    }
    (answer,) = griptape.ask([asked])
    assert answer["answer"]["messages"] == [["user", "q"], ["assistant", "a"]]
    assert ours(asked)["messages"] == []


def test_griptapes_negative_last_n_drops_the_first_runs_and_ours_is_refused(griptape: Peer):
    asked: dict[str, Any] = {"operation": "to_prompt_stack", "model": "gpt-4o", "summary": None, "last_n": -2}
    (answer,) = griptape.ask([asked | {"runs": [(f"q{n}", f"a{n}") for n in range(1, 4)]}])
    assert answer["answer"]["messages"] == [["user", "q3"], ["assistant", "a3"]]
    with pytest.raises(InvalidSettings, match="last_n"):
        check_settings({"last_n": -2})
