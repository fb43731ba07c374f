"""The reader of rows answers as the one in memory does, whatever runs there are, and through forks."""

from dataclasses import replace
from random import Random

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.in_memory import InMemoryTranscript
from sessions_app.domain.memory_settings import Strategy
from sessions_app.domain.run_fields import check_new_run
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, Run, RunStatus, ToolCall
from sessions_app.models import SessionTranscript
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from tests.domain.fakes.transcripts import settings
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db
WORDS = ("one", "two words", "", "longer " * 9, "灯台の記録")
ENDED = (RunStatus.COMPLETED, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)


def random_run(chance: Random) -> NewRun:
    asked = [Event(EventKind.MESSAGE, chance.choice(WORDS), Role.USER) for _ in range(chance.choice([0, 1, 1, 1, 2]))]
    steps: list[Event] = []
    for _ in range(chance.choice([0, 1, 1, 2])):
        steps.append(Event(EventKind.MESSAGE, chance.choice(WORDS), Role.ASSISTANT))
        parent = len(asked) + len(steps) - 1
        call = ToolCall("c", "look_up", "{}", chance.choice([None, "found"]))
        steps += [Event(EventKind.TOOL_CALL, tool=call, parent=parent)] * chance.choice([0, 0, 1])
        steps += [Event(EventKind.NOTE, "A note.")] * chance.choice([0, 0, 0, 1])
    return check_new_run(NewRun((*asked, *steps) or (Event(EventKind.MESSAGE, "q", Role.USER),), chance.choice(ENDED)))


def readers(chance: Random) -> tuple[SessionTranscript, InMemoryTranscript]:
    """A conversation that may have been forked twice, from rows and in memory."""
    session, runs = make_session(), list[NewRun]()
    for forks in range(chance.choice([1, 2, 3])):
        if forks:
            at = chance.randint(0, len(runs))
            session, runs = fork_session(session=session, at=at, now=NOW), runs[:at]
        more = [random_run(chance) for _ in range(chance.randint(0, 9))]
        append_runs(session=session, runs=more, now=NOW)
        session.refresh_from_db()
        runs += more
    values = [Run(0, new.status, new.events, new.error, new.tokens) for new in runs]
    return SessionTranscript(session), InMemoryTranscript(values)


def bare(run: Run | None) -> object:
    return run and (run.position, run.status, run.tokens, [replace(event, created_at=None) for event in run.events])


@pytest.mark.parametrize("seed", range(8))
def test_both_find_the_same(seed):
    chance = Random(seed)
    stored, held = readers(chance)
    last = held.finished_through
    assert stored.finished_through == last
    for _ in range(25):
        not_below, position = chance.randint(1, last + 2), chance.randint(1, last + 2)
        tokens = chance.choice([0, 5, 20, 60, 200, 10_000])
        found = [each.newest_before(position, not_below=not_below, tokens=tokens) for each in (stored, held)]
        assert [*map(bare, found[0])] == [*map(bare, found[1])]
        assert stored.tokens_between(not_below, last) == held.tokens_between(not_below, last)
        assert bare(stored.newest_answered(not_below=not_below)) == bare(held.newest_answered(not_below=not_below))
        inputs = [each.first_input(not_below=not_below) for each in (stored, held)]
        told = [each and (bare(each.run), each.is_all) for each in inputs]
        assert told[0] == told[1]
        among = chance.randint(1, 12)
        places = [each.oldest_question(among=among, not_below=not_below) for each in (stored, held)]
        assert places[0] == places[1]
        weighed = [each.weigh(not_below=not_below, tokens=tokens) for each in (stored, held)]
        assert (weighed[0].tokens, weighed[0].first_out) == (weighed[1].tokens, weighed[1].first_out)


@pytest.mark.parametrize("seed", range(8))
def test_both_give_the_same_prompt(seed):
    chance = Random(seed)
    stored, held = readers(chance)
    for _ in range(6):
        given = settings(
            strategy=chance.choice(list(Strategy)).value,
            format=chance.choice(["openai", "anthropic", "seed", "text"]),
            max_input_tokens=chance.choice([30, 60, 120, 400]),
            last_n=chance.choice([2, 5, "unlimited"]),
            max_history=chance.choice([1, 3, 6]),
        )
        at = chance.randint(1, held.finished_through) if held.finished_through and chance.random() < 0.4 else None
        answers: list[object] = []
        for reader in (stored, held):
            try:
                prompt = build_prompt(reader=reader, settings=given, query=None, at=at)
                answers.append((prompt.fingerprint, prompt.fates, prompt.cut, prompt.warnings))
            except Exception as refusal:  # noqa: BLE001
                answers.append(str(refusal))
        assert answers[0] == answers[1]
