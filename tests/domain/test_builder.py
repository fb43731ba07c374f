from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import BudgetTooSmall, InvalidInput, WindowUnknown
from sessions_app.domain.plan import Cut, Fate, Part, Prompt, WarningCode
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import ParentContext, RunStatus, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, exchange, run, settings, user
from tests.domain.recount import count_messages

TOOL = {"type": "function", "function": {"name": "look_up", "description": "Look it up."}}
LONG_SUMMARY = SummaryEntry("s1", 3, 2, "A sentence of the summary. " * 100)


def build(reader: InMemoryTranscript, query: str | None = "Go on.", **overrides: Any) -> Prompt:
    return build_prompt(reader=reader, settings=settings(**overrides), query=query)


def history(runs: int, **fields: Any) -> InMemoryTranscript:
    return InMemoryTranscript([exchange("one", "two") for _ in range(runs)], **fields)


def codes(prompt: Prompt) -> list[WarningCode]:
    return [warning.code for warning in prompt.warnings]


def contents(prompt: Prompt) -> list[Any]:
    assert prompt.messages is not None
    return [message["content"] for message in prompt.messages]


def test_it_puts_everything_in_order():
    reader = history(3, instructions="Be kind.", summaries=[SummaryEntry("s1", 1, 1, "They met.")])
    prompt = build_prompt(
        reader=InMemoryTranscript(
            reader.runs,
            reader.instructions,
            reader.summaries,
            [ParentContext("Root", "Top."), ParentContext("", "Mid.")],
        ),
        settings=settings(offset=2, include_parent_context=True, parent_depth=2),
        query="Go on.",
        context=["A fact.", "Another."],
        tools=[TOOL],
    )
    assert contents(prompt) == [
        "# Instructions\nBe kind.\n\n# Parent conversation\n## Root\nTop.\n\nMid.\n\n# Summary of runs 1-1\nThey met.",
        "one",
        "two",
        "one",
        "two",
        "[context]\nA fact.\n\n[context]\nAnother.\n\nGo on.",
    ]
    assert [(segment.part.value, segment.heading, segment.position) for segment in prompt.segments] == [
        ("instructions", "Instructions", None),
        ("parent_context", "Parent conversation", None),
        ("summary", "Summary of runs 1-1", None),
        ("tools", "1 tool definition", None),
        ("runs", "", 2),
        ("runs", "", 2),
        ("runs", "", 3),
        ("runs", "", 3),
        ("context", "", None),
        ("query", "", None),
    ]
    assert [segment.text for segment in prompt.segments][-2:] == ["[context]\nA fact.\n\n[context]\nAnother.", "Go on."]
    assert (prompt.summary_id, prompt.summary_number, prompt.covers_through) == ("s1", 1, 1)


def test_the_parts_sum_to_the_total_and_to_the_segments():
    reader = history(3, instructions="Be kind.", summaries=[SummaryEntry("s1", 1, 1, "They met.")])
    for model, tenths in (("gpt-4.1-mini", 10), ("claude-sonnet-4-5", 13)):
        prompt = build_prompt(
            reader=reader, settings=settings(offset=2, model=model), query="Go on.", context=["A fact."], tools=[TOOL]
        )
        assert prompt.messages is not None
        recounted = count_messages(prompt.messages, "o200k_base", tenths)
        assert prompt.tokens.total == recounted + prompt.tokens.tools
        for part in Part:
            if part is not Part.OVERHEAD:
                shown = sum(segment.tokens for segment in prompt.segments if segment.part is part)
                assert shown == getattr(prompt.tokens, part.value)
        assert prompt.free == prompt.budget - prompt.tokens.total


def test_instructions_alone_are_sent_bare_and_blank_ones_not_at_all():
    assert contents(build(history(0, instructions=" Be kind. ")))[0] == " Be kind. "
    assert contents(build(history(0, instructions=" \n"))) == ["Go on."]


