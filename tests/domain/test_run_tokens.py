"""What is stored with a run as its tokens."""

from collections.abc import Sequence

import pytest

from sessions_app.domain.run_fields import check_new_run
from sessions_app.domain.run_tokens import run_tokens
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Event, NewRun, Run, RunStatus
from tests.domain.fakes.transcripts import assistant, call, system, user
from tests.domain.recount import count_text


def needed(*texts: str) -> int:
    """The tokens of messages with these texts, by the words of the counter: each 3 and 1 for its role."""
    return sum(3 + 1 + count_text(text, "o200k_base") for text in texts)


ENDINGS = [
    (RunStatus.COMPLETED, "", [user("Find it.")], needed("Find it.", "[no answer]")),
    (RunStatus.COMPLETED, "", [assistant("Hello.")], needed("[empty message]", "Hello.")),
    (RunStatus.COMPLETED, "", [], needed("[empty message]", "[no answer]")),
    (RunStatus.FAILED, "down", [user("Find it.")], needed("Find it.", "[failed: down]")),
    (RunStatus.CANCELLED, "", [user("Find it."), assistant("I")], needed("Find it.", "I\n\n[interrupted]")),
    (
        RunStatus.COMPLETED,
        "",
        [user("One."), system("Two."), assistant("a")],
        needed("One.\n\n[system message]\nTwo.", "a"),
    ),
    # "look", "_up" and "{}" and 8 for each call, in one message without text.
    (
        RunStatus.COMPLETED,
        "",
        [user("Find it."), assistant(), call(parent=1), call(parent=1), assistant("Found.")],
        needed("Find it.", "", "found", "found", "Found.") + 2 * (2 + 1 + 8),
    ),
]


@pytest.mark.parametrize(("status", "error", "events", "tokens"), ENDINGS)
def test_a_finished_run_needs_what_is_sent_of_it_with_its_marks_and_placeholders(
    status: RunStatus, error: str, events: Sequence[Event], tokens: int
):
    run = check_new_run(NewRun(tuple(events), status=status, error=error))
    assert run.tokens == run_tokens(Run(7, status, run.events, error)) == tokens


def test_an_open_run_is_the_sum_of_its_events():
    run = check_new_run(NewRun((user("Find it."), call()), status=RunStatus.RUNNING))
    assert run.tokens == sum(event.tokens for event in run.events) == needed("Find it.", "", "found") + 2 + 1 + 8


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are counted from now on."""
    texts: list[str] = []
    count = TokenCounter.text

    def noted(self: TokenCounter, text: str) -> int:
        texts.append(text)
        return count(self, text)

    monkeypatch.setattr(TokenCounter, "text", noted)
    return texts


def test_each_text_is_counted_once_for_its_event_and_its_run(counted: list[str]):
    events = (user("Find it."), assistant("I look."), call(parent=1, result="r"), assistant("Found."))
    check_new_run(NewRun(events))
    assert sorted(counted) == sorted(
        ["user", "Find it.", "assistant", "I look.", "look_up", "{}", "tool", "r", "Found."]
    )


@pytest.mark.parametrize("status", [RunStatus.COMPLETED, RunStatus.RUNNING])
def test_a_run_that_was_checked_is_not_counted_again(status: RunStatus, counted: list[str]):
    checked = check_new_run(NewRun((user("Find it."), assistant("Found.")), status=status))
    counted.clear()
    assert check_new_run(checked) == checked
    assert counted == []
