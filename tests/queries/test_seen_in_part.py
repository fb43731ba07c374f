import pytest
import tiktoken

from sessions_app.domain.causes import Cause
from sessions_app.domain.memory_settings import Layer
from sessions_app.domain.openai_messages import turn
from sessions_app.models import Summary
from sessions_app.queries.seen_in_part import BehindFork, CutResults, Summarized, seen_in_part
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db

LIMIT = {"tool_result_max_tokens": 20}
SHOWN_AS = ["openai", "responses", "anthropic", "gemini"]


def looked_up(result, call_id="c1"):
    """A turn whose answer comes from a tool."""
    call = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return turn(
        [
            {"role": "user", "content": "Look it up."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": result},
            {"role": "assistant", "content": "Done."},
        ]
    )


def in_part(session, **asked):
    return seen_in_part(session=session, prompt=session_prompt(session=session, **asked))


def test_a_prompt_with_all_there_is_shows_nothing_in_part():
    session = make_session(runs=3)

    assert not in_part(session)
    assert not in_part(session, at=1)


def test_runs_in_a_summary_are_seen_as_far_as_it_says_them():
    session = make_session(runs=12, settings={"offset": 2})
    session.summary = Summary.objects.create(
        session=session, number=3, covers_through=8, text="Short.", status="completed", created_at=NOW, ended_at=NOW
    )
    session.save()

    assert in_part(session).summarized == [Summarized(1, 8, 3)]


def test_an_extract_has_no_number():
    settings = {"max_input_tokens": 120, "on_gap": "stopgap", "offset": 3}
    session = make_session(runs=30, settings=settings)

    (extract,) = in_part(session).summarized

    assert (extract.first, extract.number) == (1, None)


@pytest.mark.parametrize("shown_as", SHOWN_AS)
def test_a_long_tool_result_is_cut_and_the_setting_named(shown_as):
    session = make_session(settings=LIMIT | {"format": shown_as})
    append_runs(session=session, runs=[looked_up("long " * 60), looked_up("short")], now=NOW)
    session.refresh_from_db()

    (result,) = in_part(session).results

    size = len(tiktoken.get_encoding("o200k_base").encode("long " * 60))
    assert result == CutResults(1, False, Cause("tool_result_max_tokens", 20, Layer.SESSION), f"20 of {size} tokens")


@pytest.mark.parametrize("shown_as", SHOWN_AS)
def test_an_old_tool_result_gives_way_to_a_mark(shown_as):
    session = make_session(settings={"keep_tool_results": 1, "format": shown_as})
    append_runs(session=session, runs=[looked_up("first"), looked_up("second")], now=NOW)

    (result,) = in_part(session).results

    assert result == CutResults(1, True, Cause("keep_tool_results", 1, Layer.SESSION))


def test_people_who_write_like_a_mark_are_left_alone():
    session = make_session(settings=LIMIT)
    append_runs(session=session, runs=[looked_up("short")], now=NOW)
    append_turns(session, 1)

    assert not in_part(session, query="[result not shown]").results


def test_of_many_the_newest_are_named_and_the_rest_counted():
    session = make_session(settings=LIMIT)
    append_runs(session=session, runs=[looked_up("long " * 60) for _ in range(7)], now=NOW)

    seen = in_part(session)

    assert [result.position for result in seen.results] == [3, 4, 5, 6, 7]
    assert seen.more_results == 2


def test_what_the_parent_has_behind_the_fork_is_not_in_the_fork():
    parent = make_session(runs=5)
    fork = make_session(parent.project, "fork", parent=parent, forked_at=3, runs=2)

    assert in_part(fork).behind_fork == BehindFork(parent, 4, 5)
    assert in_part(fork, at=5).behind_fork == BehindFork(parent, 4, 5)
    assert in_part(fork, at=3).behind_fork is None


def test_a_fork_at_the_end_and_a_child_have_nothing_behind_a_fork():
    parent = make_session(runs=3)

    assert in_part(make_session(parent.project, "fork", parent=parent, forked_at=3, runs=1)).behind_fork is None
    assert in_part(make_session(parent.project, "child", parent=parent, runs=1)).behind_fork is None
