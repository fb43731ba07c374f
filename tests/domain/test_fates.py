from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Prompt
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.transcript import Event, EventKind, ParentContext, Run, RunStatus, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user


def fates(prompt: Prompt) -> list[tuple[int, int, str, str]]:
    return [(each.first, each.last, each.fate.value, each.reason) for each in prompt.fates]


def build(reader: InMemoryTranscript, query: str | None = "Go on.", **overrides: Any) -> Prompt:
    return build_prompt(reader=reader, settings=settings(**overrides), query=query)


def history(runs: int, **fields: Any) -> InMemoryTranscript:
    """Each run needs ten tokens."""
    return InMemoryTranscript([exchange("one", "two") for _ in range(runs)], **fields)


def summary(covers: int) -> SummaryEntry:
    return SummaryEntry(f"s{covers}", covers // 10, covers, "They talked.")


def test_each_setting_that_leaves_runs_out_is_the_reason_in_words():
    # Query 3 + 1 + 3, prompt 3: 40 are left of 50.
    prompt = build(history(58), strategy="buffer", max_runs=50, last_n=30, max_input_tokens=50)
    assert fates(prompt) == [
        (1, 8, "capped", "max_runs 50: older ones are not remembered"),
        (9, 28, "skipped", "last_n 30: only the newest 30 runs"),
        (29, 53, "pruned", "max_input_tokens 50: behind the cut"),
        (54, 54, "pruned", "max_input_tokens 50: first that does not fit"),
        (55, 58, "kept", "fits the budget"),
    ]
    assert prompt.unseen == 54


def test_under_a_summary_what_does_not_fit_is_lost_with_ways_out():
    # The summary's block: 3 + 1, its heading and text; at most half of what is left.
    prompt = build(history(58, summaries=[summary(40)]), offset=6, max_input_tokens=110, on_gap="warn")
    assert fates(prompt)[0] == (1, 40, "summarized", "covered by summary 4")
    assert [each[2] for each in fates(prompt)[1:]] == ["lost", "lost", "kept"]
    (warning,) = prompt.warnings
    assert warning.code == "runs_lost"
    first, last = fates(prompt)[1][0], fates(prompt)[2][1]
    assert warning.detail.startswith(f"Runs {first}-{last} are neither in the prompt nor in its summary")
    assert "raise max_input_tokens" in warning.detail
    assert "let the summary catch up" in warning.detail


def test_a_lost_run_among_the_newest_offset_names_the_offset():
    prompt = build(history(5), offset=6, max_input_tokens=40, on_gap="warn")
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "lost"), (2, 2, "lost"), (3, 5, "kept")]
    assert "lower offset" in prompt.warnings[0].detail
    assert "catch up" not in prompt.warnings[0].detail
    assert "summarize_at" not in prompt.warnings[0].detail


def lost_warning(reader: InMemoryTranscript, **given: Any) -> str:
    prompt = build_prompt(
        reader=reader, **({"settings": settings(max_input_tokens=400, on_gap="warn"), "query": None} | given)
    )
    (warning,) = prompt.warnings
    assert warning.code == "runs_lost"
    return warning.detail


def test_the_summary_is_said_to_catch_up_only_if_a_step_is_due_without_what_is_asked_this_time():
    # 290 of 400 tokens are less than the share of 0.75, and they all fit until a context comes beside them.
    given = {"query": "Go on.", "context": ["fact " * 200]}
    assert "lower summarize_at" in lost_warning(history(29), **given)
    assert "catch up" not in lost_warning(history(29), **given)
    assert "let the summary catch up" in lost_warning(history(35), **given)
    assert "let the summary catch up" in lost_warning(history(45))


def test_what_is_lost_without_anything_asked_besides_is_due_whatever_share_it_has():
    reader = history(45)
    detail = lost_warning(
        reader, settings=settings(max_input_tokens=400, summarize_at=1, summarize_to=1, on_gap="warn")
    )
    assert "let the summary catch up" in detail


def test_settings_of_this_time_alone_must_be_saved_before_the_summary_catches_up():
    once = resolve_settings(
        default_model="gpt-4.1-mini",
        project={},
        session={},
        request={"max_input_tokens": 400, "offset": 2, "on_gap": "warn"},
    )
    assert "save these settings and let the summary catch up" in lost_warning(history(45), settings=once)


