from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.in_memory import InMemoryTranscript
from sessions_app.domain.transcript import EventKind, Role, Run, RunStatus, SummaryEntry
from tests.domain.fakes.transcripts import assistant, exchange, run, user
from tests.domain.recount import count_messages

FINISHED = [RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED]
WEIGHTS = st.lists(st.tuples(st.integers(1, 9), st.sampled_from(FINISHED)), max_size=12)


def weighing(weights: list[tuple[int, RunStatus]]) -> InMemoryTranscript:
    return InMemoryTranscript([Run(0, status, (), tokens=tokens) for tokens, status in weights])


@given(WEIGHTS, st.integers(1, 13), st.integers(0, 60))
def test_it_weighs_the_newest_that_fit(weights: list[tuple[int, RunStatus]], not_below: int, tokens: int):
    reader = weighing(weights)
    not_below = min(not_below, len(weights) + 1)
    found = reader.weigh(not_below=not_below, tokens=tokens)
    taken: list[int] = []
    out = None
    for position in range(len(weights), not_below - 1, -1):
        if sum(weights[each - 1][0] for each in (*taken, position)) > tokens:
            out = weights[position - 1][0]
            break
        taken.append(position)
    assert found.first == (taken[-1] if taken else len(weights) + 1)
    assert found.tokens == sum(weights[position - 1][0] for position in taken)
    assert found.first_out == out
    others = [position for position in taken[::-1] if weights[position - 1][1] is not RunStatus.COMPLETED]
    assert [alike.first for alike in found.peculiar] == others


@given(WEIGHTS, st.integers(1, 13), st.integers(1, 13), st.integers(0, 60))
def test_it_reads_one_run_more_than_fits(
    weights: list[tuple[int, RunStatus]], position: int, not_below: int, tokens: int
):
    reader = weighing(weights)
    read = [run.position for run in reader.newest_before(position, not_below=not_below, tokens=tokens)]
    newest = min(position - 1, len(weights))
    assert read == list(range(newest, newest - len(read), -1))
    if read:
        assert sum(weights[each - 1][0] for each in read[:-1]) <= tokens
        assert read[-1] == not_below or sum(weights[each - 1][0] for each in read) > tokens
    else:
        assert newest < not_below


def test_a_conversation_comes_from_messages_with_its_tokens():
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
    ]
    transcript = InMemoryTranscript.of_messages(messages)
    assert transcript.instructions == "Be kind."
    assert [[event.text for event in run.events] for run in transcript.runs] == [["one", "two"], ["three"]]
    assert transcript.runs[0].tokens == count_messages(messages[1:3], "o200k_base") - 3


def test_messages_that_are_none_are_pointed_to():
    with pytest.raises(InvalidInput) as refused:
        InMemoryTranscript.of_messages([{"role": "user", "content": "one"}, {"role": "robot"}])
    assert refused.value.errors[0].pointer.startswith("/messages/1")


def test_messages_are_counted_back_over_runs():
    transcript = InMemoryTranscript(
        [exchange("1", "2"), run(assistant("3")), run(user("4"), user("5"), assistant("6"))]
    )
    places = [transcript.oldest_question(among=among, not_below=1) for among in range(1, 8)]
    found = [place and (place.position, place.messages) for place in places]
    assert found == [None, (3, 2), (3, 3), (3, 3), (3, 3), (1, 2), (1, 2)]


def test_a_past_turn_has_what_was_there_then():
    summaries = [SummaryEntry(name, number, 1, name) for number, name in enumerate(("early", "late"), 1)]
    runs = [exchange("1", "2"), exchange("3", "4"), exchange("5", "6")]
    transcript = InMemoryTranscript(runs, summaries=summaries, made_before={"late": 3})
    past = transcript.as_of(2)
    open_run = past.open_run()
    assert (past.finished_through, open_run and [event.text for event in open_run.events]) == (1, ["3"])
    assert [entry.summary_id for entry in past.summaries] == ["early"]
    assert len(transcript.as_of(3).summaries) == 2


def test_positions_are_numbered_and_notes_are_no_messages():
    transcript = InMemoryTranscript([exchange("a", "b")] * 3)
    assert all(after.position - before.position == 1 for before, after in pairwise(transcript.runs))
    kinds = {event.kind for each in transcript.runs for event in each.events}
    assert kinds == {EventKind.MESSAGE}
    newest = transcript.newest_answered(not_below=1)
    assert newest is not None
    assert newest.position == 3
    assert newest.events[-1].role is Role.ASSISTANT
