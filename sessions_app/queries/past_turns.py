"""A turn of the past as the tune page shows it: what its prompt is built from, and whether it is the one of then."""

from dataclasses import dataclass
from datetime import datetime

from sessions_app.domain.plan import Prompt, PromptPlan
from sessions_app.models import Session, lineage_runs


@dataclass(frozen=True, slots=True)
class PastTurn:
    """Turn `position` of `newest`; `same` is None where no fingerprint is recorded or no prompt was built."""

    position: int
    newest: int
    created_at: datetime
    summary: int | None
    asked: bool
    recorded: str
    same: bool | None

    @property
    def history(self) -> int:
        """The position of the newest run that was finished then."""
        return self.position - 1


def past_turn(*, session: Session, at: int, prompt: PromptPlan | None, asked: bool) -> PastTurn | None:
    """Return the turn `at`, or None if no run stands there; `asked` says that a query takes the place of its input."""
    run = lineage_runs(session).filter(position=at).values_list("created_at", "prompt_fingerprint").first()
    if run is None:
        return None
    return PastTurn(
        position=at,
        newest=session.last_position,
        created_at=run[0],
        summary=prompt.summary_number if prompt else None,
        asked=asked,
        recorded=run[1],
        same=prompt.is_as_recorded if isinstance(prompt, Prompt) else None,
    )
