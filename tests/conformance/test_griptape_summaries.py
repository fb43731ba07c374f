"""Griptape's rolling summary: with which runs its summarizer is called over adds, and how far the index moves."""

from random import Random
from typing import Any

from sessions_app.domain.summaries import Standing, next_step
from tests.conformance.conversations import cases
from tests.conformance.real_packages import Peer, Tally
from tests.domain.fakes.transcripts import settings


def case(chance: Random) -> dict[str, Any]:
    offset, adds = chance.randint(0, 6), chance.randint(1, 15)
    failing = [chance.randint(1, adds)] if chance.random() < 0.02 else []
    max_runs = chance.randint(1, adds) if chance.random() < 0.02 else None
    return {"operation": "add_runs", "adds": adds, "offset": offset, "failing": failing, "max_runs": max_runs}


def ours(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Append one run after the other and summarize what the domain says is due, once each time as Griptape does."""
    limit = "unlimited" if asked["max_runs"] is None else asked["max_runs"]
    values = settings(offset=asked["offset"], summarize_at=0, max_runs=limit).values
    covered, calls, summary, steps = 0, 0, "", []
    for finished in range(1, asked["adds"] + 1):
        standing = Standing(finished, covered, fixed_tokens=0, waiting_tokens=10 * (finished - covered), budget=None)
        through = next_step(
            standing=standing, settings=values, waiting=[10] * (finished - covered), batch_tokens=1_000_000
        )
        called = []
        if through is not None:
            calls += 1
            called.append([*filter(None, [summary]), *(f"question {run}" for run in range(covered + 1, through + 1))])
            if calls not in asked["failing"]:
                covered, summary = through, f"summary {calls}"
        steps.append({"calls": called, "index": covered})
    return steps


def max_runs_shifts_no_index(asked: dict[str, Any]) -> bool:
    return asked["max_runs"] is not None


def a_failed_summary_moves_the_index(asked: dict[str, Any]) -> bool:
    return bool(asked["failing"])


def test_the_same_runs_are_summarized_at_the_same_time(griptape: Peer):
    tally = Tally(f"{griptape.package} summarizer calls over adds")
    asked = [case(chance) for chance in cases("summaries")]
    for each, answer in zip(asked, griptape.ask(asked), strict=True):
        if max_runs_shifts_no_index(each):
            tally.leave_out("max_runs_shifts_no_index")
        elif a_failed_summary_moves_the_index(each):
            tally.leave_out("a_failed_summary_moves_the_index")
        else:
            tally.compare(ours(each), answer["answer"], each)
    tally.settle()


def test_griptape_loses_the_run_whose_summary_failed_and_ours_summarizes_it_with_the_next(griptape: Peer):
    asked = {"operation": "add_runs", "adds": 4, "offset": 1, "failing": [2], "max_runs": None}
    (answer,) = griptape.ask([asked])
    assert [step["index"] for step in answer["answer"]] == [0, 1, 2, 3]
    assert answer["answer"][3]["calls"] == [["summary 1", "question 3"]]
    assert [step["index"] for step in ours(asked)] == [0, 1, 1, 3]
    assert ours(asked)[3]["calls"] == [["summary 1", "question 2", "question 3"]]


def test_griptape_stops_summarizing_under_max_runs_and_ours_covers_every_run(griptape: Peer):
    asked = {"operation": "add_runs", "adds": 10, "offset": 1, "failing": [], "max_runs": 3}
    (answer,) = griptape.ask([asked])
    assert [step["index"] for step in answer["answer"]][-3:] == [3, 3, 3]
    assert ours(asked)[-1] == {"calls": [["summary 8", "question 9"]], "index": 9}
