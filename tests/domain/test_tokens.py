from fractions import Fraction

import pytest
import tiktoken

from sessions_app.domain import tokens
from sessions_app.domain.builder import build_prompt
from sessions_app.domain.language_models import CARRIED_ENCODINGS
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


# What has made tokenizers slow, panic or refuse: long runs of one character, blanks before a word, lone surrogates, the
# texts of special tokens.
HOSTILE = {
    "spaces": " " * 1_000_000,
    "spaces before a word": " " * 999_999 + "x",
    "one letter": "a" * 1_000_000,
    "line ends": "\r\n" * 250_000,
    "one ideograph": "\u4e00" * 250_000,
    "lone surrogates": "\ud800 alone \udfff" * 20_000,
    "null characters": "\0" * 250_000,
    "special tokens": "<|endoftext|><|im_start|><|fim_prefix|>" * 10_000,
    "joined emoji": "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}" * 50_000,
}


@pytest.mark.parametrize("encoding", sorted(CARRIED_ENCODINGS))
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_no_text_makes_counting_fail(text: str, encoding: str):
    assert 0 < TokenCounter(encoding).text(text) <= 4 * len(text)


@pytest.mark.parametrize("encoding", sorted(CARRIED_ENCODINGS))
def test_special_tokens_count_as_the_text_they_are(encoding: str):
    text = "<|endoftext|><|im_start|><|fim_prefix|>"
    assert TokenCounter(encoding).text(text) == len(tiktoken.get_encoding(encoding).encode(text, disallowed_special=()))
    assert TokenCounter(encoding).text(text) > 3


@pytest.mark.parametrize(
    ("character", "times", "cl100k", "o200k"),
    [
        ("a", 200_000, 25_000, 25_000),
        ("-", 200_000, 3_125, 3_125),
        ("\u4e00", 100_000, 100_000, 100_000),
        ("_", 50_000, 782, 782),
        ("\N{SLIGHTLY SMILING FACE}", 50_000, 100_000, 50_000),
    ],
)
def test_repeated_characters_count_as_measured(character: str, times: int, cl100k: int, o200k: int):
    counts = [TokenCounter(encoding).text(character * times) for encoding in ("cl100k_base", "o200k_base")]
    assert counts == [cl100k, o200k]


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("character", [" ", "\n", "\t", "=", "*", ".", "0", "/", "\r\n", "\u00a0"])
def test_long_runs_of_one_character_are_counted_exactly_though_in_slices(character: str, encoding: str):
    text = (character * 250_001)[:250_001]
    assert TokenCounter(encoding).text(text) == len(tiktoken.get_encoding(encoding).encode_ordinary(text))


class Listening:
    """An encoding that keeps the lengths of what it is given."""

    def __init__(self):
        self.lengths: list[int] = []

    def encode_ordinary(self, text: str) -> list[int]:
        self.lengths.append(len(text))
        return [0] * len(text)


@pytest.mark.parametrize("piece", [" ", "a", "\n", "\ud800", "ab cd "])
def test_an_encoding_gets_each_character_once_and_never_many_at_a_time(monkeypatch, piece: str):
    """So the work grows as the text does, whatever an encoding makes of one piece of bounded length."""
    for size in (99_999, 100_001, 1_000_000, 2_000_000):
        listening = Listening()
        monkeypatch.setattr(tokens, "_encoding", lambda _, listening=listening: listening)
        text = (piece * size)[:size]
        assert COUNTER.text(text) == sum(listening.lengths) == size
        assert max(listening.lengths) <= 100_000
        assert len(listening.lengths) <= size // 97_000 + 1


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
