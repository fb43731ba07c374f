from fractions import Fraction

import pytest
import tiktoken

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.tokens import TokenCounter, event_tokens
from sessions_app.domain.transcript import Event, EventKind
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, run, settings, system, user
from tests.domain.recount import count_messages

COUNTER = TokenCounter()


def test_it_counts_a_message_as_three_and_its_role_and_text():
    assert COUNTER.message("user", ["hello world"]) == 3 + 1 + 2


def test_it_counts_a_tool_call_as_its_name_and_arguments_and_eight():
    # "look", "_up" and "{}".
    assert COUNTER.message("assistant", [], calls=[("look_up", "{}")]) == 3 + 1 + 2 + 1 + 8


def test_it_counts_an_image_as_a_constant():
    assert COUNTER.message("user", [], images=2) == 3 + 1 + 2 * 765


def test_it_rounds_a_count_with_margin_up_in_whole_numbers():
    counter = TokenCounter(margin=Fraction(13, 10))
    assert [counter.scaled(raw) for raw in (0, 1, 10, 11, 10**15)] == [0, 2, 13, 15, 13 * 10**14]


def test_the_raw_limit_is_the_largest_count_that_fits():
    counter = TokenCounter(margin=Fraction(13, 10))
    for scaled in range(60):
        assert counter.scaled(counter.raw_limit(scaled)) <= scaled < counter.scaled(counter.raw_limit(scaled) + 1)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_long_ordinary_text_is_counted_exactly_though_in_slices(encoding: str):
    text = "The tide gauge counts seven wooden crates, and nobody minds. " * 6_000
    assert len(text) > 300_000
    assert TokenCounter(encoding).text(text) == len(tiktoken.get_encoding(encoding).encode(text))


@pytest.mark.parametrize(
    "text", [" " * 1_000_000, "\n" * 300_000, "a" * 300_000, "\ud800 alone \udfff", "\0", "👨‍👩‍👧" * 50_000]
)
def test_no_text_makes_counting_fail(text: str):
    assert COUNTER.text(text) > 0


ORDINARY = [
    [user("Where is it?"), assistant("Here.")],
    [user(""), assistant("You sent nothing.")],
    [user("Find it."), assistant("I look."), call(parent=1), call("find", "x", "", parent=1), assistant("Found.")],
    [user("Find it."), assistant("I look."), call(parent=1, error="down", result=None), assistant("It is down.")],
    [
        user(
            "two parts",
            content=(
                {"type": "text", "text": "See this."},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "input_audio", "input_audio": {}},
            ),
        ),
        assistant("A kite."),
    ],
]


@pytest.mark.parametrize("events", ORDINARY)
def test_the_stored_weights_of_an_ordinary_run_sum_to_what_it_needs_in_a_prompt(events: list[Event]):
    prompt = build_prompt(reader=InMemoryTranscript([run(*events)]), settings=settings(), query=None)
    assert prompt.messages is not None
    assert sum(map(event_tokens, events)) == count_messages(prompt.messages, "o200k_base") - 3


@pytest.mark.parametrize(
    "events",
    [
        [user("Find it."), assistant(), call(parent=1), assistant("Found.")],
        [user("One."), user("Two."), system("Be brief."), assistant("a"), assistant("b")],
        [user("Find it."), call(), call(), assistant("Found.")],
    ],
)
def test_elsewhere_they_are_an_upper_bound(events: list[Event]):
    prompt = build_prompt(reader=InMemoryTranscript([run(*events)]), settings=settings(), query=None)
    assert 0 <= sum(map(event_tokens, events)) - prompt.tokens.runs <= 16


def test_reasoning_and_notes_weigh_nothing():
    assert event_tokens(Event(EventKind.REASONING, "long inner text")) == 0
    assert event_tokens(Event(EventKind.NOTE, "a note")) == 0
