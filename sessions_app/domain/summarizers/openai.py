"""The summarizer that asks a language model: what it is asked, and whether its answer will do. Others do the asking."""

from dataclasses import dataclass

from sessions_app.domain.errors import EmptySummary, SummarizerFailed
from sessions_app.domain.summaries import SummaryRequest, accepted_text
from sessions_app.domain.summarizers.run_texts import in_pieces, indented
from sessions_app.domain.summarizers.templates import RUNS, SUMMARY, fill_template
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.domain.text_cutting import cut_at_sentence
from sessions_app.domain.tokens import PROMPT_FRAME, TokenCounter

# What is assumed of a model of which no table and nobody says how much it can take.
ASSUMED_WINDOW = 8_192
NO_SUMMARY = "(There is none yet.)"
LONGEST_QUOTE = 300
# Tokens that may come of joining what was counted apart.
SLACK = 32
SMALLEST_ROOM = 128


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked in one call: a single user message, and at most how many tokens it may answer."""

    model: str
    text: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What came back; the counts of tokens are None where the endpoint tells none."""

    text: str
    finish_reason: str = ""
    refusal: str = ""
    input_tokens: int | None = None
    cached_tokens: int = 0
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """How a model is asked: its name, its window in tokens, its counter, and the template of the request."""

    model: str
    window: int
    counter: TokenCounter
    template: str

    def count(self, text: str) -> int:
        """Return what a text needs in the model's window."""
        return self.counter.scaled(self.counter.text(text))

    def request_tokens(self, text: str) -> int:
        """Return what a request needs in the window, without its answer."""
        return self.counter.scaled(self.counter.message("user", [text]) + PROMPT_FRAME)

    def summary_room(self, previous: str, max_tokens: int) -> int:
        """Return what is kept free for the summary so far: the previous one, or what came of the runs before."""
        # Indented, a summary of many short lines needs some more.
        return max(self.count(indented(previous)), self.counter.scaled(max_tokens * 5 // 4))

    def room(self, previous: str, max_tokens: int) -> int:
        """Return how many tokens of runs fit in one request, maybe none or less."""
        frame = self.request_tokens(request_text(self.template, previous="", runs="", max_tokens=max_tokens))
        return self.window - frame - self.summary_room(previous, max_tokens) - max_tokens - SLACK


def request_text(template: str, *, previous: str, runs: str, max_tokens: int) -> str:
    """Return the message in which a summary is asked for; `runs` is as `run_texts` writes them."""
    filled = fill_template(template, {SUMMARY: indented(previous) if previous.strip() else NO_SUMMARY, RUNS: runs})
    # Three words of English need about four tokens; a little less, so that the answer need not be cut.
    return f"{filled.strip()}\n\nUse at most {max(10, max_tokens * 2 // 3)} words."


def pieces_of(request: SummaryRequest, form: Form) -> list[str]:
    """Return the texts of the runs, each as long as one call can take; a run that is too large comes in parts."""
    room = form.room(request.previous, request.max_tokens)
    if room < SMALLEST_ROOM:
        raise SummarizerFailed(
            f"The window of {form.window:,} tokens of {form.model} leaves no room for a run beside the template, the "
            f"summary so far and an answer of {request.max_tokens:,} tokens (max_summary_tokens)."
        )
    return in_pieces(request.runs, room=room, count=form.count)


def model_request(request: SummaryRequest, form: Form, *, text_so_far: str, runs: str) -> ModelRequest:
    """Return one call: the summary so far, in the room that was kept for it, and one of the pieces."""
    room = form.summary_room(request.previous, request.max_tokens)
    given = cut_at_sentence(text_so_far, fits=lambda text: form.count(indented(text)) <= room) or text_so_far
    text = request_text(form.template, previous=given, runs=runs, max_tokens=request.max_tokens)
    return ModelRequest(form.model, text, request.max_tokens)


def judged(answer: ModelAnswer, request: SummaryRequest) -> str:
    """Return an answer's text as a summary is stored, or raise SummarizerFailed saying what is wrong with it.

    One that the endpoint cut in the middle ends behind its last whole sentence, marked like one that is too long.
    """
    if answer.refusal or answer.finish_reason == "content_filter":
        said = f": {answer.refusal[:LONGEST_QUOTE]}" if answer.refusal else "."
        raise SummarizerFailed(f"The model refused to summarize{said}")
    text = clean_text(answer.text).strip()
    if not text:
        reason = f" (finish reason: {answer.finish_reason[:40]})" if answer.finish_reason not in {"", "stop"} else ""
        raise EmptySummary(f"The model answered with an empty text{reason}.")
    if answer.finish_reason == "length":
        text = cut_at_sentence(text, fits=lambda beginning: beginning != text and request.fits(beginning)) or text
    return accepted_text(text, request)