def test_instructions_given_this_time_stand_in_for_the_sessions():
    reader = history(0, instructions="Be kind.")
    for given, sent in (("Be brief.", ["Be brief.", "Go on."]), ("", ["Go on."])):
        prompt = build_prompt(reader=reader, settings=settings(), query="Go on.", instructions=given)
        assert contents(prompt) == sent


def test_context_blocks_stand_inside_the_message_of_the_open_run():
    reader = InMemoryTranscript([exchange("one", "two"), run(user("Now?"), status=RunStatus.RUNNING)])
    prompt = build_prompt(reader=reader, settings=settings(), query=None, context=["A fact."])
    assert contents(prompt) == ["one", "two", "[context]\nA fact.\n\nNow?"]
    # 3 + 1 + "[", "context", "]" and line end, "A", " fact", "." (which the joint belongs to); then "Now", "?".
    assert (prompt.tokens.context, prompt.tokens.query) == (4 + 6, 2)


def test_without_query_and_open_run_it_is_the_context_for_a_query_to_come():
    prompt = build_prompt(reader=history(1), settings=settings(), query=None)
    assert contents(prompt) == ["one", "two"]
    assert prompt.tokens.query == 0


def test_context_blocks_for_a_query_to_come_stand_in_the_system_block_so_that_it_may_follow():
    reader = history(2, instructions="Be kind.", summaries=[SummaryEntry("s1", 1, 1, "They met.")])
    prompt = build_prompt(reader=reader, settings=settings(offset=1), query=None, context=["A fact.", "Another."])
    assert contents(prompt) == [
        "# Instructions\nBe kind.\n\n# Summary of runs 1-1\nThey met.\n\n# Context\nA fact.\n\nAnother.",
        "one",
        "two",
    ]
    assert prompt.messages is not None
    assert count_messages(prompt.messages, "o200k_base") == prompt.tokens.total
    assert prompt.tokens.context > 0
    with pytest.raises(BudgetTooSmall) as refused:
        build_prompt(reader=reader, settings=settings(max_input_tokens=20), query=None, context=["fact " * 20])
    assert set(refused.value.needs) == {"instructions", "context", "overhead"}


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"query": " "}, "/query"),
        ({"context": ["A fact.", ""]}, "/context/1"),
        ({"tools": [{}]}, "/tools/0/function/name"),
    ],
)
def test_blank_texts_and_nameless_tools_are_refused(given: dict[str, Any], pointer: str):
    with pytest.raises(InvalidInput) as refused:
        build_prompt(reader=history(1), settings=settings(), **({"query": None} | given))
    assert [error.pointer for error in refused.value.errors] == [pointer]


def test_fixed_parts_over_the_budget_are_named_with_their_tokens():
    reader = InMemoryTranscript([run(user("Now?"), status=RunStatus.RUNNING)], "Be kind.")
    with pytest.raises(BudgetTooSmall) as refused:
        build_prompt(
            reader=reader, settings=settings(max_input_tokens=10), query=None, context=["A fact."], tools=[TOOL]
        )
    assert list(refused.value.needs) == ["instructions", "tools", "context", "open_run", "overhead"]
    assert refused.value.needs["instructions"] == 3 + 1 + 3
    assert refused.value.budget == 10
    assert "max_input_tokens 10" in refused.value.detail


def test_they_may_fill_the_budget_to_the_last_token():
    # 3 + 1 + "Be", " kind", "." and 3 + 1 + "Go", " on", "." and 3.
    assert build(history(2, instructions="Be kind."), max_input_tokens=17, on_gap="warn").free == 0
    with pytest.raises(BudgetTooSmall):
        build(history(2, instructions="Be kind."), max_input_tokens=16)


def test_a_summary_gets_at_most_half_of_what_the_fixed_parts_leave_and_is_cut_at_a_sentence():
    prompt = build(history(10, summaries=[LONG_SUMMARY]), max_input_tokens=110, on_gap="warn")
    assert 40 < prompt.tokens.summary <= 50
    assert contents(prompt)[0].endswith("A sentence of the summary. [shortened]")
    assert prompt.tokens.runs >= 40
    assert WarningCode.SUMMARY_CUT in codes(prompt)


