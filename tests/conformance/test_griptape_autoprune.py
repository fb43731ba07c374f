"""Griptape's autoprune: how many runs it keeps, at every limit.

The number of runs that fit only grows with the limit. So it is the same at every limit if it is the same around each at
which one run more fits.
"""

from random import Random
from typing import Any

import pytest

from sessions_app.domain.errors import BudgetTooSmall
from sessions_app.domain.plan import Fate, Part, Prompt, WarningCode
from tests.conformance.conversations import MODELS, SPECIAL, cases, exchanges, kept, text, text_prompt, transcript
from tests.conformance.real_packages import Peer, Tally
from tests.domain.fakes.transcripts import InMemoryTranscript
from tests.domain.recount import count_text


def case(chance: Random) -> dict[str, Any]:
    runs = exchanges(chance, fewest=0 if chance.random() < 0.1 else 1)
    asked: dict[str, Any] = {"operation": "add_to_prompt_stack", "runs": runs, "model": chance.choice(MODELS)}
    asked |= {"summary": None, "system": "S " + text(chance, 8) if chance.random() < 0.5 else None}
    asked["query"] = "Q " + text(chance, 8)
    if chance.random() < 0.01:
        asked["query"] += SPECIAL
    if runs and chance.random() < 0.25:
        asked |= {"summary": f"S {text(chance, 3)}", "summary_index": chance.randint(1, len(runs))}
    system = [["system", asked["system"]]] if asked["system"] else []
    asked |= {"base": [*system, ["user", asked["query"]]], "index": len(system)}
    prompt = build(asked, 1_000_000)
    asked["needed_by_summary"] = prompt.tokens.summary
    asked["fixed"] = prompt.tokens.total - prompt.tokens.runs - prompt.tokens.summary
    return asked | {"limits": limits(prompt, asked["fixed"], chance)}


def limits(prompt: Prompt, fixed: int, chance: Random) -> list[int]:
    """Return the limits around which one run more fits, and some between."""
    runs = [segment for segment in prompt.segments if segment.part is Part.RUNS]
    need, edges = fixed + prompt.tokens.summary, set()
    for position in sorted({segment.position for segment in runs if segment.position}, reverse=True):
        need += sum(segment.tokens for segment in runs if segment.position == position)
        edges |= {need, need + 1}
    edges.add(fixed + chance.randint(1, 40))
    if chance.random() < 0.1:
        edges |= {max(2, fixed - 1), fixed, fixed + 1}
    return sorted(edges)


def reader_of(asked: dict[str, Any]) -> InMemoryTranscript:
    index, instructions = asked.get("summary_index", 0), asked["system"] or ""
    return transcript(asked["runs"], summary=asked["summary"], index=index, instructions=instructions)


def build(
    asked: dict[str, Any], limit: int, reader: InMemoryTranscript | None = None, *, autoprune: bool = True
) -> Prompt:
    given: dict[str, Any] = {"strategy": "buffer" if asked["summary"] is None else "summary", "model": asked["model"]}
    # Griptape's prompt must leave one token of its limit free.
    given |= {"autoprune": autoprune, "max_input_tokens": limit - 1}
    return text_prompt(reader or reader_of(asked), query=asked["query"], **given)


def ours(prompt: Prompt) -> tuple[int, str | None]:
    """Return how many runs are kept and, if any is, the whole string: without one, Griptape drops the summary too."""
    return kept(prompt), prompt.text if kept(prompt) else None


def theirs(answer: dict[str, Any], asked: dict[str, Any]) -> tuple[int, str | None]:
    messages = len(answer["messages"]) - len(asked["base"])
    runs = (messages - (asked["summary"] is not None and messages > 0)) // 2
    return runs, answer["text"] if runs else None


def special_tokens_are_refused(asked: dict[str, Any]) -> bool:
    return any(SPECIAL in message[1] for message in asked["base"]) and bool(asked["runs"])


def a_base_over_the_limit_is_sent(asked: dict[str, Any], limit: int) -> bool:
    return limit - 1 < asked["fixed"]


def a_summary_takes_more_than_half(asked: dict[str, Any], limit: int) -> bool:
    """Ours cuts a summary that needs more than half of what the fixed parts leave; Griptape's is never cut."""
    needed = asked["needed_by_summary"]
    return needed > 0 and needed > (limit - 1 - asked["fixed"]) // 2


