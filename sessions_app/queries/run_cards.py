"""Runs as a page shows them: what was said and done in order, long texts cut and marked."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import OPEN_STATUSES, EventKind, Role, RunStatus, Usage
from sessions_app.models import Event, Run, Session

TEXT_SHOWN = 6_000
STEPS_SHOWN = 60
CALL_SHOWN = 2_000
# Laying out takes a while, so that not all of a page of long texts is.
LAID_OUT = 100_000


@dataclass(frozen=True, slots=True)
class Step:
    """One thing inside a run, without `hidden` characters; `kind`: user, assistant, system, note, reasoning, tool.

    `plain`: it is not laid out as Markdown, since others before it have used up what a page may take.
    """

    kind: str
    text: str = ""
    hidden: int = 0
    call: "CallView | None" = None
    plain: bool = False


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call as shown, of event `pk`; what it was given and gave is there, or is `later` asked for."""

    pk: int
    name: str
    arguments: str
    result: str | None
    error: str | None
    tokens: int
    later: bool


@dataclass(frozen=True, slots=True)
class Place:
    """What a run's card takes from around it: its fate and why, whether it is shared, the forks that start from it.

    `cost` is what the tokens that were reported of it cost, `cut` tells which of its tool results are cut.
    """

    fate: Fate | None
    reason: str
    shared: bool
    forks: Sequence[Session]
    cost: Decimal | None = None
    cut: str = ""


@dataclass(frozen=True, slots=True)
class RunUsage:
    """What a provider reported of a run's call: tokens, and what they cost today in USD, None where it is unknown."""

    model: str
    input: int
    cached: int
    output: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class RunCard:
    """A run as a page shows it; `look` is its fate, "query" for the open run, empty where no prompt could be built."""

    position: int
    public_id: str
    look: str
    reason: str
    status: RunStatus
    error: str
    shared: bool
    in_full: bool
    whole: bool
    tokens: int
    usage: RunUsage | None
    created_at: datetime
    touched_at: datetime
    steps: Sequence[Step]
    hidden_steps: int
    calls: int
    forks: Sequence[Session]
    cut: str = ""

    @property
    def input(self) -> str:
        """The beginning of what was asked."""
        return next((step.text for step in self.steps if step.kind == "user"), "")

    @property
    def answer(self) -> str:
        """The beginning of what was answered last."""
        texts = [step.text for step in self.steps if step.kind == "assistant" and step.text]
        return texts[-1] if texts else ""

    @property
    def left_out(self) -> str:
        """What of a run in the prompt is not sent, as its reason says."""
        return next((part for part in self.reason.split("; ") if part.startswith("without ")), "")

    @property
    def version(self) -> str:
        """What differs as soon as the card would look different."""
        seen = (
            self.touched_at.timestamp(),
            self.status,
            self.look,
            self.tokens,
            len(self.forks),
            self.reason,
            self.cut,
        )
        return " ".join(map(str, seen))

    @property
    def is_cut(self) -> bool:
        """Whether something of the run is not shown."""
        return self.hidden_steps > 0 or any(step.hidden for step in self.steps)


def run_cards(
    *,
    runs: Iterable[Run],
    places: Mapping[int, Place],
    exact_tokens: Mapping[int, int],
    whole: Collection[int] = (),
    full: Collection[int] = (),
) -> dict[int, RunCard]:
    """Return a card for each run, given with its events, by position; those in `whole` are not cut.

    Those in `full` are shown with all they hold, though the prompt may not hold them.
    """
    cards = (_card(run, places[run.position], exact_tokens.get(run.position), run.position in whole) for run in runs)
    return {card.position: replace(card, in_full=card.in_full or card.position in full) for card in _laid_out(cards)}


def call_view(event: Event, *, whole: bool) -> CallView:
    """Return a tool call; unless the `whole` is asked for, a long one without what it was given and gave."""
    later = not whole and len(event.arguments) + len(event.result or "") > CALL_SHOWN
    return CallView(
        pk=event.pk,
        name=event.tool_name,
        arguments="" if later else event.arguments,
        result=event.result if not later or event.result is None else "",
        error=event.error,
        tokens=event.tokens_o200k,
        later=later,
    )


def _laid_out(cards: Iterable[RunCard]) -> Iterator[RunCard]:
    """Let texts stay plain once those before them are as long as a page may lay out."""
    room = LAID_OUT
    for card in cards:
        steps = []
        for step in card.steps:
            room -= len(step.text)
            steps.append(step if room >= 0 else replace(step, plain=True))
        yield replace(card, steps=steps)


def _card(run: Run, place: Place, exact: int | None, whole: bool) -> RunCard:  # noqa: FBT001
    events = _told(list(run.events.all()))
    shown = events if whole else _ends(events)
    look = "query" if run.status in OPEN_STATUSES and place.fate is Fate.KEPT else str(place.fate or "")
    return RunCard(
        position=run.position,
        public_id=run.public_id,
        look=look,
        reason=place.reason,
        status=RunStatus(run.status),
        error=run.error,
        shared=place.shared,
        in_full=whole or place.fate in (Fate.KEPT, None) or run.status in OPEN_STATUSES,
        whole=whole,
        tokens=run.tokens_o200k if exact is None else exact,
        usage=_usage(run, place.cost),
        created_at=run.created_at,
        touched_at=run.touched_at,
        steps=[_step(event, None if whole else TEXT_SHOWN) for event in shown],
        hidden_steps=len(events) - len(shown),
        calls=sum(event.kind == EventKind.TOOL_CALL for event in events),
        forks=place.forks,
        cut=place.cut,
    )


def _usage(run: Run, cost: Decimal | None) -> RunUsage | None:
    if not run.usage:
        return None
    told = Usage(**run.usage)
    return RunUsage(run.model, told.input, min(told.cached, told.input), told.output, cost)


def _told(events: Sequence[Event]) -> Sequence[Event]:
    """Leave out messages that say nothing but hold the calls behind them."""
    holders = {event.parent_id for event in events}
    return [event for event in events if event.text or event.content or event.pk not in holders]


def _ends(events: Sequence[Event]) -> Sequence[Event]:
    """Keep the first and the last steps of a long run."""
    half = STEPS_SHOWN // 2
    return events if len(events) <= STEPS_SHOWN else [*events[:half], *events[-half:]]


def _step(event: Event, limit: int | None) -> Step:
    if event.kind == EventKind.TOOL_CALL:
        return Step("tool", call=call_view(event, whole=limit is None))
    return Step(_kind(event), event.text[:limit], hidden=len(event.text) - len(event.text[:limit]))


def _kind(event: Event) -> str:
    if event.kind != EventKind.MESSAGE:
        return event.kind
    return str(Role(event.role)) if event.role else "note"
