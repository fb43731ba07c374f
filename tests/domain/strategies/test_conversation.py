from tests.domain.fakes.transcripts import assistant, run, system, user
from tests.domain.strategies.prompts import build, fates, numbered, sent, with_call

SKIPPED = "max_history 5: only the newest messages, from a user message on"


def test_it_sends_the_newest_messages_cut_forward_to_a_user_message():
    prompt = build(numbered(9), strategy="conversation")
    assert sent(prompt) == [
        ("user", "q8"), ("assistant", "a8"), ("user", "q9"), ("assistant", "a9"), ("user", "Go on."),
    ]  # fmt: skip
    assert fates(prompt) == [(1, 7, "skipped", SKIPPED), (8, 9, "kept", "fits the budget")]


def test_a_window_that_begins_with_a_user_message_is_not_cut():
    assert sent(build(numbered(9), strategy="conversation", max_history=6))[0] == ("user", "q7")


def test_more_messages_than_there_are_mean_all():
    assert sent(build(numbered(2), strategy="conversation", max_history=50))[0] == ("user", "q1")


def test_calls_are_no_messages_but_go_with_them():
    prompt = build([*numbered(3), with_call("q4", "a4")], strategy="conversation")
    # The newest five: a4, the empty message that made the call, q4, a3, q3.
    assert [content for _, content in sent(prompt)] == ["q3", "a3", "q4", None, "found", "a4", "Go on."]


def test_of_a_run_with_two_questions_only_the_second_may_be_inside():
    runs = [run(user("first part"), user("second part"), assistant("a1")), *numbered(1)]
    prompt = build(runs, strategy="conversation", max_history=4)
    assert sent(prompt)[0] == ("user", "second part")
    assert fates(prompt)[0] == (1, 1, "kept", "its newest 2 of 3 messages")


def test_a_run_that_would_begin_with_its_answer_is_left_out():
    runs = [run(user("q1"), assistant("one"), assistant("two"), assistant("three")), *numbered(1)]
    prompt = build(runs, strategy="conversation", max_history=4)
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "skipped"), (2, 2, "kept")]


def test_a_first_run_without_input_is_cut_too():
    prompt = build([run(system("Note."), assistant("Hello!")), *numbered(1)], strategy="conversation")
    assert sent(prompt)[0] == ("user", "q1")
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "skipped"), (2, 2, "kept")]


def test_zero_means_none_and_one_newest_answer_means_none_too():
    for count in (0, 1):
        prompt = build(numbered(2), strategy="conversation", max_history=count)
        assert sent(prompt) == [("user", "Go on.")]
        assert [each[:3] for each in fates(prompt)] == [(1, 2, "skipped")]


def test_what_the_budget_drops_of_the_messages_is_pruned_and_the_rest_skipped():
    # The query 7, the prompt 3, each run 12: one fits.
    prompt = build(numbered(9), strategy="conversation", max_history=7, max_input_tokens=33)
    assert [each[:3] for each in fates(prompt)] == [
        (1, 6, "skipped"), (7, 7, "pruned"), (8, 8, "pruned"), (9, 9, "kept"),
    ]  # fmt: skip


def test_a_huge_window_reads_no_more_than_fits():
    prompt = build(numbered(400), strategy="conversation", max_history=2**31 - 1, max_input_tokens=60)
    kept = [each for each in prompt.fates if each.fate == "kept"]
    assert sum(each.count for each in kept) == 4
    assert [each.fate.value for each in prompt.fates] == ["pruned", "pruned", "kept"]
