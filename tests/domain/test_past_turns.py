from dataclasses import replace
from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.plan import Prompt
from sessions_app.domain.settings_versions import VersionsOfTurn
from sessions_app.domain.transcript import ParentContext, RunStatus, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user


def numbered(count: int, **fields: Any) -> InMemoryTranscript:
    return InMemoryTranscript([exchange(f"q{n}", f"a{n}") for n in range(1, count + 1)], **fields)


def build(reader: InMemoryTranscript, at: int | None = None, query: str | None = None, **overrides: Any) -> Prompt:
    return build_prompt(reader=reader, settings=settings(**overrides), query=query, at=at)


def contents(prompt: Prompt) -> list[Any]:
    return [message["content"] for message in prompt.messages or ()]


def test_the_history_is_what_lay_before_and_the_runs_input_is_the_question():
    prompt = build(numbered(5), at=3)
    assert contents(prompt) == ["q1", "a1", "q2", "a2", "q3"]
    assert [(each.first, each.last, each.fate.value) for each in prompt.fates] == [(1, 2, "kept")]
    assert (prompt.tokens.query, prompt.turn and prompt.turn.position) == (3 + 1 + 2, 3)


def test_it_is_the_prompt_that_was_built_then():
    for strategy in ("buffer", "summary", "minimal", "task", "tool", "conversation", "head_tail"):
        for at in range(1, 6):
            then = build(numbered(at - 1), query=f"q{at}", strategy=strategy, max_input_tokens=60)
            now = build(numbered(5), at=at, strategy=strategy, max_input_tokens=60)
            assert (now.messages, now.fates, now.fingerprint) == (then.messages, then.fates, then.fingerprint)


@pytest.mark.parametrize("strategy", ["minimal", "task", "tool", "conversation", "buffer"])
def test_in_the_format_seed_the_turns_own_run_has_no_fate_either(strategy: str):
    prompt = build(numbered(3), at=3, strategy=strategy, format="seed")
    assert [position for each in prompt.fates for position in range(each.first, each.last + 1)] == [1, 2]


def test_what_the_run_did_afterwards_is_not_known():
    reader = InMemoryTranscript([run(user("part 1"), user("part 2"), assistant(), call(parent=2), assistant("a1"))])
    assert contents(build(reader, at=1)) == ["part 1\n\npart 2"]


def test_the_summary_is_the_one_that_had_been_made():
    summaries = [
        SummaryEntry("s1", 1, 2, "First."),
        SummaryEntry("s2", 2, 5, "Second."),
        SummaryEntry("s3", 3, 6, "Third."),
    ]
    reader = numbered(12, summaries=summaries, made_before={"s1": 4, "s2": 9, "s3": 12})
    assert build(reader, at=3, offset=1).covers_through is None
    assert build(reader, at=8, offset=1).covers_through == 2
    assert build(reader, at=9, offset=1).covers_through == 5
    assert build(reader, at=9, offset=4).covers_through == 2
    assert build(reader, offset=1).covers_through == 6


def test_so_is_what_parents_hand_down():
    reader = numbered(4, parents=[ParentContext("Mid", "Near.")], made_before={"Mid": 3})
    assert build(reader, at=2, include_parent_context=True).tokens.parent_context == 0
    assert build(reader, at=3, include_parent_context=True).tokens.parent_context > 0


@pytest.mark.parametrize(
    ("project", "session", "unknown"),
    [(None, None, "the project and the session"), (3, None, "the session"), (None, 2, "the project"), (3, 0, "")],
)
def test_it_names_whose_settings_of_then_are_not_known(project: int | None, session: int | None, unknown: str):
    known = replace(settings(), versions=VersionsOfTurn(project, session))
    prompt = build_prompt(reader=numbered(2), settings=known, query=None, at=1)
    details = [warning.detail for warning in prompt.warnings]
    assert details == (
        [f"Which settings {unknown} had at turn 1 is not recorded; those of today take their place."] if unknown else []
    )
    assert prompt.turn
    assert prompt.turn.versions == VersionsOfTurn(project, session)


def test_it_says_that_the_settings_are_those_of_today():
    assert [warning.code for warning in build(numbered(2), at=1).warnings] == ["settings_of_today"]


def test_it_says_whether_it_is_the_prompt_that_the_run_was_made_with():
    first = build(numbered(2), query="q3")
    runs = [*numbered(2).runs, exchange("q3", "a3")]
    for recorded, same in ((first.fingerprint, True), ("sha256:other", False), ("", None)):
        runs[2] = replace(runs[2], prompt_fingerprint=recorded)
        prompt = build(InMemoryTranscript(runs), at=3)
        assert (prompt.turn and prompt.turn.recorded, prompt.is_as_recorded) == (recorded, same)


def test_another_query_takes_the_place_of_the_input():
    prompt = build(numbered(5), at=3, query="Or else?")
    assert contents(prompt) == ["q1", "a1", "q2", "a2", "Or else?"]
    assert [warning.code for warning in prompt.warnings] == ["settings_of_today"]


def test_the_open_run_is_a_turn_too():
    reader = InMemoryTranscript(
        [exchange("q1", "a1"), run(user("q2"), assistant(), call(parent=1), status=RunStatus.RUNNING)]
    )
    assert contents(build(reader, at=2)) == ["q1", "a1", "q2"]
    assert contents(build(reader, at=1)) == ["q1"]


def test_a_run_without_input_is_asked_as_an_open_run_without_one_is():
    reader = InMemoryTranscript([exchange("q1", "a1"), run(assistant("By the way."))])
    assert contents(build(reader, at=2)) == ["q1", "a1", "[empty message]"]


@pytest.mark.parametrize("at", [0, -1, 6, 2**31 - 1])
def test_a_turn_that_is_none_is_refused(at: int):
    with pytest.raises(InvalidInput, match="a turn from 1 to 5") as refused:
        build(numbered(5), at=at)
    assert [error.pointer for error in refused.value.errors] == ["/at"]


def test_a_conversation_without_runs_has_no_turns():
    with pytest.raises(InvalidInput, match="no runs"):
        build(InMemoryTranscript(), at=1)
