from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Prompt
from sessions_app.domain.transcript import Run
from sessions_app.domain.validity import validate
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user
from tests.domain.recount import count_messages


def build(runs: list[Run], **overrides: Any) -> Prompt:
    values = {"strategy": "buffer"} | overrides
    prompt = build_prompt(reader=InMemoryTranscript(runs), settings=settings(**values), query="Go on.", shorten=True)
    assert prompt.messages is not None
    assert count_messages(prompt.messages, "o200k_base") == prompt.tokens.total <= prompt.budget
    assert validate(prompt.messages, prompt.format) == []
    return prompt


def contents(prompt: Prompt) -> list[Any]:
    return [message["content"] for message in prompt.messages or ()]


def fates(prompt: Prompt) -> list[tuple[int, int, str, str]]:
    return [(each.first, each.last, each.fate.value, each.reason) for each in prompt.fates]


def test_the_newest_run_stays_cut_and_marked_and_fills_the_budget():
    prompt = build([exchange("q1", "a1"), exchange("Why? " * 200, "Because. " * 200)], max_input_tokens=100)
    question, answer, _ = contents(prompt)
    assert question.startswith("Why? Why?")
    assert answer.startswith("Because. Because.")
    assert question.endswith(" [shortened]")
    assert answer.endswith(" [shortened]")
    assert 90 <= prompt.tokens.total <= 100
    assert fates(prompt) == [
        (1, 1, "pruned", "max_input_tokens 100: first that does not fit"),
        (2, 2, "kept", "shortened to fit"),
    ]
    assert [warning.code for warning in prompt.warnings] == ["newest_run_shortened"]


def test_a_short_text_beside_a_long_one_stays_whole():
    prompt = build([exchange("Why?", "Because. " * 200)], max_input_tokens=60)
    assert contents(prompt)[0] == "Why?"


def test_a_newest_run_that_fits_is_not_touched_and_no_other_is_ever_cut():
    prompt = build([exchange("long " * 300, "a1"), exchange("q2", "a2")], max_input_tokens=100)
    assert contents(prompt) == ["q2", "a2", "Go on."]
    assert prompt.warnings == ()


def test_calls_results_arguments_and_errors_are_cut_and_stay_valid():
    events = [
        user("q1"),
        assistant(),
        call("search", '{"query": "' + "word " * 200 + '"}', "found " * 300, parent=1),
        call("search", "{}", None, error="boom " * 300, call_id="c2", parent=1),
        assistant("a1"),
    ]
    prompt = build([run(*events)], max_input_tokens=170)
    assert prompt.messages is not None
    assert [message["role"] for message in prompt.messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
    ]
    assert prompt.messages[1]["tool_calls"][0]["function"]["arguments"].startswith('{"_raw": ')
    assert prompt.messages[3]["content"].startswith("[error] boom")


def test_of_a_run_with_too_many_calls_its_first_question_and_last_answer_stay():
    calls = [call(call_id=f"c{n}", parent=1) for n in range(100)]
    prompt = build([run(user("Why? " * 50), assistant(), *calls, assistant("Because."))], max_input_tokens=60)
    assert [message["role"] for message in prompt.messages or ()] == ["user", "assistant", "user"]
    assert contents(prompt)[1] == "Because."
    assert fates(prompt) == [(1, 1, "kept", "shortened to fit: its first and last message only")]


def test_pictures_give_way_to_words():
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    content: Any = ({"type": "text", "text": "Look. " * 40}, picture)
    prompt = build([run(user("Look. " * 40, content=content), assistant("Nice."))], max_input_tokens=60)
    assert contents(prompt)[0].startswith("Look. Look.")
    assert fates(prompt)[0][3] == "shortened to fit: its first and last message only"


def test_what_stays_of_a_run_full_of_pictures_are_messages_that_say_something():
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    silent: Any = ({"type": "text", "text": ""}, picture)
    prompt = build([run(user("", content=silent), user("Where?"), assistant(" "))], max_input_tokens=60)
    assert contents(prompt) == ["Where?", "[no answer]", "Go on."]
    prompt = build([run(user("", content=silent), assistant("Nice."))], max_input_tokens=60)
    assert contents(prompt) == ["[image_url not sent]", "Nice.", "Go on."]


def test_where_not_even_a_letter_fits_it_is_dropped_with_the_warning():
    prompt = build([exchange("Why? " * 50, "Because. " * 50)], max_input_tokens=20)
    assert contents(prompt) == ["Go on."]
    assert [warning.code for warning in prompt.warnings] == ["newest_run_dropped"]


def test_the_first_that_a_strategy_wants_is_the_one_that_stays():
    runs = [exchange("q1", "a1"), exchange("Why? " * 200, "Because. " * 200)]
    for strategy in ("minimal", "task", "tool", "conversation", "head_tail", "hierarchical"):
        prompt = build(runs, strategy=strategy, max_input_tokens=100)
        assert fates(prompt)[-1] == (2, 2, "kept", "shortened to fit")


def test_a_gap_behind_a_cut_run_is_marked_too():
    unanswered = run(user("q2"))
    prompt = build([exchange("Why? " * 200, "Because. " * 200), unanswered], strategy="minimal", max_input_tokens=100)
    assert contents(prompt)[1].endswith(" [shortened]\n\n[1 run not shown]")


def test_a_huge_run_is_cut_without_reading_all_of_it_again_and_again():
    prompt = build([exchange("word " * 200_000, "Yes.")], max_input_tokens=200)
    assert 150 <= prompt.tokens.total <= 200
