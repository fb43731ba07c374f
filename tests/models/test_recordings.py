"""What a replay reads of rows is what the builder would count."""

import pytest

from sessions_app.domain.replays.recording import weight_of
from sessions_app.domain.transcript import Event, EventKind, NewRun, RunStatus
from sessions_app.models import SessionRecording
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from tests.domain.fakes.transcripts import assistant, call, system, user
from tests.factories import NOW, append_turns, make_open_run, make_session

pytestmark = pytest.mark.django_db
TEXT = {"type": "text", "text": "Look."}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
FILE = {"type": "input_audio"}
SHAPES = [
    (),
    (user("Hello."),),
    (user("Hello."), assistant("Hi.")),
    (user(" "), assistant("")),
    (assistant("Welcome."),),
    (call(),),
    (user("Hello."), assistant(), call(parent=1), assistant("Hi.")),
    (user("One."), user("Two."), assistant("Hi.")),
    (user("One."), assistant("Hi."), user("Two.")),
    (assistant("Welcome."), user("Hello."), assistant("Hi.")),
    (call(), user("Hello.")),
    (system("Be brief."), user("Hello."), assistant("Hi.")),
    (user("Hello."), system("Be brief."), assistant("Hi.")),
    (user("Hello."), assistant("Hi."), system("Be brief.")),
    (user("Look.", content=(TEXT, IMAGE)), assistant("Nice.")),
    (user("Look.", content=(TEXT, FILE)), assistant("Nice.")),
    (Event(EventKind.NOTE, "A note."), user("Hello."), Event(EventKind.REASONING, "Hm."), assistant("Hi.")),
]


@pytest.fixture
def session():
    session = make_session(runs=2)
    new = [NewRun(events) for events in SHAPES] + [NewRun(SHAPES[2], RunStatus.FAILED, error="down")]
    append_runs(session=session, runs=new, now=NOW)
    make_open_run(session, "And now?")
    session.refresh_from_db()
    return session


def test_runs_are_read_in_order_with_their_events(session):
    runs = list(SessionRecording(session).all_runs())
    assert [run.position for run in runs] == list(range(1, 2 + len(SHAPES) + 3))
    assert [event.text for event in runs[9].events] == ["One.", "Two.", "Hi."]
    assert runs[-1].status is RunStatus.RUNNING


def test_stored_weights_are_those_of_the_runs_rendered(session):
    recording = SessionRecording(session)
    for weight, run in zip(recording.all_weights(), recording.all_runs(), strict=True):
        rendered = weight_of(run)
        assert weight.question == rendered.question, run
        if not run.status.is_open:
            assert weight == rendered, run


def test_only_runs_that_ask_in_an_unusual_way_are_read_for_their_weights(session, django_assert_num_queries):
    plain = make_session(session.project, "plain", runs=30)
    with django_assert_num_queries(1):
        assert len(list(SessionRecording(plain).all_weights())) == 30
    with django_assert_num_queries(3):
        list(SessionRecording(session).all_weights())


def test_a_fork_is_read_along_its_lineage(session):
    fork = fork_session(session=session, at=4, now=NOW)
    append_turns(fork, 2)
    fork.refresh_from_db()
    positions = [run.position for run in SessionRecording(fork).all_runs()]
    assert positions == [1, 2, 3, 4, 5, 6]
    assert len(list(SessionRecording(fork).all_weights())) == 6
