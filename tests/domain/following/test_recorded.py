"""What sums tell of where words were is what the builder's own prompts show."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as run_with
from hypothesis import strategies as st

from sessions_app.domain.builder import build_prompt, terms_of
from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.following.built import kept_without, says, sight_in
from sessions_app.domain.following.recorded import RecordedPrompts, SaidRuns, are_told_by_sums
from sessions_app.domain.following.sights import Hit, Part, Sight, Why, no_prompt
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.pieces import segments_of
from sessions_app.domain.replays.recording import Weights, weight_of
from sessions_app.domain.replays.replay import rendering_of
from sessions_app.domain.transcript import SummaryEntry
from tests.domain.fakes.phrases import phrase
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user

PHRASE = phrase("knee brace")
SAID = "My mother wears a knee brace."
LONG = "one thing after the other " * 12


def hits_of(reader: InMemoryTranscript) -> list[Hit]:
    hits = []
    for each in reader.runs:
        parts = set()
        for event in each.events:
            if PHRASE.is_in(event.text):
                parts.add(Part.INPUT)
            if event.tool and PHRASE.is_in(event.tool.result or ""):
                parts.add(Part.TOOL_RESULT)
        if parts:
            hits.append(Hit(each.position, frozenset(parts)))
    return hits


def recorded(reader: InMemoryTranscript, effective: EffectiveSettings) -> RecordedPrompts:
    terms = terms_of(effective)
    rendering, weights, sent, unsent = rendering_of(terms), Weights(), [], {}
    hits = {hit.position: hit for hit in hits_of(reader)}
    for each in reader.runs:
        weights.add(weight_of(each, rendering))
        if each.position in hits:
            pieces = rendering(Excerpt(each), gap=0, newer=0).pieces
            if any(says(segment, PHRASE) for segment in segments_of(pieces)):
                sent.append(each.position)
            else:
                hidden = terms.values.keep_tool_results is not None
                left_out = terms.renderer.left_out(each)
                unsent[each.position] = kept_without(
                    hits[each.position], terms.values, left_out=left_out, hidden=hidden
                )
    return RecordedPrompts(terms, weights, reader.instructions, PHRASE, SaidRuns(list(hits), sent, unsent))


def told(reader: InMemoryTranscript, effective: EffectiveSettings, turn: int) -> Sight | None:
    prompts, past = recorded(reader, effective), reader.as_of(turn)
    kept = prompts.covers_at_most
    at_most = 0 if kept is None else turn - 1 - kept
    return prompts.sight(turn, past.newest_summary(at_most) if at_most > 0 else None, ())


def built(reader: InMemoryTranscript, effective: EffectiveSettings, turn: int) -> Sight:
    hit = next((hit for hit in reversed(hits_of(reader)) if hit.position < turn), None)
    try:
        prompt = build_prompt(reader=reader, settings=effective, query=None, at=turn)
    except ConvowebError:
        return no_prompt(hit.position if hit else None)
    return sight_in(prompt, PHRASE, hit)


@st.composite
def conversations(draw: Any) -> InMemoryTranscript:
    texts = st.sampled_from(["Yes.", LONG, SAID, "Short and clear."])
    runs = []
    for _ in range(draw(st.integers(1, 14))):
        if draw(st.booleans()):
            runs.append(exchange(draw(texts), draw(texts)))
        else:
            result = draw(st.sampled_from(["found", SAID, LONG + SAID]))
            runs.append(run(user(draw(texts)), assistant(), call(result=result, parent=1), assistant("Done.")))
    ends = sorted(draw(st.sets(st.integers(1, 12), max_size=3)))
    summaries = [
        SummaryEntry(f"s{place}", place, end, draw(st.sampled_from(["They talk.", SAID, LONG + SAID])))
        for place, end in enumerate(ends, 1)
    ]
    made = {entry.summary_id: entry.covers_through + draw(st.integers(1, 4)) for entry in summaries}
    instructions = draw(st.sampled_from(["", "Be kind.", f"Be kind. {SAID}"]))
    return InMemoryTranscript(runs, instructions, summaries, made_before=made)


LIMITED = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["buffer", "summary", "tool"]),
        "max_input_tokens": st.integers(20, 500),
        "max_runs": st.sampled_from(["unlimited", 1, 3, 6]),
        "last_n": st.sampled_from(["unlimited", 0, 2, 5]),
        "offset": st.integers(0, 4),
        "on_gap": st.sampled_from(["warn", "error", "stopgap"]),
        "autoprune": st.booleans(),
        "max_summary_tokens": st.sampled_from([8, 512]),
        "tool_result_max_tokens": st.sampled_from(["unlimited", 5, 40]),
        "keep_tool_results": st.sampled_from(["unlimited", 0]),
        "format": st.sampled_from(["openai", "anthropic", "text"]),
    }
)


@run_with(max_examples=150, deadline=None)
@given(conversations(), LIMITED)
def test_sums_tell_what_the_builder_builds(reader: InMemoryTranscript, overrides: dict[str, Any]):
    effective = settings(**overrides)
    for turn in range(1, len(reader.runs) + 1):
        sight, truth = told(reader, effective, turn), built(reader, effective, turn)
        assert sight in (None, truth), (turn, overrides)


@pytest.mark.parametrize(
    ("overrides", "turn", "why"),
    [
        # An exchange of this kind needs at most 40 tokens; the first run says it, and eight others follow.
        ({"strategy": "buffer"}, 9, Why.IN_RUN),
        ({"strategy": "buffer", "max_input_tokens": 60}, 9, Why.PRUNED),
        ({"strategy": "summary", "max_input_tokens": 60, "on_gap": "warn"}, 9, Why.LOST),
        ({"strategy": "summary", "max_input_tokens": 60, "on_gap": "error"}, 9, Why.NO_PROMPT),
        ({"strategy": "buffer", "max_runs": 3}, 9, Why.CAPPED),
        ({"strategy": "buffer", "last_n": 3}, 9, Why.LAST_N),
        ({"strategy": "tool"}, 9, Why.STRATEGY),
        ({"strategy": "tool"}, 2, Why.IN_RUN),
        ({"strategy": "buffer"}, 1, Why.NOT_SAID),
    ],
)
def test_why_the_words_are_there_or_not(overrides: dict[str, Any], turn: int, why: Why):
    reader = InMemoryTranscript([exchange(SAID, "Noted."), *(exchange(f"q{n}", f"a{n}") for n in range(2, 10))])
    assert told(reader, settings(**overrides), turn) == Sight(why, None if why is Why.NOT_SAID else 1)


def summarized(text: str, covers: int = 3) -> InMemoryTranscript:
    runs: Sequence[Any] = [exchange(SAID, "Noted."), *(exchange(f"q{n}", f"a{n}") for n in range(2, 10))]
    return InMemoryTranscript(runs, summaries=[SummaryEntry("s1", 1, covers, text)], made_before={"s1": 6})


def test_a_summary_that_says_it_has_it_and_one_that_does_not_is_where_it_left():
    effective = settings(strategy="summary", offset=2)
    assert told(summarized(SAID), effective, 5) == Sight(Why.IN_RUN, 1)
    assert told(summarized(SAID), effective, 6) == Sight(Why.IN_SUMMARY, 1, 1)
    assert told(summarized("They talk."), effective, 6) == Sight(Why.SUMMARIZED_AWAY, 1, 1)


def test_what_only_the_builder_can_tell_is_left_open():
    reader = InMemoryTranscript([exchange(SAID, "Noted."), *(exchange(f"q{n}", f"a{n}") for n in range(2, 10))])
    assert told(reader, settings(strategy="summary", max_input_tokens=60, on_gap="stopgap"), 9) is None


def test_a_shortened_result_is_told_apart_from_a_hidden_one():
    result = run(user("Which?"), assistant(), call(result=LONG + SAID, parent=1), assistant("That."))
    reader = InMemoryTranscript([result, exchange("q2", "a2"), exchange("q3", "a3")])
    cut = settings(strategy="buffer", tool_result_max_tokens=10)
    hidden = settings(strategy="buffer", keep_tool_results=0)
    left_out = settings(strategy="buffer", format="text")
    found = [told(reader, each, 3).why for each in (settings(strategy="buffer"), cut, hidden, left_out)]
    assert found == [Why.IN_RUN, Why.RESULT_CUT, Why.RESULT_HIDDEN, Why.FORMAT]


def test_the_budget_that_is_needed_has_room_for_the_run():
    reader = InMemoryTranscript([exchange(SAID, "Noted."), *(exchange(f"q{n}", f"a{n}") for n in range(2, 10))])
    needed = recorded(reader, settings(strategy="buffer", max_input_tokens=60)).needed_tokens(9, 1, None, ())
    assert told(reader, settings(strategy="buffer", max_input_tokens=needed), 9) == Sight(Why.IN_RUN, 1)
    assert told(reader, settings(strategy="buffer", max_input_tokens=needed - 1), 9) == Sight(Why.PRUNED, 1)


@pytest.mark.parametrize(
    ("overrides", "are_told"),
    [
        ({"strategy": "summary"}, True),
        ({"strategy": "buffer", "keep_tool_results": 0}, True),
        ({"strategy": "buffer", "keep_tool_results": 2}, False),
        ({"strategy": "conversation"}, False),
        ({"strategy": "head_tail"}, False),
        ({"strategy": "minimal"}, False),
        ({"strategy": "tool", "format": "seed"}, False),
    ],
)
def test_sums_do_not_tell_all(overrides: dict[str, Any], are_told: bool):
    assert are_told_by_sums(settings(**overrides).values) is are_told
