"""Two prompts aligned."""

from dataclasses import replace
from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Part, Prompt
from sessions_app.domain.side_by_side import shared_beginning, side_by_side
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings

READER = InMemoryTranscript([exchange(f"q{n}", f"a{n}") for n in range(1, 10)], instructions="Be kind.")


def build(*, context=(), **overrides: Any) -> Prompt:
    return build_prompt(
        reader=READER, settings=settings(**{"strategy": "buffer", **overrides}), query="And?", context=context
    )


def told(a: Prompt, b: Prompt) -> list[tuple[str, int | None, str]]:
    return [
        (
            str(pair.block.part),
            pair.block.position,
            "=" if pair.is_same else "-" * (pair.a is not None) + "+" * (pair.b is not None),
        )
        for pair in side_by_side(a, b)
    ]


def test_the_same_prompt_is_the_same_from_beginning_to_end():
    pairs = side_by_side(build(), build())
    assert len(pairs) == 11
    assert all(pair.is_same for pair in pairs)
    # All but the frame of a prompt.
    assert shared_beginning(pairs) == build().tokens.total - 3


def test_runs_that_one_alone_has_stand_at_their_place():
    assert told(build(max_runs=2), build(strategy="head_tail", head_runs=1, max_runs=9, last_n=4)) == [
        ("instructions", None, "="),
        ("runs", 6, "+"),
        ("runs", 7, "+"),
        ("runs", 8, "="),
        ("runs", 9, "="),
        ("query", None, "="),
    ]


def test_runs_of_both_are_ordered_by_position():
    first = build(strategy="head_tail", head_runs=3, max_input_tokens=76)
    newest = build(max_runs=6)
    positions = [position for _, position, _ in told(first, newest) if position]
    assert positions == sorted(positions)
    assert {"-", "+"} <= {mark for _, _, mark in told(first, newest)}


def test_a_run_that_is_sent_otherwise_differs_on_both_sides():
    # Behind the head of the one a mark says how many runs are left out.
    marked = build(strategy="head_tail", head_runs=1, max_input_tokens=60)
    whole = build()
    assert told(marked, whole)[1] == ("runs", 1, "-+")


def test_instructions_are_the_same_under_a_heading_but_prompts_do_not_begin_alike_then():
    headed = replace(
        build(),
        segments=tuple(
            replace(s, heading="Instructions") if s.part is Part.INSTRUCTIONS else s for s in build().segments
        ),
    )
    pairs = side_by_side(headed, build())
    assert all(pair.is_same for pair in pairs)
    assert shared_beginning(pairs) == 0


def test_the_blocks_of_context_are_compared_as_one():
    changed = told(build(context=["one", "two"]), build(context=["one", "three"]))
    assert changed[-2:] == [("context", None, "-+"), ("query", None, "=")]
    assert told(build(), build(context=["one"]))[-2:] == [("context", None, "+"), ("query", None, "=")]


def test_what_both_begin_with_ends_where_they_first_differ():
    pairs = side_by_side(build(), build(max_runs=3))
    (instructions,) = (segment for segment in build().segments if segment.part is Part.INSTRUCTIONS)
    assert shared_beginning(pairs) == instructions.tokens
