"""A turn of the past as pages show it: what its prompt is built from, whether it is the one of then, what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sessions_app.domain.causes import Cause, cause_of
from sessions_app.domain.comparison import Aligned, aligned
from sessions_app.domain.memory_settings import EffectiveSettings, stored_values
from sessions_app.domain.plan import UNSEEN_FATES, Fate, FateRange, Prompt, PromptPlan
from sessions_app.models import Session, lineage_runs

MOST_RANGES = 40


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


@dataclass(frozen=True, slots=True)
class Unseen:
    """The neighbouring runs first..last that the model could not see, why, and the setting to blame, if one is."""

    first: int
    last: int
    fate: Fate
    reason: str
    cause: Cause | None


@dataclass(frozen=True, slots=True)
class Ranges:
    """The runs of two prompts side by side, as far as a page shows them, and how many ranges are left out."""

    shown: Sequence[Aligned]
    left_out: int


@dataclass(frozen=True, slots=True)
class SettingOfTurn:
    """A setting then, today and drafted, in stored form."""

    name: str
    then: object
    today: object
    draft: object

    @property
    def differs(self) -> bool:
        """Whether it is not the same everywhere."""
        return not self.then == self.today == self.draft


def unseen_runs(prompt: PromptPlan) -> list[Unseen]:
    """Return the runs that a prompt did not show, and why; what the budget dropped is one range."""
    found: list[Unseen] = []
    for fates in prompt.fates:
        if fates.fate not in UNSEEN_FATES:
            continue
        cause, before = cause_of(fates, prompt), found[-1] if found else None
        if before and (before.last, before.fate, before.cause) == (fates.first - 1, fates.fate, cause):
            found[-1] = replace(before, last=fates.last)
        else:
            found.append(Unseen(fates.first, fates.last, fates.fate, _reason(fates, prompt), cause))
    return found


def _reason(fates: FateRange, prompt: PromptPlan) -> str:
    """Return why runs are out; of those that the budget dropped, what the first that did not fit would have needed."""
    cut = prompt.cut
    if cut is None or fates.fate not in (Fate.PRUNED, Fate.LOST):
        return fates.reason
    return f"run {cut.position:,} needs {cut.needs:,} tokens, {cut.left:,} {'was' if cut.left == 1 else 'were'} free"


def ranges_of(a: PromptPlan, b: PromptPlan) -> Ranges:
    """Return the runs of two prompts side by side, those that differ first to be kept."""
    found = aligned(a, b)
    differing = [each for each in found if each.a is not each.b] if len(found) > MOST_RANGES else found
    return Ranges(differing[:MOST_RANGES], len(found) - len(differing[:MOST_RANGES]))


def settings_of_then(
    then: EffectiveSettings, today: EffectiveSettings, drafted: Mapping[str, object]
) -> list[SettingOfTurn]:
    """Return the settings that are not the same in all of them; `drafted` are changes of those of today."""
    before, now = stored_values(then.values), stored_values(today.values)
    rows = [SettingOfTurn(name, before[name], value, drafted.get(name, value)) for name, value in now.items()]
    return [row for row in rows if row.differs]


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
