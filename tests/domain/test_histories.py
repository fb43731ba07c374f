"""What a file has more than the stored runs, and where both part."""

import pytest

from sessions_app.domain.errors import HistoryChanged
from sessions_app.domain.histories import growth
from sessions_app.domain.openai_messages import conversation


def user(text="Q"):
    return {"role": "user", "content": text}


def answer(text="A", **fields):
    return {"role": "assistant", "content": text, **fields}


def calling(call_id="c"):
    return answer(None, tool_calls=[{"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}])


def result(content="r", call_id="c", **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


TALK = [user("1"), answer("a"), user("2"), calling(), result(), answer("b")]


def grow(stored, given):
    runs = conversation(stored)[1]
    return growth(stored=runs, count=len(runs), given=conversation(given)[1])


def grown_texts(stored, given):
    new = grow(stored, given)
    return [[event.text for event in run.events] for run in (new.grown, *new.new_runs) if run]


def test_the_same_conversation_is_no_growth():
    assert not grow(TALK, TALK)


def test_times_do_not_count():
    assert not grow(TALK, [message | {"created_at": 1_700_000_000} for message in TALK])


def test_more_runs_are_new():
    assert grown_texts(TALK, [*TALK, user("3"), answer("c"), user("4")]) == [["3", "c"], ["4"]]


@pytest.mark.parametrize("length", range(3, 6))
def test_the_newest_run_may_grow(length):
    assert grown_texts(TALK[:length], [*TALK, user("3")]) == [["2", "", "", "b"], ["3"]]


def test_a_result_that_came_late_is_growth():
    new = grow([user(), calling()], [user(), calling(), result("late", cost=1), user("next")])
    assert new.grown is not None
    assert len(new.new_runs) == 1


@pytest.mark.parametrize("length", range(1, 6))
def test_an_older_file_changes_nothing(length):
    assert not grow(TALK, TALK[:length])


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ([user("1"), answer("other"), *TALK[2:]], 'Run 1 differs at its message 2. Stored: {"content": "a", "role"'),
        ([*TALK[:4], result("R"), answer("b")], "Run 2 differs at its message 3."),
        ([*TALK[:5], answer("c"), user("3")], "Run 2 differs at its message 4."),
        ([user("1"), answer("a", name="x"), *TALK[2:]], "Run 1 differs at its message 2."),
        ([user("1"), answer("a"), answer("more"), *TALK[2:]], "Run 1: the file has more from message 3 of the run on"),
        ([user("1"), *TALK[2:]], "Run 1 differs at its message 2."),
        ([user("0")], "Run 1 differs at its message 1."),
    ],
)
def test_it_names_the_first_difference_of_a_changed_history(given, where):
    with pytest.raises(HistoryChanged) as caught:
        grow(TALK, given)
    assert caught.value.detail.startswith(where)


def test_it_shows_long_texts_around_the_difference():
    stored, given = ([user("x" * 500 + word + "y" * 500)] for word in ("here", "there"))
    with pytest.raises(HistoryChanged) as caught:
        grow(stored, given)
    assert "here" in caught.value.detail
    assert "there" in caught.value.detail
    assert len(caught.value.detail) < 250


def test_a_run_that_others_follow_may_not_grow():
    with pytest.raises(HistoryChanged, match="Run 1: the file has more from message 3 of the run on, and other runs"):
        grow([user("1"), answer(), user("2")], [user("1"), answer(), answer()])


def test_the_form_of_the_instructions_is_no_history():
    def instructed(name):
        return [{"role": "system", "content": "Be brief.", "name": name}, *TALK]

    assert not grow(instructed("a"), instructed("b"))
