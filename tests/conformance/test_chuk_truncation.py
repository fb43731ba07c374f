"""chuk-ai-session-manager's truncation, where what it keeps is within its limit and in order.

Once with any list of messages under its own measure, once with our built prompts. Our measure counts what a message is
wrapped in too, so there the budget is what the kept messages need by ours: then just they must be kept.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

import tiktoken

from sessions_app.domain.seeds.dictionaries import SeedDictionary
from sessions_app.domain.seeds.rules import truncated
from sessions_app.domain.transcript import ParentContext
from tests.conformance.chuk_sessions import MODEL, STRATEGIES, chuk_events, seed_prompt, session_case
from tests.conformance.conversations import cases, text
from tests.conformance.real_packages import Peer, Tally
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, run, user
from tests.domain.recount import count_prompt

Prompt = list[dict[str, Any]]

ENCODING = tiktoken.get_encoding("o200k_base")


def case(chance: Random) -> dict[str, Any]:
    prompt: Prompt = [{"role": "user", "content": text(chance, 8)} for _ in range(chance.choice([0, 1, 1, 1]))]
    if chance.random() < 0.7:
        long = {"role": "user", "content": text(chance, 8) + " more" * chance.randint(0, 90)}
        prompt += [{"role": "assistant", "content": text(chance)}, long]
    if chance.random() < 0.9:
        prompt.append({"role": "assistant", "content": None})
        prompt += [tool(chance) for _ in range(chance.choice([0, 1, 2, 3]))]
    if chance.random() < 0.1:
        prompt.insert(0, {"role": "system", "content": text(chance)})
    kept = kept_of(prompt)
    results = [each for each in kept if each["role"] == "tool"]
    one_result = [each for each in kept if each not in results[1:]]
    limits = [tokens(prompt), second_measure(kept), *([tokens(one_result)] if len(results) > 1 else [])]
    if chance.random() < 0.2:
        limits += [tokens(prompt) - 1, chance.randint(0, 400)]
    return truncation(prompt, limits)


def kept_of(prompt: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the package keeps before it measures again."""
    users = [message for message in prompt if message["role"] == "user"]
    places = [place for place, message in enumerate(prompt) if message["role"] == "assistant"]
    return [*users[:1], *(prompt[places[-1] :] if places else [])]


def tool(chance: Random) -> dict[str, Any]:
    return {"role": "tool", "name": "look_up", "content": f'"{text(chance)}"'}


def tokens(prompt: Sequence[dict[str, Any]]) -> int:
    """The first of the package's two measures."""
    lines = "\n".join(f"{message['role']}: {message['content'] or ''}" for message in prompt)
    return len(ENCODING.encode(lines, disallowed_special=()))


def ours(prompt: Sequence[dict[str, Any]], limit: int) -> list[Any]:
    dictionaries = [SeedDictionary(message, 1, "") for message in prompt]
    kept = truncated(dictionaries, fits=lambda chosen: tokens([dict(each.message) for each in chosen]) <= limit)
    return [dict(each.message) for each in kept]


def is_in_order(kept: Sequence[Any], prompt: Sequence[Any]) -> bool:
    rest = iter(prompt)
    return all(any(each == other for other in rest) for each in kept)


def second_measure(prompt: Sequence[dict[str, Any]]) -> int:
    return len(ENCODING.encode(str(prompt), disallowed_special=()))


def a_longer_measure_drops_results(prompt: Sequence[dict[str, Any]], limit: int) -> bool:
    """What is kept fits, but not as Python's text of the list, by which it is measured again."""
    kept = kept_of(prompt)
    has_results = any(message["role"] == "tool" for message in kept)
    return has_results and tokens(prompt) > limit and tokens(kept) <= limit < second_measure(kept)


def test_it_keeps_the_same_where_that_is_within_the_limit_and_in_order(chuk: Peer):
    tally = Tally(f"{chuk.package} truncation, limits")
    outside = shorter = 0
    asked = [case(chance) for chance in cases("truncation")]
    for each, answer in zip(asked, chuk.ask(asked), strict=True):
        for limit, found in zip(each["limits"], answer["answer"], strict=True):
            kept = found["kept"]
            if found["tokens"] > limit or not is_in_order(kept, each["prompt"]):
                outside += 1
            elif a_longer_measure_drops_results(each["prompt"], limit):
                tally.leave_out("a_longer_measure_drops_results")
            else:
                shorter += len(kept) < len(each["prompt"])
                tally.compare(ours(each["prompt"], limit), kept, {**each, "limit": limit})
    tally.name += f" ({shorter:,} cut; {outside:,} more were over the limit or out of order)"
    tally.settle()


def built_limits(prompt: Prompt, chance: Random) -> list[int]:
    """Return limits at which the package sends all, and some at which it cannot."""
    total, kept = tokens(prompt), tokens(kept_of(prompt))
    results = [message for message in prompt if message["role"] == "tool"]
    with_one = tokens([message for message in kept_of(prompt) if message not in results[1:]])
    return [total, *(chance.randint(least, total - 1) for least in sorted({kept, with_one}) if least < total)]


def the_parents_summary_is_dropped(prompt: Prompt, kept: Prompt) -> bool:
    return prompt[0]["role"] == "system" and len(kept) < len(prompt)


def the_parents_summary_takes_more_than_half(prompt: Prompt) -> bool:
    """Ours cuts what parents hand down if it needs more than half of the room; theirs is never cut."""
    return prompt[0]["role"] == "system" and 2 * needed(prompt[:1]) > needed(prompt)


