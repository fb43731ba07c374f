"""Changes of settings that bring words back into a turn's prompt; each counts if the prompt built with it has them."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.following.blame import blamed
from sessions_app.domain.following.recorded import RecordedPrompts
from sessions_app.domain.following.sights import FORGOTTEN, Sight, Why
from sessions_app.domain.following.ways import (
    Changes,
    Trial,
    Way,
    WayKind,
    are_inherited,
    layer_with,
    other_layers,
    trials,
)
from sessions_app.domain.memory_settings import EffectiveSettings, stored_values
from sessions_app.models import has_parent_conversation
from sessions_app.services.following import Memory
from sessions_app.services.prompts import effective_settings
from sessions_app.services.settings import project_settings

MOST_TRIED: Final = 10
# So many turns are looked at to say how far a change carries.
MOST_AHEAD: Final = 1_000
_STEPS: Final = 3
_ROUND_TOKENS: Final = tuple(
    step * 10**power for power in range(1, 5) for step in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
)


def is_missing(sight: Sight) -> bool:
    """Whether a prompt lacks what was told before, or what nobody of its history says."""
    return sight.place in FORGOTTEN or sight.why is Why.NOT_SAID


def ways_of_settings(memory: Memory, turn: int | None, now: Sight) -> Iterator[Way]:
    """Try changes one by one, and if no layer below brings them back alone, all that are the session's own together."""
    inherited = project_settings(project=memory.session.project)
    found = [_way(memory, turn, trial, sight, inherited) for trial, sight in _single(memory, turn, now)]
    yield from found
    if not any(are_inherited(way.changes or {}, inherited) for way in found):
        yield from _together(memory, turn, inherited)


def _way(memory: Memory, turn: int | None, trial: Trial, sight: Sight, inherited: EffectiveSettings) -> Way:
    layer = trial.layer or layer_with(trial.changes, memory.turns.today, inherited)
    return Way(
        WayKind.SETTINGS if layer is None else WayKind.LAYER,
        trial.changes,
        sight.place,
        layer,
        is_extract=sight.why is Why.IN_EXTRACT,
        reach=_reach(memory, turn, trial.changes),
        sent=memory.sent_with(turn, trial.changes),
        sent_without=memory.sent_with(turn, {}),
    )


def _reach(memory: Memory, turn: int | None, changes: Changes) -> int | None:
    """Return the last turn up to which every prompt has the words under these changes, as far as sums tell it."""
    prompts, settings = _prompts_under(memory, changes)
    if turn is None or prompts is None or settings is None:
        return None
    reach = None
    for at in range(turn, min(memory.turns.last, turn + MOST_AHEAD) + 1):
        sight = prompts.sight(at, *memory.handed_down(prompts, settings, at))
        if sight is None or is_missing(sight):
            break
        reach = at
    return reach


def _prompts_under(memory: Memory, changes: Changes) -> tuple[RecordedPrompts | None, EffectiveSettings | None]:
    try:
        settings = effective_settings(session=memory.session, overrides=changes)
    except ConvowebError:
        return None, None
    return (memory.recorded(settings) if memory.turns.are_known else None), settings


def _together(memory: Memory, turn: int | None, inherited: EffectiveSettings) -> Iterator[Way]:
    """Yield what is inherited in place of the session's own settings, as few of them as bring the words back."""
    values, sight = stored_values(memory.turns.today.values), None
    below = stored_values(inherited.values)
    changes = {name: below[name] for name in memory.session.settings if name in below and values[name] != below[name]}
    if 1 < len(changes) <= MOST_TRIED:
        sight = memory.seen_with(turn, changes)
    if sight is None or is_missing(sight):
        return
    for name in list(changes):
        fewer = {other: value for other, value in changes.items() if other != name}
        without = memory.seen_with(turn, fewer)
        if not is_missing(without):
            changes, sight = fewer, without
    if len(changes) > 1:
        yield _way(memory, turn, Trial(changes), sight, inherited)


def _single(memory: Memory, turn: int | None, now: Sight) -> Iterator[tuple[Trial, Sight]]:
    """Yield changes that bring them back; where one is not enough, with what the prompt then lacks besides."""
    tried, told = 0, list[Changes]()
    for trial in _trials(memory, turn, now, memory.turns.today):
        changes, sight = trial.changes, now
        for _ in range(_STEPS):
            if tried == MOST_TRIED:
                return
            if any(earlier.items() <= changes.items() for earlier in told):
                break
            sight, tried = memory.seen_with(turn, changes), tried + 1
            if not is_missing(sight) or trial.layer is not None:
                break
            more = next(_more(memory, turn, sight, changes), None)
            if more is None:
                break
            changes = {**changes, **more}
        if not is_missing(sight):
            told.append(changes)
            yield Trial(changes, trial.layer), sight


def _trials(memory: Memory, turn: int | None, sight: Sight, settings: EffectiveSettings) -> Iterator[Trial]:
    cause = blamed(sight.why, settings) if sight.why is not Why.NOT_SAID else None
    if cause is not None:
        yield from other_layers(cause, project_settings(project=memory.session.project))
    if sight.why is Why.RESULT_CUT:
        yield from _longer(memory, turn, "tool_result_max_tokens", settings.values.tool_result_max_tokens)
    if sight.why is Why.SUMMARIZED_AWAY:
        yield from _longer(memory, turn, "max_summary_tokens", settings.values.max_summary_tokens)
    finished = _finished(memory, turn)
    yield from trials(sight, settings, finished=finished, needed=_needed(memory, turn, sight, settings))
    if not settings.values.takes_parents and has_parent_conversation(memory.session):
        yield Trial({"include_parent_context": True})


def _longer(memory: Memory, turn: int | None, setting: str, now: int | None) -> Iterator[Trial]:
    """Yield the smallest round limit of what is cut in a prompt under which it has the words; each is built."""
    limits = [limit for limit in _ROUND_TOKENS if limit > (now or 0)]

    def is_enough(limit: int) -> bool:
        return not is_missing(memory.seen_with(turn, {setting: limit}))

    if limits and is_enough(limits[-1]):
        yield Trial({setting: limits[bisect_left(limits, 1, key=is_enough)]})


def _more(memory: Memory, turn: int | None, sight: Sight, changes: Changes) -> Iterator[Changes]:
    """Yield what may be changed besides, under changes that were not enough."""
    try:
        settings = effective_settings(session=memory.session, overrides=changes)
    except ConvowebError:
        return
    needed = _needed(memory, turn, sight, settings)
    for trial in trials(sight, settings, finished=_finished(memory, turn), needed=needed):
        is_instead = "max_history" in changes and "strategy" in trial.changes
        if not is_instead and not trial.changes.keys() & changes.keys() - {"max_input_tokens"}:
            yield trial.changes


def _finished(memory: Memory, turn: int | None) -> int:
    return memory.session.last_position if turn is None else turn - 1


def _needed(memory: Memory, turn: int | None, sight: Sight, settings: EffectiveSettings) -> int | None:
    """Return a budget with room for the run that says the words, None where sums do not tell."""
    prompts = memory.recorded(settings)
    if prompts is None or sight.run is None:
        return None
    at = memory.session.last_position + 1 if turn is None else turn
    if at <= memory.session.last_position and not memory.turns.are_known:
        return None
    return prompts.needed_tokens(at, sight.run, *memory.handed_down(prompts, settings, at))