def test_a_summary_over_its_own_limit_is_cut_too():
    prompt = build(history(10, summaries=[LONG_SUMMARY]), max_summary_tokens=20)
    assert contents(prompt)[0].count("A sentence") == 2
    assert codes(prompt) == [WarningCode.SUMMARY_CUT]
    assert "max_summary_tokens 20" in prompt.warnings[0].detail


def test_long_instructions_are_not_counted_again_for_each_length_that_a_summary_may_have(
    monkeypatch: pytest.MonkeyPatch,
):
    counted: list[str] = []
    count = TokenCounter.text

    def spy(counter: TokenCounter, text: str) -> int:
        counted.append(text)
        return count(counter, text)

    monkeypatch.setattr(TokenCounter, "text", spy)
    reader = history(10, instructions="Be kind. " * 50, summaries=[LONG_SUMMARY])
    assert WarningCode.SUMMARY_CUT in codes(build(reader, max_input_tokens=300))
    assert len(counted) > 20
    assert sum("Be kind." in text for text in counted) <= 4


def test_a_summary_that_finds_no_room_says_so_though_it_is_too_long_anyway():
    prompt = build(history(10, summaries=[LONG_SUMMARY]), max_summary_tokens=20, max_input_tokens=22)
    warning = next(each for each in prompt.warnings if each.code == "summary_cut")
    assert warning.detail.startswith("Summary 3 is left out: what is handed down may take at most half")


def test_of_a_summary_that_does_not_fit_at_all_nothing_is_said_to_be_summarized():
    prompt = build(history(10, summaries=[LONG_SUMMARY]), max_input_tokens=25, on_gap="warn")
    assert prompt.summary_id is None
    assert prompt.tokens.summary == 0
    assert {each.fate for each in prompt.fates} == {Fate.LOST, Fate.KEPT}
    assert codes(prompt) == [WarningCode.SUMMARY_CUT, WarningCode.RUNS_LOST]


def test_parent_context_gets_what_the_summary_leaves_of_the_half_the_nearest_parent_first():
    reader = history(
        10,
        summaries=[SummaryEntry("s1", 1, 2, "They met.")],
        parents=[ParentContext("Root", "Far away. " * 50), ParentContext("Mid", "Near. " * 10)],
    )
    prompt = build(reader, include_parent_context=True, parent_depth=2, max_input_tokens=160, on_gap="warn")
    assert prompt.tokens.summary + prompt.tokens.parent_context <= 75
    system = contents(prompt)[0]
    assert system.index("## Root\nFar away.") < system.index("[shortened]") < system.index("## Mid\nNear. Near.")
    assert system.endswith("They met.")
    assert codes(prompt)[0] is WarningCode.PARENT_CONTEXT_CUT


def test_parents_are_not_read_unless_their_context_is_included():
    prompt = build(history(1, parents=[ParentContext("Root", "Top.")]))
    assert prompt.tokens.parent_context == 0


def test_the_newest_run_is_dropped_too_with_a_warning():
    reader = InMemoryTranscript([exchange("one", "two"), exchange("word " * 200, "two")])
    prompt = build(reader, strategy="buffer", max_input_tokens=100)
    assert [(each.first, each.last, each.fate) for each in prompt.fates] == [
        (1, 1, Fate.PRUNED),
        (2, 2, Fate.PRUNED),
    ]
    assert codes(prompt) == [WarningCode.NEWEST_RUN_DROPPED]
    assert "Run 2, the newest, does not fit" in prompt.warnings[0].detail