def needed(prompt: Prompt) -> int:
    """What messages need by our measure, counted without us."""
    return count_prompt("seed", prompt, None, ENCODING.name)


def plain_session_case(chance: Random) -> tuple[InMemoryTranscript, dict[str, Any]]:
    reader, asked = session_case(chance, chance.choice(STRATEGIES))
    below = asked["include_parent_context"] and chance.random() < 0.5
    return reader, asked | {"events": chuk_events(reader.runs), "include_parent_context": below}


def test_a_built_prompt_is_cut_to_the_same(chuk: Peer):
    tally = Tally(f"{chuk.package} truncation of built prompts")
    outside = shorter = 0
    chances = list(cases("built truncation"))
    given = [plain_session_case(chance) for chance in chances]
    prompts = [found["answer"] for found in chuk.ask([asked for _, asked in given])]
    limits = [built_limits(prompt, chance) for prompt, chance in zip(prompts, chances, strict=True)]
    truncations = [truncation(prompt, each) for prompt, each in zip(prompts, limits, strict=True)]
    for (reader, asked), each, answer in zip(given, truncations, chuk.ask(truncations), strict=True):
        prompt = each["prompt"]
        for limit, found in zip(each["limits"], answer["answer"], strict=True):
            kept = found["kept"]
            if found["tokens"] > limit or not is_in_order(kept, prompt):
                outside += 1
            elif prompt and the_parents_summary_is_dropped(prompt, kept):
                tally.leave_out("the_parents_summary_is_dropped")
            elif prompt and the_parents_summary_takes_more_than_half(prompt):
                tally.leave_out("the_parents_summary_takes_more_than_half")
            else:
                shorter += len(kept) < len(prompt)
                built = seed_prompt(reader, asked, max(1, needed(kept)))
                tally.compare(list(built.messages or ()), kept, {**asked, "limit": limit})
    tally.name += f" ({shorter:,} cut; {outside:,} more were over the limit or out of order)"
    tally.settle()


def truncation(prompt: Prompt, limits: Sequence[int]) -> dict[str, Any]:
    return {"operation": "truncate", "prompt": prompt, "model": MODEL, "limits": limits}


def test_chuk_drops_results_that_fit_and_ours_keeps_them(chuk: Peer):
    """Nine tokens as lines of text, 43 as the text of a list; the limit is between."""
    results = [{"role": "tool", "name": "t", "content": "1"}, {"role": "tool", "name": "t", "content": "2"}]
    prompt: Prompt = [{"role": "user", "content": "hi"}, {"role": "user", "content": "more " * 30}]
    prompt += [{"role": "assistant", "content": None}, *results]
    asked = truncation(prompt, [30])
    (answer,) = chuk.ask([asked])
    assert [each["content"] for each in answer["answer"][0]["kept"]] == ["hi", None, "1"]
    assert [each["content"] for each in ours(prompt, 30)] == ["hi", None, "1", "2"]


def test_chuk_exceeds_its_limit_and_ours_never_does(chuk: Peer):
    prompt: Prompt = [{"role": "user", "content": "hi"}, {"role": "user", "content": "latest"}]
    prompt += [{"role": "assistant", "content": None}, {"role": "tool", "name": "t", "content": "x " * 400}]
    asked = truncation(prompt, [50])
    (answer,) = chuk.ask([asked])
    assert answer["answer"][0]["tokens"] > 50
    assert tokens(ours(prompt, 50)) <= 50
    assert [each["content"] for each in ours(prompt, 50)] == ["hi", None]


def test_chuk_repeats_and_reorders_messages_and_ours_never_does(chuk: Peer):
    prompt: Prompt = [{"role": "assistant", "content": "long " * 30}, {"role": "user", "content": "short"}]
    asked = truncation(prompt, [10])
    (answer,) = chuk.ask([asked])
    assert [each["role"] for each in answer["answer"][0]["kept"]] == ["user", "assistant", "user"]
    assert ours(prompt, 10) == [prompt[1]]


def handed_down(chuk: Peer, summary: str) -> tuple[InMemoryTranscript, dict[str, Any], Prompt]:
    """A conversation below another, its question to the package, and the prompt that it builds."""
    runs = [run(user("hi"), assistant("hello"), call(parent=1), call(parent=1, result="x " * 40))]
    asked = {"operation": "build", "strategy": "hierarchical", "include_parent_context": True}
    asked |= {"ancestors": [[{"note": summary}]], "events": chuk_events(runs)}
    (answer,) = chuk.ask([asked])
    return InMemoryTranscript(runs, parents=[ParentContext("", summary)]), asked, answer["answer"]


def test_chuk_drops_the_parents_summary_first_and_ours_keeps_it(chuk: Peer):
    reader, asked, prompt = handed_down(chuk, "They met.")
    (answer,) = chuk.ask([truncation(prompt, [tokens(prompt) - 1])])
    assert [each["role"] for each in answer["answer"][0]["kept"]] == ["user", "assistant", "tool"]
    shorter = seed_prompt(reader, asked, needed(prompt) - 1)
    assert [each["role"] for each in shorter.messages or ()] == ["system", "user", "assistant", "tool"]


def test_chuk_sends_any_parents_summary_whole_and_ours_at_most_half(chuk: Peer):
    reader, asked, prompt = handed_down(chuk, "They met. " * 90)
    (answer,) = chuk.ask([truncation(prompt, [tokens(prompt)])])
    assert answer["answer"][0]["kept"] == prompt
    whole = seed_prompt(reader, asked, needed(prompt))
    assert whole.tokens.parent_context <= needed(prompt) // 2
    assert "[shortened]" in (whole.messages or ())[0]["content"]
