from sessions_app.domain.builder import plan_prompt
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, run, settings, user
from tests.domain.strategies.prompts import build, failed, fates, numbered, sent


def test_it_sends_the_newest_run_with_all_its_calls_errors_shown():
    calls = [call(result="found", parent=1), call(result=None, error="boom", call_id="c2", parent=1)]
    prompt = build([*numbered(4), run(user("q5"), assistant(), *calls, assistant("a5"))], strategy="tool")
    assert sent(prompt) == [
        ("user", "q5"),
        ("assistant", None),
        ("tool", "found"),
        ("tool", "[error] boom"),
        ("assistant", "a5"),
        ("user", "Go on."),
    ]
    assert fates(prompt) == [
        (1, 4, "skipped", "tool: only the newest run with all its tool calls, errors shown"),
        (5, 5, "kept", "fits the budget"),
    ]


def test_a_newest_run_without_an_answer_is_the_newest_all_the_same():
    assert sent(build([*numbered(4), failed("q5")], strategy="tool"))[:2] == [
        ("user", "q5"), ("assistant", "[failed: no model]"),
    ]  # fmt: skip


def test_a_newest_run_that_does_not_fit_is_pruned_and_no_older_one_takes_its_place():
    prompt = build(numbered(4), strategy="tool", max_input_tokens=15)
    assert [each[:3] for each in fates(prompt)] == [(1, 3, "skipped"), (4, 4, "pruned")]
    assert sent(prompt) == [("user", "Go on.")]


def test_without_runs_there_is_nothing_but_the_query():
    assert sent(build([], strategy="tool")) == [("user", "Go on.")]
    assert sent(build(numbered(2), strategy="tool", last_n=0)) == [("user", "Go on.")]


def test_its_plan_sends_the_newest_run_alone_too():
    reader = InMemoryTranscript(numbered(9))
    plan = plan_prompt(reader=reader, settings=settings(strategy="tool"), query="Go on.")
    built = build([], reader=reader, strategy="tool")
    assert (plan.tokens, plan.fates, plan.cut) == (built.tokens, built.fates, None)
    assert [(each.first, each.last, each.fate.value) for each in plan.fates] == [(1, 8, "skipped"), (9, 9, "kept")]
