from sessions_app.domain.transcript import ParentContext
from tests.domain.fakes.transcripts import InMemoryTranscript
from tests.domain.strategies.prompts import build, fates, numbered, sent


def test_it_is_minimal_with_the_parents_context_always_on():
    parents = [ParentContext("Root", "Far away."), ParentContext("Mid", "Near.")]
    prompt = build([], strategy="hierarchical", reader=InMemoryTranscript(numbered(4), parents=parents))
    assert sent(prompt) == [
        ("system", "# Parent conversation\n## Mid\nNear."),
        ("user", "q1"),
        ("assistant", "[answer not shown]\n\n[2 runs not shown]"),
        ("user", "q4"),
        ("assistant", "a4"),
        ("user", "Go on."),
    ]
    reason = "hierarchical: only the parents' context, the first run's input and the newest answered run"
    assert fates(prompt)[1] == (2, 3, "skipped", reason)


def test_parent_depth_says_how_many_parents():
    parents = [ParentContext("Root", "Far away."), ParentContext("Mid", "Near.")]
    reader = InMemoryTranscript([], parents=parents)
    prompt = build([], strategy="hierarchical", parent_depth=2, reader=reader)
    assert sent(prompt)[0] == ("system", "# Parent conversation\n## Root\nFar away.\n\n## Mid\nNear.")


def test_a_conversation_without_runs_gets_the_context_too():
    reader = InMemoryTranscript([], parents=[ParentContext("", "Near.")])
    assert sent(build([], strategy="hierarchical", reader=reader))[0] == ("system", "# Parent conversation\nNear.")
