import pytest

from sessions_app.domain.base_messages import Base
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall
from sessions_app.queries.bands import Span
from sessions_app.queries.prompt_views import prompt_view
from sessions_app.services.project_summarizers import save_project_summarizer
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, make_owner, make_project, make_session

pytestmark = pytest.mark.django_db


def view(session, *, overrides=None, query=None, within=None):
    session.refresh_from_db()
    prompt = session_prompt(session=session, overrides=overrides, query=query)
    return prompt_view(session=session, prompt=prompt, within=within), prompt


def test_everything_that_is_sent_is_shown_and_its_tokens_add_up():
    session = make_session(runs=3, instructions="Be brief.", settings={"strategy": "buffer"})
    shown, prompt = view(session, query="And now?")
    assert [message.start for _, message, _ in shown.system] == ["Be brief."]
    assert [group.position for group in shown.runs] == [1, 2, 3]
    assert [message.start for message in shown.runs[2].messages] == ["question 3", "answer 3"]
    assert [message.start for group in shown.tail for message in group.messages] == ["And now?"]
    tokens = shown.system_tokens + sum(group.tokens for group in [*shown.runs, *shown.tail])
    assert tokens + prompt.tokens.overhead == prompt.tokens.total


def test_a_summary_is_shown_with_its_number_and_an_extract_as_a_stopgap():
    session = make_session(runs=40, settings={"max_input_tokens": 300, "summarize_at": 0, "max_summary_tokens": 40})
    shown, _ = view(session)
    assert [(segment.heading[:7], note) for segment, _, note in shown.system] == [("Extract", "stopgap extract")]
    while advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED:
        pass
    shown, _ = view(session)
    assert [(segment.heading[:7], note) for segment, _, note in shown.system] == [("Summary", "#1")]


def test_a_summary_in_its_projects_own_words_is_shown_with_its_number_too():
    session = make_session(runs=9, settings={"max_input_tokens": 4000, "summarize_at": 0})
    advance(session_pk=session.pk, now=NOW)
    changes = {"summary_template": "Before: {summary}"}
    save_project_summarizer(project=session.project, changes=changes, by=make_owner(session.project), now=NOW)
    shown, _ = view(session)
    ((segment, message, note),) = shown.system
    assert (segment.part, segment.heading, note) == ("summary", "", "#1")
    assert message.start.startswith("Before: Goal: question 1")


def test_it_counts_what_is_not_sent_by_reason():
    session = make_session(runs=10, settings={"strategy": "buffer"})
    shown, _ = view(session, overrides={"max_runs": 7, "last_n": 4})
    assert shown.unseen == [(Fate.CAPPED, "3 capped"), (Fate.SKIPPED, "3 skipped")]


def test_of_a_long_prompt_the_first_three_runs_and_the_newest_are_unfolded_forty_in_all():
    session = make_session(runs=100, settings={"strategy": "buffer"})
    shown, prompt = view(session)
    assert [group.position for group in shown.first] == [1, 2, 3]
    assert [group.position for group in shown.runs] == list(range(64, 101))
    older = shown.older
    assert (older.first, older.last, older.messages, older.opens_at) == (4, 63, 120, 24)
    assert older.tokens + sum(group.tokens for group in [*shown.first, *shown.runs]) == prompt.tokens.runs
    more, _ = view(session, within=Span(4, 63))
    assert (more.first, [group.position for group in more.runs]) == ([], list(range(24, 64)))
    assert (more.older.first, more.older.last) == (4, 23)


def test_a_prompt_of_forty_runs_is_unfolded_whole():
    shown, _ = view(make_session(runs=40, settings={"strategy": "buffer"}))
    assert (shown.first, shown.older, len(shown.runs)) == ([], None, 40)
    assert view(make_session(make_project("none")))[0].runs == []


def test_context_in_the_system_block_is_shown_there():
    session = make_session(runs=1, settings={"strategy": "buffer"})
    prompt = session_prompt(session=session, context=["A fact."])
    shown = prompt_view(session=session, prompt=prompt)
    assert [(segment.heading, message.start) for segment, message, _ in shown.system] == [("Context", "A fact.")]
    assert shown.tail == []


def test_long_texts_stand_behind_a_fold():
    session = make_session(settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn("a" * 2000, "b" * 250_000)], now=NOW)
    shown, _ = view(session)
    asked, answered = shown.runs[0].messages
    assert (len(asked.start), len(asked.rest), asked.left_out) == (1500, 500, 0)
    assert len(answered.start) + len(answered.rest) + answered.left_out == 250_000


