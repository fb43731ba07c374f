"""When a session's oldest runs are summarized, what a summarizer is asked, and whether its answer will do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from sessions_app.domain.errors import EmptySummary
from sessions_app.domain.memory_settings import MemorySettings, Strategy
from sessions_app.domain.pieces import SYSTEM
from sessions_app.domain.text_cutting import cut_at_sentence
from sessions_app.domain.tokens import PROMPT_FRAME, STORED_COUNTER
from sessions_app.domain.transcript import Run, TranscriptReader

# More than any vocabulary's longest entry of letters has.
CHARACTERS_PER_TOKEN = 64
FIRST_RETRY_SECONDS = 30
LONGEST_RETRY_SECONDS = 3600


class SummarizerName(StrEnum):
    """The summarizers that can be chosen."""

    EXTRACTIVE = "extractive"
    OPENAI = "openai"


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a session's finished runs and its summary in use have come, and what they need.

    Tokens and budget are in the same measure; the budget is None where none can be told. `fixed_tokens` counts the
    instructions and the open run, `waiting_tokens` the finished runs behind the summary. `continuing` says that the
    newest step was a part of the same work. `lost_through` is the newest run that is lost in the next prompt, with
    nothing asked besides; `asked_through` the one through which a person wants a summary; 0 if there is none.
    """

    finished_through: int
    covered_through: int
    fixed_tokens: int
    waiting_tokens: int
    budget: int | None
    continuing: bool = False
    lost_through: int = 0
    asked_through: int = 0


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summarizer is given: the predecessor's text (maybe empty), the newly aged runs, and its limits."""

    previous: str
    runs: tuple[Run, ...]
    max_tokens: int
    count_tokens: Callable[[str], int]

    def fits(self, text: str) -> bool:
        """Whether a text is short enough for a summary."""
        return self.count_tokens(text) <= self.max_tokens

    def longest_beginning(self, text: str) -> str:
        """Return as much of a text as fits where not even a marked word does, or else an ellipsis."""
        low, high = 1, min(len(text), CHARACTERS_PER_TOKEN * self.max_tokens)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.fits(text[:middle]) else (low, middle - 1)
        return text[:low] if self.fits(text[:low]) else "…"


# One that needs nothing but the request.
Summarizer = Callable[[SummaryRequest], str]


@dataclass(frozen=True, slots=True)
class Summarized:
    """A text that a summarizer made; `model` and `template` are those that it used, if any, and `cost_usd` is what was
    paid, None where it is not known. `from_cache` says that it was paid for before.
    """

    text: str
    model: str = ""
    template: str = ""
    cost_usd: Decimal | None = Decimal(0)
    from_cache: bool = False


def standing_of(
    reader: TranscriptReader, *, budget: int | None, continuing: bool = False, asked_through: int = 0
) -> Standing:
    """Return how far a session has come; the budget is given in tokens as they are stored."""
    finished, open_run = reader.finished_through, reader.open_run()
    newest = reader.newest_summary(finished)
    covered = newest.covers_through if newest else 0
    return Standing(
        finished_through=finished,
        covered_through=covered,
        fixed_tokens=fixed_tokens(reader.instructions) + (open_run.tokens if open_run else 0),
        waiting_tokens=reader.tokens_between(covered + 1, finished),
        budget=budget,
        continuing=continuing,
        asked_through=asked_through,
    )


def fixed_tokens(instructions: str) -> int:
    """Return what a prompt needs besides its runs and its summary, as tokens are stored."""
    return PROMPT_FRAME + (STORED_COUNTER.message(SYSTEM, [instructions]) if instructions else 0)


def step_is_due(standing: Standing, settings: MemorySettings) -> bool:
    """Whether there is something to summarize now."""
    return next_step(standing=standing, settings=settings, waiting=(0,), batch_tokens=1) is not None


def next_step(*, standing: Standing, settings: MemorySettings, waiting: Iterable[int], batch_tokens: int) -> int | None:
    """Return through which run to summarize now, or None if there is nothing to do.

    `waiting` gives the tokens of the finished runs behind the summary, oldest first, and is read only as far as the
    step goes. A step takes at most `batch_tokens`, but always one run; what remains is for the next step. Runs that
    would be lost press too, and are due in any case; what a person has asked for is due under every strategy.
    """
    last = standing.finished_through - settings.offset
    surely = max(standing.asked_through, _surely_through(standing, settings))
    if not surely and settings.strategy is not Strategy.SUMMARY:
        return None
    rest, taken, through = standing.waiting_tokens, 0, standing.covered_through
    pressed = standing.continuing or standing.lost_through > standing.covered_through
    for position, tokens in enumerate(waiting, standing.covered_through + 1):
        due = position <= surely
        if not due and position <= last and settings.strategy is Strategy.SUMMARY:
            due = pressed = _presses(standing, settings, rest, pressed=pressed)
        if position > last or not due or (taken and taken + tokens > batch_tokens):
            break
        rest, taken, through = rest - tokens, taken + tokens, position
    return through if taken or through > standing.covered_through else None


def _surely_through(standing: Standing, settings: MemorySettings) -> int:
    """Return through which run the settings want a summary, however much room there is; 0 if through none."""
    if settings.strategy is not Strategy.SUMMARY:
        return 0
    if settings.summarize_at == 0:
        return standing.finished_through
    capped = 0 if settings.max_runs is None else standing.finished_through - settings.max_runs
    return max(capped, standing.lost_through)


def _presses(standing: Standing, settings: MemorySettings, rest: int, *, pressed: bool) -> bool:
    """Whether the word-for-word runs need too much: more than `summarize_at` to begin, than `summarize_to` to go on."""
    if standing.budget is None:
        return False
    share = settings.summarize_to if pressed else max(settings.summarize_at, settings.summarize_to)
    return standing.fixed_tokens + rest > share * standing.budget


def accepted_text(answer: str, request: SummaryRequest) -> str:
    """Return a summarizer's answer as it is stored: not empty, and cut at a sentence, marked, if it is too long."""
    text = answer.strip()
    if not text:
        raise EmptySummary("The summarizer answered with an empty text.")
    return cut_at_sentence(text, fits=request.fits) or request.longest_beginning(text)


def retry_seconds(attempts: int) -> int:
    """Return how long to wait after so many failed attempts: doubled each time, up to an hour."""
    return int(min(FIRST_RETRY_SECONDS * 2 ** min(attempts - 1, 20), LONGEST_RETRY_SECONDS))
