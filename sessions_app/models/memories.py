"""What a lineage was told at each of its turns, from rows: when each was, whose it was, and the summaries of then."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sessions_app.domain.following.timelines import Lifetime, Span, SummaryTimeline
from sessions_app.models.lineages import conversations_above, lineage_of, lineage_runs
from sessions_app.models.sessions import Session
from sessions_app.models.settings_versions import SettingsVersion
from sessions_app.models.summaries import Summary, SummaryQuerySet, SummaryStatus


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn of a lineage: when its run was made, and the session that it was made in."""

    position: int
    created_at: datetime
    holder: int


@dataclass(frozen=True, slots=True)
class ParentTimeline:
    """The summaries of a parent conversation."""

    title: str
    timeline: SummaryTimeline


def turn_rows(session: Session) -> list[TurnRow]:
    """Return the turns of a lineage, oldest first."""
    rows = lineage_runs(session).order_by("position")
    return [TurnRow(*row) for row in rows.values_list("position", "created_at", "session_id")]


def summary_timelines(session: Session) -> dict[int, SummaryTimeline]:
    """Return the summaries of each session that holds some of a lineage, by its key."""
    holders = [stretch.session.pk for stretch in lineage_of(session)]
    by_holder: dict[int, list[Lifetime]] = {holder: [] for holder in holders}
    for entry in _completed(Summary.objects.filter(session__in=holders)):
        by_holder[entry.session_id].append(_lifetime(entry, (entry.covers_through, entry.number)))
    return {holder: SummaryTimeline(lifetimes) for holder, lifetimes in by_holder.items()}


def parent_timelines(session: Session, depth: int) -> list[ParentTimeline]:
    """Return the summaries of up to `depth` parent conversations, root first."""
    found = []
    for parent, usable in islice(conversations_above(session), depth):
        entries = _completed(Summary.objects.filter(usable).select_related("session"))
        lifetimes = [_lifetime(entry, (entry.covers_through, entry.session.depth, entry.number)) for entry in entries]
        found.append(ParentTimeline(str(parent), SummaryTimeline(lifetimes)))
    return found[::-1]


def settings_changes(session: Session) -> list[datetime]:
    """Return when the settings of any turn of a lineage may have changed, in order."""
    project = session.project
    holders = [stretch.session.pk for stretch in lineage_of(session)]
    versions = SettingsVersion.objects.filter(project=project)
    of_sessions = versions.filter(session__in=holders).values_list("saved_at", flat=True)
    of_project = versions.filter(session=None).values_list("saved_at", flat=True)
    return sorted({*of_sessions, *of_project, project.created_at})


def _completed(entries: SummaryQuerySet) -> Iterable[Summary]:
    return entries.filter(status=SummaryStatus.COMPLETED).prefetch_related("absences")


def _lifetime(entry: Summary, rank: tuple[int, ...]) -> Lifetime:
    return Lifetime(entry.to_value(), rank, tuple(_spans(entry)))


def _spans(entry: Summary) -> Sequence[Span]:
    """Return when an entry was in use: from its end on, less its absences, until it was retired."""
    if entry.ended_at is None:
        return []
    spans, start = list[Span](), entry.ended_at
    for absence in sorted(entry.absences.all(), key=lambda absence: absence.since):
        if absence.since > start:
            spans.append((start, absence.since))
        start = max(start, absence.until)
    if entry.retired_at is None or entry.retired_at > start:
        spans.append((start, entry.retired_at))
    return spans
