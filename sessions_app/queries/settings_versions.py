"""The versions of a project's or a session's settings, and what each changed, setting by setting."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.db.models import F

from sessions_app.domain.memory_settings import SETTINGS_BY_NAME
from sessions_app.models import Project, Session, SettingsVersion, VersionOrigin
from sessions_app.queries.capped_counts import CappedCount
from sessions_app.queries.keyset import Order, read_count

BY_NUMBER = Order("number", F("number"), read_count, descending=True)
ROWS_AT_ONCE = 20
MOST_LOOKED_AT = 50
INHERITED = "inherited"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that a version changed, in stored form; INHERITED where it has no value of its own."""

    name: str
    now: Any
    new: Any


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version and what it changed."""

    version: SettingsVersion
    changes: Sequence[SettingChange]
    in_force: bool

    @property
    def reach(self) -> CappedCount | None:
        """How many sessions it changed when it was saved as a project's default; None where that is not told."""
        counted = self.version.sessions_changed
        return None if counted is None else CappedCount.of(counted)

    @property
    def before(self) -> int | None:
        """The version that undoing this one goes back to; 0 is what was before all, None if that is not known."""
        number = self.version.number - 1
        return number if number or self.version.origin == VersionOrigin.SAVED else None


@dataclass(frozen=True, slots=True)
class VersionList:
    """Versions, newest first; `next_before` is where the next page starts.

    `has_beginning`: behind the last row is the time before the first save, when nothing was set. `has_newer`: there
    are some before the first row.
    """

    rows: Sequence[VersionRow]
    next_before: int | None
    has_beginning: bool
    has_newer: bool


def versions_of(
    *,
    project: Project,
    session: Session | None,
    below: Mapping[str, Any],
    before: int | None = None,
    showing: int | None = None,
) -> VersionList:
    """Return the newest versions, or those before the number `before`, of a session or else of the project.

    If the version `showing` is not among the newest, they begin with it. `below` are the values that hold where a
    setting has none of its own, as far as they can be named.
    """
    rows = SettingsVersion.objects.of(project, session).order_by("-number")
    found = list((rows if before is None else rows.filter(number__lt=before))[: ROWS_AT_ONCE + 1])
    if before is None and showing and len(found) > ROWS_AT_ONCE and showing <= found[-1].number:
        before = showing + 1
        found = list(rows.filter(number__lt=before)[: ROWS_AT_ONCE + 1])
    older = [*(row.settings for row in found[1:]), {}]
    page = [
        VersionRow(row, changes_between(previous, row.settings, below), in_force=before is None and place == 0)
        for place, (row, previous) in enumerate(zip(found, older, strict=False))
    ][:ROWS_AT_ONCE]
    has_more = len(found) > ROWS_AT_ONCE
    first = page[-1].version if page and not has_more else None
    return VersionList(
        page,
        page[-1].version.number if has_more else None,
        has_beginning=first is not None and first.origin == VersionOrigin.SAVED,
        has_newer=before is not None,
    )


def setting_versions(*, project: Project, session: Session | None, names: Sequence[str]) -> dict[str, SettingsVersion]:
    """Return by its name the version that gave each setting the value that the session or else the project has.

    One that has no value of its own, or has had it for longer than is looked back, is left out.
    """
    settings = session.settings if session else project.settings
    own = [name for name in names if name in settings]
    if not own:
        return {}
    found = list(SettingsVersion.objects.of(project, session).order_by("-number")[:MOST_LOOKED_AT])
    since = {name: list(takewhile(_has(name, settings[name]), found)) for name in own}
    return {name: rows[-1] for name, rows in since.items() if 0 < len(rows) < MOST_LOOKED_AT}


def is_saved_for_project(*, project: Project, session: Session) -> bool:
    """Whether of the settings that hold for a session somebody saved those of its project last."""
    saved = SettingsVersion.objects.filter(origin=VersionOrigin.SAVED)
    of_project, of_session = saved.of(project, None).newest(), saved.of(project, session).newest()
    return of_project is not None and (of_session is None or of_session.saved_at < of_project.saved_at)


def version_in_force(*, project: Project, session: Session | None) -> VersionRow | None:
    """Return the newest version; None if nothing has been saved yet."""
    newest = SettingsVersion.objects.of(project, session).newest()
    return None if newest is None else VersionRow(newest, (), in_force=True)


def next_number(*, project: Project, session: Session | None) -> int:
    """Return the number that the next save becomes."""
    row = version_in_force(project=project, session=session)
    return row.version.number + 1 if row else 1


def _has(name: str, value: Any) -> Callable[[SettingsVersion], bool]:
    return lambda version: version.settings.get(name) == value


def changes_between(now: Mapping[str, Any], new: Mapping[str, Any], below: Mapping[str, Any]) -> list[SettingChange]:
    """Return what differs between sparse settings, in the order of the table."""
    names = [name for name in SETTINGS_BY_NAME if now.get(name) != new.get(name)]
    return [
        SettingChange(name, *(sparse.get(name, below.get(name, INHERITED)) for sparse in (now, new))) for name in names
    ]
