"""Reported faults of other systems, each as a case with values computed outside our code."""

import json
from pathlib import Path
from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import BudgetTooSmall, InvalidInput
from sessions_app.domain.memory_settings import PromptFormat, Strategy
from sessions_app.domain.plan import Fate, Prompt, WarningCode
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Event, EventKind, Run, RunStatus, SummaryEntry
from sessions_app.domain.validity import validate
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user
from tests.domain.recount import count_messages

CASES = Path(__file__).parent.parent / "data" / "cases"
MODELS = {"cl100k_base": "gpt-4", "o200k_base": "gpt-4.1-mini"}


def case(number: str) -> dict[str, Any]:
    (path,) = CASES.glob(f"{number}-*.json")
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def message_text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content or ())


def case_run(given: dict[str, Any]) -> Run:
    """A case's run as the API would store it: the calls hang on an assistant message without text."""
    events: list[Event] = [user(message_text(given["input"]))]
    if given["tool_calls"]:
        events.append(assistant())
    events += [
        call(each["name"], each["arguments"], each.get("result"), call_id=each["id"], parent=1)
        for each in given["tool_calls"]
    ]
    if given.get("reasoning"):
        events.append(Event(EventKind.REASONING, given["reasoning"]))
    if given.get("output") is not None:
        events.append(assistant(message_text(given["output"])))
    return run(*events)


def case_prompt(loaded: dict[str, Any], *, query: str | None = None, **overrides: Any) -> Prompt:
    given = loaded["settings"]
    return build_prompt(
        reader=InMemoryTranscript(
            [case_run(each) for each in loaded["input"]["runs"]], loaded["input"].get("system", "")
        ),
        settings=settings(
            **{
                "strategy": "buffer",
                "model": MODELS[given["encoding"]],
                "max_input_tokens": given["token_budget"],
            }
            | overrides
        ),
        query=query or loaded["input"]["next_input"],
    )


def sent(prompt: Prompt) -> list[Any]:
    assert prompt.messages is not None
    return list(prompt.messages)


def kept(prompt: Prompt) -> list[str]:
    ranges = [each for each in prompt.fates if each.fate is Fate.KEPT]
    return [f"r{position}" for each in ranges for position in range(each.first, each.last + 1)]


def check(prompt: Prompt) -> None:
    assert count_messages(sent(prompt), prompt.encoding) == prompt.tokens.total <= prompt.budget
    assert validate(sent(prompt), PromptFormat.OPENAI) == []


@pytest.mark.parametrize("number", ["C01", "C03", "C06", "C10"])
def test_it_keeps_exactly_the_runs_that_fit_and_the_system_text_and_the_query_whole(number: str):
    loaded = case(number)
    prompt = case_prompt(loaded)
    check(prompt)
    assert prompt.encoding == loaded["settings"]["encoding"]
    assert kept(prompt) == loaded["computed"]["must_keep_runs"]
    assert sent(prompt)[0] == {"role": "system", "content": loaded["input"]["system"]}
    assert sent(prompt)[-1] == {"role": "user", "content": loaded["input"]["next_input"]}
    assert sum(message["role"] == "system" for message in sent(prompt)) == 1


def test_c01_neither_the_call_nor_the_result_of_the_run_that_does_not_fit_is_sent():
    prompt = case_prompt(case("C01"))
    assert [message["role"] for message in sent(prompt)] == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in sent(prompt)][1:3] == ["And what does one cost?", "One costs 39 coins."]


def test_c03_the_newest_run_is_dropped_with_a_warning_when_it_alone_is_over_the_budget():
    prompt = case_prompt(case("C03"))
    assert len(sent(prompt)) == 2
    assert [each.code for each in prompt.warnings] == [WarningCode.NEWEST_RUN_DROPPED]
    assert prompt.unseen == 1


def test_c03_a_query_over_the_budget_is_an_error_that_names_what_needs_how_much():
    loaded = case("C03")
    with pytest.raises(BudgetTooSmall) as refused:
        case_prompt(loaded, query=loaded["input"]["second_next_input"])
    # 746 and 6 tokens, each with 3 + 1 around it, and 3 for the prompt.
    assert refused.value.needs == {"instructions": 10, "query": 750, "overhead": 3}
    assert "query 750" in refused.value.detail
    assert "400" in refused.value.detail


def test_c06_texts_of_any_script_are_counted_exactly_and_sent_character_for_character():
    loaded = case("C06")
    for encoding in MODELS:
        for each in loaded["computed"]["exact_counts"]:
            assert TokenCounter(encoding).text(each["text"]) == each[encoding]
    texts = [message["content"] for message in sent(case_prompt(loaded, max_input_tokens=5000))]
    for given in loaded["input"]["runs"]:
        assert given["input"] in texts
        assert given["output"] in texts


