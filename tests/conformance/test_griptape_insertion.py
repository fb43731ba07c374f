"""Griptape's insertion: memory among a given list of messages, at any index, none of which it touches."""

from random import Random
from typing import Any

from sessions_app.domain.base_messages import Base
from sessions_app.domain.plan import Part
from tests.conformance.conversations import MODELS, cases, exchanges, kept, text, text_prompt, transcript
from tests.conformance.real_packages import Peer, Tally
from tests.domain.fakes.transcripts import InMemoryTranscript

PLENTY = 1_000_000


def case(chance: Random) -> dict[str, Any]:
    base = [[chance.choice(["user", "assistant"]), f"B {text(chance, 5)}"] for _ in range(chance.randint(0, 4))]
    if chance.random() < 0.5:
        base.insert(0, ["system", f"S {text(chance, 5)}"])
    runs = exchanges(chance, fewest=2, most=5)
    asked: dict[str, Any] = {"operation": "add_to_prompt_stack", "runs": runs, "model": chance.choice(MODELS)}
    asked |= {"summary": None, "base": base, "index": chance.choice([None, *range(-3, 8)])}
    if chance.random() < 0.15:
        asked |= {"summary": f"S {text(chance, 3)}", "summary_index": chance.randint(1, len(runs) - 1)}
    # All of it, or without the oldest run.
    return asked | {"limits": [PLENTY, limit_of_all(asked)]}


def limit_of_all(asked: dict[str, Any]) -> int:
    return build(asked, PLENTY, reader_of(asked)).tokens.total


def reader_of(asked: dict[str, Any]) -> InMemoryTranscript:
    return transcript(asked["runs"], summary=asked["summary"], index=asked.get("summary_index", 0))


def build(asked: dict[str, Any], limit: int, reader: InMemoryTranscript) -> Any:
    return text_prompt(
        reader,
        base=Base([{"role": role, "content": given} for role, given in asked["base"]], asked["index"]),
        strategy="buffer" if asked["summary"] is None else "summary",
        model=asked["model"],
        max_input_tokens=limit - 1,
    )


def a_summary_goes_with_the_last_run(asked: dict[str, Any], answer: dict[str, Any]) -> bool:
    return asked["summary"] is not None and len(answer["messages"]) == len(asked["base"])


def test_the_memory_stands_at_the_same_place(griptape: Peer):
    tally = Tally(f"{griptape.package} insertion at an index")
    asked = [case(chance) for chance in cases("insertion")]
    for each, found in zip(asked, griptape.ask(asked), strict=True):
        reader = reader_of(each)
        for limit, answer in zip(each["limits"], found["answer"], strict=True):
            if a_summary_goes_with_the_last_run(each, answer):
                tally.leave_out("a_summary_goes_with_the_last_run")
                continue
            prompt = build(each, limit, reader)
            shown = [[segment.role, segment.text] for segment in prompt.segments if segment.part is not Part.TOOLS]
            tally.compare((shown, prompt.text), (answer["messages"], answer["text"]), {**each, "limit": limit})
    tally.settle()


def test_griptape_drops_the_summary_with_the_last_run_and_ours_keeps_it(griptape: Peer):
    asked: dict[str, Any] = {
        "operation": "add_to_prompt_stack",
        "model": "gpt-4o",
        "base": [["user", "foo"]],
        "index": 0,
    }
    asked |= {"base": [["user", "foo"]], "summary": "S", "summary_index": 1, "limits": [60]}
    asked["runs"] = [("q", "a"), ("q", "a " * 50)]
    (answer,) = griptape.ask([asked])
    assert answer["answer"][0]["messages"] == [["user", "foo"]]
    prompt = build(asked, 60, reader_of(asked))
    assert (kept(prompt), prompt.covers_through) == (0, 1)