def defect(asked: dict[str, Any], limit: int) -> str:
    if a_base_over_the_limit_is_sent(asked, limit):
        return "a_base_over_the_limit_is_sent"
    if a_summary_takes_more_than_half(asked, limit):
        return "a_summary_takes_more_than_half"
    return ""


def test_as_many_runs_are_kept_at_every_limit(griptape: Peer):
    tally = Tally(f"{griptape.package} autoprune, limits")
    conversations = 0
    asked = [case(chance) for chance in cases("autoprune")]
    for each, found in zip(asked, griptape.ask(asked), strict=True):
        if special_tokens_are_refused(each):
            tally.leave_out("special_tokens_are_refused")
            continue
        conversations += 1
        reader = reader_of(each)
        for limit, answer in zip(each["limits"], found["answer"], strict=True):
            if name := defect(each, limit):
                tally.leave_out(name)
                continue
            tally.compare(ours(build(each, limit, reader)), theirs(answer, each), {**each, "limit": limit})
    tally.name += f" of {conversations:,} conversations"
    tally.settle()


SMALL: dict[str, Any] = {
    "operation": "add_to_prompt_stack",
    "runs": [("q", "a")],
    "model": "gpt-4o",
    "summary": None,
    "system": None,
    "query": "foo",
    "base": [["user", "foo"]],
    "index": 0,
}


def test_griptape_fails_at_the_name_of_a_special_token_and_ours_counts_it_as_text(griptape: Peer):
    asked = SMALL | {"query": SPECIAL, "base": [["user", SPECIAL]], "limits": [100]}
    (answer,) = griptape.ask([asked])
    assert answer["error"].startswith("ValueError: Encountered text corresponding to disallowed special token")
    assert kept(build(asked, 100)) == 1


def test_griptape_sends_a_base_over_the_limit_without_a_word_and_ours_refuses(griptape: Peer):
    asked = SMALL | {"limits": [3]}
    (answer,) = griptape.ask([asked])
    assert answer["answer"][0]["messages"] == [["user", "foo"]]
    with pytest.raises(BudgetTooSmall):
        build(asked, 3)


def test_griptape_drops_the_summary_with_the_last_run_and_ours_keeps_it(griptape: Peer):
    asked = SMALL | {"runs": [("q", "a"), ("q", "a " * 50)], "summary": "S", "summary_index": 1, "limits": [60]}
    (answer,) = griptape.ask([asked])
    assert answer["answer"][0]["messages"] == [["user", "foo"]]
    prompt = build(asked, 60)
    assert (kept(prompt), prompt.covers_through) == (0, 1)


def test_griptape_drops_the_memory_for_a_large_summary_and_ours_cuts_it(griptape: Peer):
    asked = SMALL | {"summary": "They met. " * 30, "summary_index": 1, "runs": [("q", "a")] * 2, "limits": [60]}
    (answer,) = griptape.ask([asked])
    assert answer["answer"][0]["messages"] == [["user", "foo"]]
    prompt = build(asked, 60)
    assert "[shortened]" in (prompt.text or "")
    assert kept(prompt) == 1


def test_griptape_leaves_a_run_out_of_both_without_a_word_and_ours_says_that_it_is_lost(griptape: Peer):
    """Seven runs of which three are summarized, in a prompt that is one token too long."""
    asked = SMALL | {"runs": [(f"q{n}", f"a{n}") for n in range(1, 8)], "summary": "S", "summary_index": 3}
    limit = build(asked, 1_000).tokens.total
    (answer,) = griptape.ask([asked | {"limits": [limit]}])
    prompt = build(asked, limit)
    assert [text for _, text in answer["answer"][0]["messages"]][1:-1] == [f"{w}{n}" for n in (5, 6, 7) for w in "qa"]
    assert prompt.text == answer["answer"][0]["text"]
    assert [(each.first, each.last) for each in prompt.fates if each.fate is Fate.LOST] == [(4, 4)]
    assert [each.code for each in prompt.warnings] == [WarningCode.RUNS_LOST]


def test_with_autoprune_off_griptape_sends_over_the_limit_and_ours_refuses(griptape: Peer):
    asked = SMALL | {"autoprune": False, "limits": [10]}
    (answer,) = griptape.ask([asked])
    assert len(answer["answer"][0]["messages"]) == 3
    assert count_text(answer["answer"][0]["text"], "o200k_base") > 10
    with pytest.raises(BudgetTooSmall):
        build(asked, 11, autoprune=False)
    assert build(asked, 1_000, autoprune=False).text == answer["answer"][0]["text"]