@pytest.mark.parametrize(("length", "hidden"), [(1799, 0), (1800, 300)])
def test_a_text_is_folded_only_where_that_hides_three_hundred_characters(length, hidden):
    session = make_session(settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn("a" * length, "b")], now=NOW)
    shown, _ = view(session)
    asked, _ = shown.runs[0].messages
    assert (len(asked.start), len(asked.rest)) == (length - hidden, hidden)


def with_reasoning(session):
    """Append a run that was thought over, called a tool, and was answered."""
    part = {"type": "thinking", "thinking": "One booking is wanted.", "signature": "c2lnbmVk"}
    opaque = ({"type": "opaque", "format": "anthropic", "part": part},)
    events = (
        Event(EventKind.MESSAGE, "Book it.", Role.USER),
        Event(EventKind.REASONING, "", None, content=opaque),
        Event(EventKind.TOOL_CALL, tool=ToolCall("c1", "book", '{"seats": 4}', '{"ok": true}')),
        Event(EventKind.MESSAGE, "Booked.", Role.ASSISTANT),
    )
    append_runs(session=session, runs=[NewRun(status=RunStatus.COMPLETED, events=events)], now=NOW)


@pytest.mark.parametrize(
    ("form", "roles"),
    [
        ("openai", ["user", "assistant", "tool", "assistant"]),
        ("responses", ["user", "assistant", "tool", "assistant"]),
        ("anthropic", ["user", "reasoning", "assistant", "tool", "assistant"]),
        ("gemini", ["user", "model", "tool", "model"]),
        ("seed", ["user", "assistant"]),
    ],
)
def test_each_format_shows_who_speaks_what_is_called_and_what_it_gave(form, roles):
    session = make_session(settings={"strategy": "buffer"})
    with_reasoning(session)
    shown, prompt = view(session, overrides={"format": form})
    messages = shown.runs[0].messages
    assert sorted(message.role for message in messages) == sorted(roles)
    assert sum(message.tokens for message in messages) == prompt.tokens.runs
    assert [message.start for message in messages if message.role == "reasoning"] == [
        "One booking is wanted." for role in roles if role == "reasoning"
    ]
    assert form == "seed" or [message.calls for message in messages if message.calls] == [(("book", '{"seats": 4}'),)]


@pytest.mark.parametrize(
    ("form", "word"),
    [
        ("openai", "one block"),
        ("anthropic", "one text, sent beside the messages"),
        ("gemini", "one text, sent beside the messages"),
    ],
)
def test_it_says_how_the_system_block_is_sent(form, word):
    session = make_session(runs=1, instructions="Be brief.")
    assert view(session, overrides={"format": form})[0].system_word == word


def test_in_the_format_seed_each_system_text_is_a_message_and_context_stands_where_it_is_sent():
    session = make_session(runs=2, instructions="Be brief.")
    overrides = {"format": "seed", "strategy": "buffer"}
    prompt = session_prompt(session=session, overrides=overrides, context=["A fact."])
    shown = prompt_view(session=session, prompt=prompt)
    assert [group.messages[0].start for group in shown.lead] == ["[context]\nA fact."]
    assert (shown.base, shown.tail) == ([], [])


def test_messages_of_a_base_stand_before_and_behind_the_memory():
    session = make_session(runs=1, instructions="Be brief.")
    messages = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Hello."}]
    prompt = session_prompt(session=session, base=Base(messages, 1), query="So?")
    shown = prompt_view(session=session, prompt=prompt)
    assert [message.start for group in shown.base for message in group.messages] == ["Rules."]
    assert [message.start for _, message, _ in shown.system] == ["Be brief."]
    assert [message.start for group in shown.tail for message in group.messages] == ["Hello.", "So?"]


def test_a_base_without_any_memory_is_shown_in_its_order():
    messages = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Hello."}]
    session = make_session()
    shown = prompt_view(session=session, prompt=session_prompt(session=session, base=Base(messages)))
    assert [message.start for group in shown.tail for message in group.messages] == ["Rules.", "Hello."]


def test_what_is_left_out_between_two_runs_is_counted_behind_the_first():
    session = make_session(runs=9)
    shown, _ = view(session, overrides={"strategy": "head_tail", "max_input_tokens": 90})
    first, *others = shown.runs
    assert (first.position, first.gap) == (1, others[0].position - 2)
    assert first.messages[-1].start.endswith(first.gap_mark)
    assert [group.gap for group in others] == [0] * len(others)


def test_tool_definitions_have_a_place_of_their_own():
    session = make_session(runs=1)
    tools = [{"type": "function", "function": {"name": "search"}}]
    prompt = session_prompt(session=session, tools=tools)
    shown = prompt_view(session=session, prompt=prompt)
    assert (shown.tools.heading, shown.tools.text, shown.tools.tokens) == (
        "1 tool definition",
        "search",
        prompt.tokens.tools,
    )