def test_a_summary_that_a_higher_offset_forbids_names_the_offset_alone():
    detail = lost_warning(
        history(45, summaries=[summary(40)]), settings=settings(offset=20, max_input_tokens=200, on_gap="warn")
    )
    assert "lower offset" in detail
    assert "catch up" not in detail
    assert "summarize_at" not in detail


def test_summarized_comes_before_capped_and_capped_before_skipped():
    prompt = build(history(30, summaries=[summary(10)]), max_runs=15, last_n=5)
    assert [each[:3] for each in fates(prompt)] == [
        (1, 10, "summarized"),
        (11, 15, "capped"),
        (16, 25, "skipped"),
        (26, 30, "kept"),
    ]


def test_the_summary_in_use_leaves_the_newest_offset_runs_word_for_word():
    reader = history(30, summaries=[summary(10), summary(20)])
    assert build(reader, offset=10).covers_through == 20
    assert build(reader, offset=11).covers_through == 10
    assert build(reader, offset=21).covers_through is None
    assert build(reader, offset=0, strategy="buffer").covers_through is None


def test_last_n_zero_means_none_and_is_not_a_loss():
    prompt = build(history(3), last_n=0, offset=0)
    assert fates(prompt) == [(1, 3, "skipped", "last_n 0: no finished runs")]
    assert prompt.warnings == ()


def test_the_open_run_is_the_tail_and_counts_in_no_limit():
    reader = InMemoryTranscript([*history(3).runs, run(user("Now?"), status=RunStatus.RUNNING)])
    prompt = build(reader, query=None, last_n=1, max_runs=2, offset=1)
    assert fates(prompt) == [
        (1, 1, "capped", "max_runs 2: older ones are not remembered"),
        (2, 2, "skipped", "last_n 1: only the newest run"),
        (3, 3, "kept", "fits the budget"),
        (4, 4, "kept", "the open run is always the tail"),
    ]
    assert prompt.tokens.query == 3 + 1 + 2


def test_failed_and_cancelled_runs_are_kept_and_say_so():
    reader = InMemoryTranscript(
        [
            run(user("one"), status=RunStatus.FAILED, error="no model"),
            run(user("one"), assistant("half"), status=RunStatus.CANCELLED),
            exchange("one", "two"),
        ]
    )
    assert [each[3] for each in fates(build(reader))] == [
        "fits the budget; failed, sent with its error",
        "fits the budget; cancelled, sent as interrupted",
        "fits the budget",
    ]


def test_a_format_that_carries_only_some_events_says_so():
    reader = InMemoryTranscript([run(user("one"), assistant(), call(parent=1), assistant("two"))])
    assert fates(build(reader, format="text")) == [(1, 1, "kept", "fits the budget; without its tool calls")]


def test_what_a_prompt_leaves_out_of_a_run_is_part_of_its_reason():
    note, reasoning = Event(EventKind.NOTE, "VIP"), Event(EventKind.REASONING, "hm")
    reader = InMemoryTranscript(
        [
            run(user("one"), assistant("two"), note),
            run(user("one"), reasoning, status=RunStatus.FAILED),
            run(user("one"), assistant("Hel"), status=RunStatus.RUNNING),
        ]
    )
    assert [each[3] for each in fates(build(reader, query=None))] == [
        "fits the budget; without its notes",
        "fits the budget; failed, sent with its error; without its reasoning",
        "the open run is always the tail; without its last words",
    ]
    assert fates(build(reader, query=None, format="text"))[2][3] == (
        "the open run is always the tail; without its answer so far"
    )


def test_a_run_that_never_finished_is_skipped_wherever_it_stands():
    class Gap(InMemoryTranscript):
        """Run 2 is not among the finished ones."""

        def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:
            found = super().newest_before(position, not_below=not_below, tokens=tokens)
            return [each for each in found if each.position != 2]

    prompt = build(Gap(history(3).runs))
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "kept"), (2, 2, "skipped"), (3, 3, "kept")]


def test_an_empty_session_has_no_fates():
    assert build(InMemoryTranscript()).fates == ()
    assert build(InMemoryTranscript(parents=[ParentContext("", "x")]), include_parent_context=True).fates == ()
