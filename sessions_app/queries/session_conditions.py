"""What sessions are picked by, on the page and over the API alike."""

from collections.abc import Mapping

from django.db.models import Exists, F, OuterRef, Q, Subquery

from sessions_app.domain.transcript import RunStatus
from sessions_app.models import MetadataEntry, Project, Run, Session
from sessions_app.models.fields import Constant
from sessions_app.models.metadata_entries import digests_written
from sessions_app.models.sessions import HAS_OWN_SETTINGS, SessionQuerySet
from sessions_app.queries.capped_counts import capped_count


def newest_run_is(*, project: Project, status: RunStatus | None = None, model: str = "") -> Q:
    """Return the condition of a project's sessions whose newest own run is in a state, by a model, or both.

    Most runs have completed, so that for another state those are gone through that have not, by an index over them.
    """
    by_model = Q(newest_model=model) if model else Q()
    if status is None:
        return by_model
    if status is RunStatus.COMPLETED:
        newest = Run.objects.filter(session=OuterRef("pk"), position=OuterRef("last_position"))
        return by_model & Q(Exists(newest.filter(status=status)))
    unusual = Run.objects.uncompleted().filter(project=project, position=F("session__last_position"), status=status)
    return by_model & Q(pk__in=unusual.values("session"))


def is_child_of(parent_id: str, *, project: Project) -> Q:
    """Return the condition of the children of a project's session, found by its key whatever the order of the list."""
    parent = Session.objects.filter(project=project, public_id=parent_id)
    children = Session.objects.filter(parent=Subquery(parent.values("pk")[:1]))
    return Q(pk__in=children.values("pk"))


def has_children() -> Q:
    """Return the condition of sessions with children or forks, as an index has it."""
    return Q(has_children=True)


def has_lost_runs() -> Q:
    """Return the condition of sessions whose next prompt loses runs, as an index has it."""
    return Q(lost_runs__gt=Constant(0))


def has_unseen_runs() -> Q:
    """Return the condition of sessions with runs that the model cannot see in the next prompt, as an index has it."""
    return Q(unseen_runs__gt=Constant(0))


def has_cut_results() -> Q:
    """Return the condition of sessions whose next prompt cuts tool results or leaves them out, as an index has it."""
    return Q(cut_results__gt=Constant(0))


def has_own_settings() -> Q:
    """Return the condition of sessions with memory settings of their own, as an index has it."""
    return HAS_OWN_SETTINGS


def sessions_of(project: Project, *, metadata: Mapping[str, str], named: bool = False) -> SessionQuerySet:
    """Return a project's sessions, or those whose metadata have under each name a text, number or flag written so.

    They are `named` if another condition names them by their keys. A few are named by their keys, and by these
    alone: SQLite takes any index that begins with the project for a better way. Where a value stands in more
    sessions than are counted, a list that is walked through comes to some soon.
    """
    few: set[int] | None = None
    common = list[Q]()
    for name, text in metadata.items():
        entries = MetadataEntry.objects.filter(project=project, digest__in=digests_written(name, text))
        if capped_count(entries).at_least:
            common.append(Q(Exists(entries.filter(session=OuterRef("pk")))))
        else:
            keys = set(entries.values_list("session", flat=True))
            few = keys if few is None else few & keys
    if few is not None:
        return Session.objects.filter(Q(pk__in=few), *common)
    every = Session.objects.found_in(project.pk) if named else Session.objects.filter(project=project)
    return every.filter(*common)
