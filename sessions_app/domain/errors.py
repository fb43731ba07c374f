"""Refusals, each named for the situation, under one root. Doors turn them into status codes in one place."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal

SETTINGS_POINTER = "/settings"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One bad field: its RFC 6901 JSON pointer and a sentence saying what is allowed."""

    pointer: str
    detail: str


def pointer_to(steps: Sequence[object]) -> str:
    """Return the JSON pointer of a place (RFC 6901)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


class ConvowebError(Exception):
    """Root of every refusal: `detail` is a sentence for people, `errors` names the bad fields, if there are any."""

    def __init__(self, detail: str, *, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)


@contextmanager
def at(pointer: str, *, instead_of: str = "") -> Iterator[None]:
    """Put a pointer in front of those of a refusal that comes from inside the block, in place of their beginning."""
    try:
        yield
    except ConvowebError as error:
        error.errors = tuple(
            FieldError(pointer + each.pointer.removeprefix(instead_of), each.detail) for each in error.errors
        )
        raise


@contextmanager
def settings_at(pointer: str) -> Iterator[None]:
    """Let a refusal from inside the block, as far as it is about settings, point to the ones that were given there."""
    try:
        yield
    except ConvowebError as error:
        named = error.errors or (FieldError(SETTINGS_POINTER, error.detail),)
        error.errors = tuple(
            replace(each, pointer=pointer + each.pointer.removeprefix(SETTINGS_POINTER))
            if each.pointer.startswith(SETTINGS_POINTER)
            else each
            for each in named
        )
        raise


class InvalidInput(ConvowebError):
    """What was given cannot be accepted as it is."""


class NotFound(ConvowebError):
    """There is no such thing, or it belongs to somebody else; both look the same."""


class NotAllowed(ConvowebError):
    """Whoever asks had the right for it and has lost it meanwhile."""


class Conflict(ConvowebError):
    """What was asked contradicts what is stored."""


class KeyExpired(ConvowebError):
    """A bot's key was good once, and is so no more."""


class IdTaken(Conflict):
    """The chosen id is in use in this project."""


class LastOwner(Conflict):
    """A project keeps at least one owner."""


class RunIsOpen(Conflict):
    """The session's newest run has not ended, so nothing can be appended behind it."""


class RunHasEnded(Conflict):
    """A finished run is immutable; changing history is a fork."""


class SessionHasChildren(Conflict):
    """A session with children is deleted only with a word on what becomes of them."""


class HistoryChanged(Conflict):
    """An import's conversation contradicts runs that are stored already."""


class Busy(ConvowebError):
    """A process does only so much of this at once; the same again in a moment may be answered."""


class ReplayIsBusy(Busy):
    """One long replay is computed at a time, and there is one."""


class FactsAreBusy(Busy):
    """Facts that take long are followed one at a time, and one is."""


class ExportIsBusy(Busy):
    """As many exports are being sent as there may be."""


class InvalidSettings(InvalidInput):
    """A memory setting is unknown, of the wrong type or out of its bounds."""


class WindowUnknown(InvalidInput):
    """The model's context window is not known and `max_input_tokens` gives no limit."""


class RunsLost(InvalidInput):
    """Runs neither fit the budget nor are covered by a summary, and the settings make that an error."""


class SummarizerFailed(ConvowebError):
    """A summarizer gave no text that could be used; no run becomes covered, and it is asked again.

    `retry_after` are the seconds that it asks to wait, None if it asks for none; `cost_usd` is what had to be paid for
    all that, None where it is not known.
    """

    def __init__(self, detail: str, *, retry_after: float | None = None, cost_usd: Decimal | None = Decimal(0)) -> None:
        super().__init__(detail)
        self.retry_after = retry_after
        self.cost_usd = cost_usd


class EmptySummary(SummarizerFailed):
    """A summarizer answered without a text."""


class BudgetTooSmall(ConvowebError):
    """Parts that may not be left out need more than the budget; `needs` maps each part's name to its tokens."""

    def __init__(self, detail: str, *, needs: dict[str, int], budget: int) -> None:
        super().__init__(detail)
        self.needs = needs
        self.budget = budget