def test_c08_the_names_of_special_tokens_are_ordinary_text_everywhere():
    loaded = case("C08")
    for encoding in MODELS:
        for each in loaded["computed"]["counts"]:
            assert TokenCounter(encoding).text(each["text"]) == each[encoding]
    prompt = case_prompt(loaded)
    check(prompt)
    assert kept(prompt) == ["r1", "r2", "r3", "r4", "r5", "r6"]
    for given in loaded["input"]["runs"]:
        assert {"role": "user", "content": given["input"]} in sent(prompt)


@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("budget", [24, 100, 462, 1000, 3000])
def test_c10_the_system_text_is_first_and_whole_whatever_is_dropped(strategy: str, budget: int):
    loaded = case("C10")
    if budget < 12 + 9 + 11:
        with pytest.raises(BudgetTooSmall, match="instructions 16"):
            case_prompt(loaded, strategy=strategy, max_input_tokens=budget)
        return
    prompt = case_prompt(loaded, strategy=strategy, max_input_tokens=budget)
    check(prompt)
    assert sent(prompt)[0]["role"] == "system"
    assert loaded["input"]["system"] in sent(prompt)[0]["content"]
    assert str(sent(prompt)).count(loaded["input"]["system"]) == 1


def test_c10_conversation_keeps_exactly_the_two_newest_runs():
    loaded = case("C10")
    prompt = case_prompt(loaded, strategy="conversation")
    check(prompt)
    assert kept(prompt) == loaded["computed"]["must_keep_runs"]
    assert [message["content"] for message in sent(prompt)][1:5] == [
        text for given in loaded["input"]["runs"][-2:] for text in (given["input"], given["output"])
    ]


def c13_reader(loaded: dict[str, Any]) -> InMemoryTranscript:
    entry = SummaryEntry("s3", 3, loaded["computed"]["index"], "S[r1,r2,r3]")
    return InMemoryTranscript([case_run(each) for each in loaded["input"]["runs"]], summaries=[entry])


@pytest.mark.parametrize("strategy", Strategy)
def test_c13_every_run_is_sent_at_most_once_word_for_word_and_never_beside_a_summary_of_it(strategy: Strategy):
    loaded = case("C13")
    prompt = build_prompt(
        reader=c13_reader(loaded),
        settings=settings(model="gpt-4", max_input_tokens=4000, strategy=strategy, offset=2),
        query=loaded["input"]["next_input"],
    )
    check(prompt)
    everything = str(sent(prompt))
    covered = set() if prompt.covers_through is None else {"r1", "r2", "r3"}
    assert (everything.count("S[r1,r2,r3]") == 1) == bool(covered) == (strategy is Strategy.SUMMARY)
    for position, given in enumerate(loaded["input"]["runs"], 1):
        assert everything.count(given["output"]) <= 1
        assert not (given["output"] in everything and f"r{position}" in covered)
    if covered:
        assert kept(prompt) == loaded["computed"]["verbatim_runs"]


@pytest.mark.parametrize("strategy", Strategy)
def test_c38_under_every_strategy_no_empty_text_is_sent_and_no_question_gets_another_answer(strategy: Strategy):
    prompt = case_prompt(case("C38"), strategy=strategy)
    check(prompt)
    assert sum(message["role"] == "system" for message in sent(prompt)) == 0
    texts = [message["content"] for message in sent(prompt)]
    if "Think about it." in texts:
        assert texts[texts.index("Think about it.") + 1] == "[no answer]"
    if "Make a folder." in texts:
        following = texts[texts.index("Make a folder.") + 1]
        assert following is None or following.startswith("[answer not shown]")


@pytest.mark.parametrize("strategy", ["buffer", "summary"])
def test_c38_no_empty_text_is_sent_and_no_question_gets_another_answer(strategy: str):
    prompt = case_prompt(case("C38"), strategy=strategy)
    check(prompt)
    assert kept(prompt) == ["r1", "r2", "r3", "r4", "r5"]
    assert [(message["role"], message["content"]) for message in sent(prompt)] == [
        ("user", "Make a folder."),
        ("assistant", None),
        ("tool", "[no result]"),
        ("assistant", "[no answer]"),
        ("user", "[empty message]"),
        ("assistant", "You sent nothing."),
        ("user", "Think about it."),
        ("assistant", "[no answer]"),
        ("user", "[empty message]"),
        ("assistant", "[no answer]"),
        ("user", "Still there?"),
        ("assistant", "Yes."),
        ("user", "Go on."),
    ]


@pytest.mark.parametrize("blank", ["", "  \n\t"])
def test_c38_a_blank_query_is_refused(blank: str):
    with pytest.raises(InvalidInput) as refused:
        build_prompt(reader=InMemoryTranscript([]), settings=settings(), query=blank)
    assert [error.pointer for error in refused.value.errors] == ["/query"]


