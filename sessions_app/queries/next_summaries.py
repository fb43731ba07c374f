"""When a session's next summary is made, as its settings say, and what there would be to summarize now."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.domain.budget import stored_budget
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, Strategy
from sessions_app.domain.summaries import Standing, standing_of
from sessions_app.models import Session, SessionTranscript, Summary, SummaryStatus


@dataclass(frozen=True, slots=True)
class NextSummary:
    """What the next summary waits for; `needed` and `budget` (None: unknown) are in the same tokens.

    `needed` are those of the fixed parts and of the runs that no summary covers.
    """

    settings: MemorySettings
    covered: int
    finished: int
    needed: int
    budget: int | None

    @property
    def summarizes(self) -> bool:
        """Whether the strategy makes summaries at all."""
        return self.settings.strategy is Strategy.SUMMARY

    @property
    def first(self) -> int:
        """The first run that no summary covers."""
        return self.covered + 1

    @property
    def last(self) -> int:
        """The last run that may be summarized: the newest `offset` stay out."""
        return self.finished - self.settings.offset

    @property
    def is_possible(self) -> bool:
        """Whether there is anything to summarize."""
        return self.first <= self.last

    @property
    def first_kept_out(self) -> int:
        """The first run that `offset` keeps out."""
        return max(self.first, self.last + 1)

    @property
    def percent(self) -> int:
        """How much of the budget is needed; 0 if it is unknown."""
        return round(100 * self.needed / self.budget) if self.budget else 0

    @property
    def percent_at(self) -> int:
        """From how much of the budget on the oldest runs are summarized."""
        return round(100 * max(self.settings.summarize_at, self.settings.summarize_to))

    @property
    def percent_to(self) -> int:
        """Down to how much of the budget."""
        return round(100 * self.settings.summarize_to)

    @property
    def bar(self) -> Sequence[tuple[str, int]]:
        """The parts of a bar over the budget: what is needed, as far as it fits."""
        return [("runs", min(self.needed, self.budget or 0))]

    @property
    def bar_text(self) -> str:
        """The same in words."""
        return f"{self.percent} % of the budget needed, summarized above {self.percent_at} %"


def next_summary(session: Session, effective: EffectiveSettings) -> NextSummary:
    """Return what the next summary of a session waits for."""
    budget = stored_budget(effective)
    standing: Standing = standing_of(SessionTranscript(session), budget=budget)
    return NextSummary(
        settings=effective.values,
        covered=session.summary.covers_through if session.summary else 0,
        finished=standing.finished_through,
        needed=standing.fixed_tokens + standing.waiting_tokens,
        budget=budget,
    )


def obstacle(coming: NextSummary, unfinished: Summary | None) -> str:
    """Return why nothing can be summarized now, in a sentence; empty if something can."""
    if unfinished is not None:
        verb = "is running" if unfinished.status == SummaryStatus.RUNNING else "waits for a worker"
        return f"Summary #{unfinished.number} {verb}."
    if coming.is_possible:
        return ""
    if not coming.finished:
        return "There is no finished run yet."
    if coming.covered >= coming.finished:
        return "Every finished run is in a summary already."
    return f"All other runs are in a summary already; offset {coming.settings.offset} keeps the newest out."
