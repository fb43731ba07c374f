"""What a model is asked for a summary, how much fits in its window, and which answers will do."""

import pytest
import tiktoken

from sessions_app.domain.errors import EmptySummary, SummarizerFailed
from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.summarizers.openai import (
    Form,
    ModelAnswer,
    judged,
    model_request,
    pieces_of,
    request_text,
)
from sessions_app.domain.summarizers.templates import BUILT_IN_REQUEST
from sessions_app.domain.tokens import FOREIGN_MARGIN, TokenCounter
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus

ENCODING = tiktoken.get_encoding("o200k_base")
TEMPLATE = "Before:\n{summary}\nNow:\n{runs}\nEnd."


def count(text):
    return len(ENCODING.encode(text, disallowed_special=()))


def turn(text, position=1):
    return Run(position, RunStatus.COMPLETED, (Event(EventKind.MESSAGE, text, Role.USER),))


def request_for(*runs, previous="", max_tokens=60):
    return SummaryRequest(previous, runs, max_tokens, count)


def form(window=8_192, *, template=TEMPLATE, counter=None):
    return Form("m", window, counter or TokenCounter(), template)


def judge(text, **answer):
    return judged(ModelAnswer(text, **answer), request_for())


def test_the_request_is_the_template_with_both_places_filled_and_how_long_an_answer_may_be():
    request = request_for(turn("{summary} says {x}"), previous="They want tea.\n{runs}")
    (piece,) = pieces_of(request, form())
    call = model_request(request, form(), text_so_far=request.previous, runs=piece)
    assert (call.model, call.max_tokens) == ("m", 60)
    assert call.text == (
        "Before:\n    They want tea.\n    {runs}\nNow:\n## Run 1\nUser:\n    {summary} says {x}\nEnd.\n\n"
        "Use at most 40 words."
    )


def test_without_a_summary_before_that_is_said():
    text = request_text(TEMPLATE, previous=" ", runs="r", max_tokens=60)
    assert text.startswith("Before:\n(There is none yet.)\nNow:\nr")


@pytest.mark.parametrize("window", [600, 1_000, 4_096])
@pytest.mark.parametrize("margin", [1, FOREIGN_MARGIN])
def test_every_request_with_its_answer_fits_the_window(window, margin):
    asked = form(window, counter=TokenCounter(margin=margin), template=TEMPLATE)
    request = request_for(*(turn(f"fact {n} " * n, n) for n in range(1, 120)), previous="A line.\n" * 15)
    text = request.previous
    pieces = pieces_of(request, asked)
    for piece in pieces:
        call = model_request(request, asked, text_so_far=text, runs=piece)
        # By hand: 3 for the message and 1 for its role, 3 for the prompt.
        assert (count(call.text) + 7) * margin + call.max_tokens <= window
        text = "s\n" * 30
    assert len(pieces) > 1


def test_a_window_without_room_for_a_run_is_refused_saying_so():
    with pytest.raises(SummarizerFailed, match=r"window of 1,000 tokens of m leaves no room for a run .* 900 tokens"):
        pieces_of(request_for(turn("hi"), max_tokens=900), form(1_000))


def test_the_built_in_template_leaves_most_of_a_small_window_to_the_runs():
    assert form(4_096, template=BUILT_IN_REQUEST).room("", 512) > 2_000


def test_a_good_answer_is_taken_as_it_is():
    assert judge("  They want tea.\n") == "They want tea."


@pytest.mark.parametrize("text", ["", "  \n\t", "\u00a0"])
def test_an_empty_answer_is_refused_with_its_reason(text):
    with pytest.raises(EmptySummary, match=r"^The model answered with an empty text\.$"):
        judge(text)
    with pytest.raises(EmptySummary, match=r"an empty text \(finish reason: length\)\.$"):
        judge(text, finish_reason="length")


def test_a_refusal_is_told():
    with pytest.raises(SummarizerFailed, match=r"^The model refused to summarize: I cannot help with that\.$"):
        judge("", refusal="I cannot help with that.")
    with pytest.raises(SummarizerFailed, match=r"^The model refused to summarize\.$"):
        judge("They want", finish_reason="content_filter")


def test_an_answer_that_was_cut_ends_behind_its_last_sentence():
    cut = judge("They want tea. They have no milk. They also wan", finish_reason="length")
    assert cut == "They want tea. They have no milk. [shortened]"
    assert judge("They want te", finish_reason="length") == "They want [shortened]"


def test_an_answer_that_is_too_long_is_cut_at_a_sentence_however_long_it_is():
    text = judge("They want tea with a little milk. " * 30_000)
    assert text.startswith("They want tea with a little milk. They")
    assert text.endswith("milk. [shortened]")
    assert 50 < count(text) <= 60


def test_what_no_database_holds_is_replaced():
    assert judge("They\0 want \ud800tea.") == "They\N{REPLACEMENT CHARACTER} want \N{REPLACEMENT CHARACTER}tea."
