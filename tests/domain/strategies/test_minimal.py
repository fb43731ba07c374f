from tests.domain.strategies.prompts import build, failed, fates, numbered, sent, with_call


def test_it_sends_the_first_input_and_the_newest_answered_run_and_says_what_lies_between():
    prompt = build(numbered(50), strategy="minimal")
    assert sent(prompt) == [
        ("user", "q1"),
        ("assistant", "[answer not shown]\n\n[48 runs not shown]"),
        ("user", "q50"),
        ("assistant", "a50"),
        ("user", "Go on."),
    ]
    assert fates(prompt) == [
        (1, 1, "kept", "the first run: its input only"),
        (2, 49, "skipped", "minimal: only the first run's input and the newest answered run"),
        (50, 50, "kept", "fits the budget"),
    ]
    assert prompt.unseen == 48


def test_between_neighbours_there_is_no_mark_of_runs():
    assert sent(build(numbered(2), strategy="minimal"))[:2] == [("user", "q1"), ("assistant", "[answer not shown]")]


def test_one_run_is_sent_once_and_whole():
    prompt = build(numbered(1), strategy="minimal")
    assert sent(prompt) == [("user", "q1"), ("assistant", "a1"), ("user", "Go on.")]
    assert fates(prompt) == [(1, 1, "kept", "fits the budget")]


def test_the_newest_answered_run_keeps_its_calls():
    prompt = build([*numbered(2), with_call("q3", "a3")], strategy="minimal")
    assert [role for role, _ in sent(prompt)[2:]] == ["user", "assistant", "tool", "assistant", "user"]


def test_unanswered_runs_behind_it_are_skipped_and_marked():
    prompt = build([*numbered(3), failed("q4"), failed("q5")], strategy="minimal")
    assert sent(prompt)[2:] == [("user", "q3"), ("assistant", "a3\n\n[2 runs not shown]"), ("user", "Go on.")]
    assert [each[:3] for each in fates(prompt)] == [
        (1, 1, "kept"), (2, 2, "skipped"), (3, 3, "kept"), (4, 5, "skipped"),
    ]  # fmt: skip


def test_a_first_run_that_has_only_its_input_loses_nothing():
    prompt = build([failed("q1", "rate limited"), *numbered(2)], strategy="minimal")
    assert sent(prompt)[:2] == [("user", "q1"), ("assistant", "[failed: rate limited]\n\n[1 run not shown]")]
    assert fates(prompt)[0] == (1, 1, "kept", "the first run; failed, sent with its error")


def test_without_any_answer_only_the_first_input_is_sent():
    prompt = build([failed("q1"), failed("q2")], strategy="minimal")
    assert sent(prompt) == [
        ("user", "q1"), ("assistant", "[failed: no model]\n\n[1 run not shown]"), ("user", "Go on."),
    ]  # fmt: skip


def test_the_first_run_is_the_first_that_the_settings_leave():
    prompt = build(numbered(9), strategy="minimal", max_runs=5)
    assert sent(prompt)[0] == ("user", "q5")
    assert fates(prompt)[:2] == [
        (1, 4, "capped", "max_runs 5: older ones are not remembered"),
        (5, 5, "kept", "the first run that the settings leave: its input only"),
    ]
    assert sent(build(numbered(9), strategy="minimal", last_n=0)) == [("user", "Go on.")]


def test_the_first_input_goes_before_the_newest_run():
    # The query 7, the prompt 3, the newest run 10; the first input and its mark do not fit.
    prompt = build(numbered(9), strategy="minimal", max_input_tokens=30)
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "pruned"), (2, 8, "skipped"), (9, 9, "kept")]
    assert fates(prompt)[0][3] == "max_input_tokens 30: first that does not fit"


def test_where_the_newest_does_not_fit_nothing_is_sent_and_it_is_warned_of():
    prompt = build(numbered(9), strategy="minimal", max_input_tokens=15)
    assert sent(prompt) == [("user", "Go on.")]
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "pruned"), (2, 8, "skipped"), (9, 9, "pruned")]
    assert [warning.code for warning in prompt.warnings] == ["newest_run_dropped"]