@pytest.mark.parametrize(
    ("model", "output", "needs", "left"),
    [
        # Of 50: 7 for the query and 3 for the prompt, 10 a run; in the margin's measure 10, 4 and 7 + 7.
        ("gpt-4.1-mini", "openai", 63, 20),
        ("claude-sonnet-4-5", "openai", 83, 8),
        # "User: Go on." as a paragraph 5, "Assistant:" 2; two runs of two paragraphs of 4.
        ("gpt-4.1-mini", "text", 60, 27),
    ],
)
def test_the_cut_says_what_the_run_needs_in_this_prompt_and_what_is_left(
    model: str, output: str, needs: int, left: int
):
    runs = [exchange("one", "two"), exchange("word " * 53, "two"), exchange("one", "two"), exchange("one", "two")]
    prompt = build(InMemoryTranscript(runs), strategy="buffer", model=model, format=output, max_input_tokens=50)
    assert prompt.cut == Cut(position=2, needs=needs, left=left)
    assert prompt.cut.left == prompt.free
    assert build(InMemoryTranscript(runs), strategy="buffer", model=model, format=output, last_n=2).cut is None


def test_with_autoprune_off_what_does_not_fit_is_an_error_and_what_fits_is_sent():
    # Each run 5 + 5, the query 7, the prompt 3.
    assert build(history(3), autoprune=False, max_input_tokens=40).tokens.total == 40
    with pytest.raises(BudgetTooSmall) as refused:
        build(history(4), autoprune=False, max_input_tokens=40)
    assert refused.value.needs == {"query": 7, "overhead": 3, "runs": 40}
    assert "need 50 tokens" in refused.value.detail
    assert "turn autoprune on" in refused.value.detail


def test_an_unknown_model_is_counted_with_a_margin_and_warned_of():
    prompt = build(history(1), model="someone/unheard-of", max_input_tokens=500)
    assert (prompt.encoding, prompt.margin, prompt.window) == ("o200k_base", 1.3, None)
    assert codes(prompt) == [WarningCode.MODEL_UNKNOWN]
    with pytest.raises(WindowUnknown):
        build(history(1), model="someone/unheard-of")


@pytest.mark.parametrize("limit", [9_000, 8_192 - 1_024 + 1])
def test_a_limit_above_what_the_window_leaves_is_warned_of(limit: int):
    prompt = build(history(1), model="gpt-4", max_input_tokens=limit)
    assert (prompt.budget, prompt.reserve) == (8_192 - 1_024, 1_024)
    assert codes(prompt) == [WarningCode.LIMIT_ABOVE_WINDOW]
    assert "7,168" in prompt.warnings[0].detail


def test_a_limit_that_the_window_has_room_for_binds():
    prompt = build(history(1), model="gpt-4", max_input_tokens=8_192 - 1_024)
    assert (prompt.budget, prompt.reserve, codes(prompt)) == (7_168, 0, [])


def test_the_fingerprint_depends_on_what_is_sent_and_on_the_values_but_not_on_their_layers():
    reader = history(2)
    layers: list[dict[str, Any]] = [{"last_n": 1}, {}, {}]
    turned = [
        resolve_settings(default_model="gpt-4.1-mini", project=a, session=b, request=c)
        for a, b, c in (layers, layers[1:] + layers[:1], layers[2:] + layers[:2])
    ]
    prints = {build_prompt(reader=reader, settings=each, query="Go on.").fingerprint for each in turned}
    assert len(prints) == 1
    assert prints.pop().startswith("sha256:")
    different = [build(reader), build(reader, "Go on!"), build(reader, offset=5), build(history(3))]
    assert len({each.fingerprint for each in different}) == 4


def test_it_reads_only_what_it_sends_of_a_long_session():
    reader = history(20_000)
    prompt = build(reader, max_input_tokens=500, on_gap="warn")
    kept = sum(each.count for each in prompt.fates if each.fate is Fate.KEPT)
    assert kept == 49
    assert len(reader.fetched) <= kept + 1
    assert reader.fetches <= 3
    assert len(prompt.fates) == 3


def test_lone_surrogates_and_nul_do_not_make_building_fail():
    reader = InMemoryTranscript([run(user("\ud800 \0"), assistant("\udfff"))])
    assert build(reader, "Go \udc00 on.").tokens.total > 0