def interrupted(status: RunStatus, error: str = "") -> Run:
    (given,) = case("C53")["input"]["sessions"][0]["runs"][1:]
    (waiting,) = given["tool_calls"]
    return run(
        user(given["input"]),
        assistant(),
        call(waiting["name"], waiting["arguments"], None, call_id=waiting["id"], parent=1),
        assistant(given["output_so_far"]),
        status=status,
        error=error,
    )


def c53_messages(status: RunStatus, error: str = "", query: str | None = "Go on.") -> list[tuple[str, str | None]]:
    reader = InMemoryTranscript([exchange("Hello", "Hi"), interrupted(status, error)])
    prompt = build_prompt(reader=reader, settings=settings(model="gpt-4", max_input_tokens=2000), query=query)
    check(prompt)
    return [(message["role"], message["content"]) for message in sent(prompt)][2:]


@pytest.mark.parametrize(
    ("status", "error", "mark"),
    [
        (RunStatus.CANCELLED, "", "[interrupted]"),
        (RunStatus.FAILED, "", "[interrupted]"),
        (RunStatus.FAILED, "the stream broke", "[failed: the stream broke]"),
    ],
)
def test_c53_a_half_answer_is_sent_marked_and_its_open_call_is_answered_by_a_placeholder(
    status: RunStatus, error: str, mark: str
):
    assert c53_messages(status, error) == [
        ("user", "Tell me the long story"),
        ("assistant", None),
        ("tool", "[no result]"),
        ("assistant", f"Once upon a ti\n\n{mark}"),
        ("user", "Go on."),
    ]


def test_c53_of_a_running_run_only_finished_steps_are_sent():
    assert c53_messages(RunStatus.RUNNING, query=None) == [("user", "Tell me the long story")]


def test_c53_a_query_beside_a_running_run_leaves_that_run_out_with_a_warning():
    reader = InMemoryTranscript([exchange("Hello", "Hi"), interrupted(RunStatus.RUNNING)])
    prompt = build_prompt(reader=reader, settings=settings(), query="Go on.")
    assert [(each.first, each.last, each.fate) for each in prompt.fates] == [(1, 1, Fate.KEPT), (2, 2, Fate.SKIPPED)]
    assert [each.code for each in prompt.warnings] == [WarningCode.OPEN_RUN_SKIPPED]
    assert [message["content"] for message in sent(prompt)] == ["Hello", "Hi", "Go on."]


CALLS_BY_FORMAT = {
    "openai": lambda message: [call["function"]["arguments"] for call in message.get("tool_calls", ())],
    "responses": lambda item: [item["arguments"]] if item.get("type") == "function_call" else [],
    "anthropic": lambda message: [json.dumps(part["input"]) for part in message["content"] if "input" in part],
    "gemini": lambda content: [
        json.dumps(part["functionCall"]["args"]) for part in content["parts"] if "functionCall" in part
    ],
}


@pytest.mark.parametrize("strategy", [*Strategy])
@pytest.mark.parametrize("format", CALLS_BY_FORMAT)
def test_c39_arguments_are_json_for_every_provider_and_stay_with_their_results(strategy: Strategy, format: str):
    prompt = case_prompt(case("C39"), strategy=strategy, format=format)
    assert validate(sent(prompt), PromptFormat(format)) == []
    arguments = [json.loads(text) for message in sent(prompt) for text in CALLS_BY_FORMAT[format](message)]
    if strategy in (Strategy.BUFFER, Strategy.SUMMARY):
        assert len(arguments) == 8
        assert arguments[0] == {"_raw": '{"path": "a.txt", "content": "cut off he'}
        assert arguments[6] == {"_raw": '{"a": 1}{"b": 2}'}


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_c57_runs_of_one_character_are_counted_exactly_and_the_rest_is_sent(encoding: str):
    loaded = case("C57")
    counts = {each["character"]: each[encoding] for each in loaded["computed"]["counts"]}
    counter = TokenCounter(encoding)
    runs = [exchange("Before.", "Yes.")]
    for given in loaded["input"]["generate"]:
        text = given["character"] * given["times"]
        assert counter.text(text) == counts[given["character"]]
        runs.append(exchange("Go.", text))
    runs.append(exchange("After.", "Yes."))
    prompt = build_prompt(
        reader=InMemoryTranscript(runs),
        settings=settings(
            strategy="buffer", model=MODELS[encoding], max_input_tokens=loaded["settings"]["token_budget"]
        ),
        query="Go on.",
    )
    check(prompt)
    fates = [(each.first, each.last, each.fate) for each in prompt.fates]
    assert fates == [(1, 5, Fate.PRUNED), (6, 6, Fate.PRUNED), (7, 7, Fate.KEPT)]
