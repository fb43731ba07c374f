"""Deleting sessions, and what then becomes of their children."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from sessions_app.clients import Work
from sessions_app.domain.errors import SessionHasChildren
from sessions_app.models import (
    Event,
    IdempotentAnswer,
    ImportedConversation,
    MetadataEntry,
    Project,
    Run,
    Session,
    SessionTag,
    SettingsVersion,
    SummarizerAnswer,
    Summary,
    SummaryAbsence,
)
from sessions_app.models.identifiers import new_run_id
from sessions_app.models.search_index import forget_events, forget_sessions
from sessions_app.models.search_remains import remember_remains
from sessions_app.services.run_rows import insert_events, insert_runs
from sessions_app.services.trees import lock_tree
from sessions_app.services.wishes import hurry, wish_for_all

CHUNK = 500
# What one transaction removes at most, but for the events of the runs.
SESSIONS_AT_ONCE = 100
RUNS_AT_ONCE = 500

Item = TypeVar("Item")
Tree = dict[int | None, list[int]]


class Children(StrEnum):
    """What becomes of the children of a deleted session."""

    REFUSE = "refuse"
    DELETE = "delete"
    REPARENT = "reparent"


def delete_session(*, session: Session, now: datetime, children: Children = Children.REFUSE) -> int:
    """Delete a session with its runs and summaries; nothing of its text remains but what forks share with it.

    Children may forbid it, go with it (and all that is below them), or move to its parent. No child can be created
    meanwhile, since that takes the same lock. What is too much for one request is out of everybody's sight at once, and
    removed by a worker. Returns how many sessions were deleted, itself among them.
    """
    with transaction.atomic():
        stored = lock_tree(session=session, now=None)
        below = list(stored.children.order_by("pk"))
        if below and children is Children.REFUSE:
            raise SessionHasChildren(
                f"Session {stored.public_id} has {len(below)} children. Delete them too with ?children=delete, "
                "or move them to its parent with ?children=reparent."
            )
        doomed = [stored.pk]
        if children is Children.DELETE:
            doomed += _below(_tree_around(stored), stored.pk)
        elif below:
            _hand_over_runs(stored, below)
            _move_up(stored, below, now)
        if len(doomed) > SESSIONS_AT_ONCE or _runs_of(doomed) > RUNS_AT_ONCE:
            _bury(doomed, now)
        else:
            erase(doomed)
        _keep_whether_they_have_children([stored.parent_id] if stored.parent_id else [])
        return len(doomed)


def _tree_around(session: Session) -> Tree:
    """Return the keys of the children of each session in a tree."""
    tree: Tree = defaultdict(list)
    for pk, parent in Session.objects.in_tree_of(session).values_list("pk", "parent_id"):
        tree[parent].append(pk)
    return tree


def _below(tree: Tree, pk: int) -> list[int]:
    """Return the keys of everything below a session, nearest first."""
    found = list(tree[pk])
    for lower in found:
        found.extend(tree[lower])
    return found


def _hand_over_runs(session: Session, below: Sequence[Session]) -> None:
    """Give the runs that forks share with the session to the forks: moved to the first, copied to the others."""
    forks = [child for child in below if (child.forked_at or 0) >= session.first_position]
    for fork in forks[1:]:
        _copy_runs(session, fork)
    if forks:
        session.runs.filter(position__lte=forks[0].forked_at).update(session=forks[0])
    newest = Run.objects.filter(session=OuterRef("pk"), position=OuterRef("last_position"))
    gaining = Session.objects.filter(pk__in=[fork.pk for fork in forks])
    gaining.update(newest_model=Coalesce(Subquery(newest.values("model")[:1]), Value("")))


def _copy_runs(session: Session, fork: Session) -> None:
    """Copy shared runs with their events; only their ids are new."""
    shared = session.runs.filter(position__lte=fork.forked_at).order_by("position").with_events()
    for chunk in _chunks(shared.iterator(chunk_size=CHUNK)):
        events = [list(run.events.all()) for run in chunk]
        for run in chunk:
            run.pk, run.session, run.public_id = None, fork, new_run_id()
        insert_runs(chunk)
        insert_events(pair for run, rows in zip(chunk, events, strict=True) for pair in _copied_events(run, rows))


def _copied_events(run: Run, rows: Sequence[Event]) -> Iterator[tuple[Event, Event | None]]:
    by_key = {row.pk: row for row in rows}
    parents = [by_key.get(row.parent_id or 0) for row in rows]
    for row, parent in zip(rows, parents, strict=True):
        row.pk, row.run, row.parent = None, run, None
        yield row, parent


def _move_up(session: Session, below: Sequence[Session], now: datetime) -> None:
    """Put the children under the session's parent, or make each the root of its own tree.

    What was answered about them may repeat what the session handed down to their prompts.
    """
    tree = _tree_around(session)
    for child in below:
        gained = max(0, child.shared_tokens_o200k - session.shared_tokens_o200k)
        child.tokens_o200k += gained
        child.shared_tokens_o200k -= gained
        child.forked_at = _link_above(session, child)
        child.parent_id = session.parent_id
        child.tree_active_at = now
        child.save(update_fields=["tokens_o200k", "shared_tokens_o200k", "forked_at", "parent_id", "tree_active_at"])
        if session.parent_id is None:
            for keys in _chunks([child.pk, *_below(tree, child.pk)]):
                Session.objects.filter(pk__in=keys).update(root=child)
    for keys in _chunks(_below(tree, session.pk)):
        moved = Session.objects.filter(pk__in=keys)
        moved.update(depth=F("depth") - 1)
        wish_for_all(sessions=moved, now=now)
        _delete_rows(IdempotentAnswer.objects.filter(session__in=keys))


def _link_above(session: Session, child: Session) -> int | None:
    """Return where a child of the session starts inside the session's parent; None if it does not."""
    if child.forked_at is None or session.forked_at is None:
        return None
    return min(child.forked_at, session.forked_at)


def doomed_slug() -> str:
    """Return a slug for a project that is being deleted, which leaves its own to others."""
    return f"deleted-{uuid.uuid4().hex}"


def _runs_of(keys: Sequence[int]) -> int:
    """Return how many runs sessions hold themselves."""
    held = Sum(F("last_position") - Coalesce("forked_at", 0))
    rows = (Session.objects.filter(pk__in=some) for some in _chunks(keys))
    return sum(some.aggregate(held=held)["held"] or 0 for some in rows)


def _bury(keys: Sequence[int], now: datetime) -> None:
    """Put sessions, the first of which stands above the others, into a project that is being deleted."""
    grave = Project.objects.create(slug=doomed_slug(), name="", deleted_at=now)
    for some in _chunks(keys):
        sessions = Session.objects.filter(pk__in=some)
        sessions.update(project=grave, root=keys[0], summary_wanted_at=None)
        Run.objects.filter(session__in=some).update(project=grave)
        SettingsVersion.objects.filter(session__in=some).update(project=grave)
        _end_mentions(some)
    Session.objects.filter(pk=keys[0]).update(parent=None, forked_at=None)
    hurry(Work.PURGE, grave.pk)


def _end_mentions(keys: Sequence[int]) -> None:
    """Take what repeats text of sessions, or leads to it, from where it does not stand under them."""
    ImportedConversation.objects.filter(session__in=keys).update(session=None, title="", detail="")
    Summary.objects.filter(adopted_from__session__in=keys).update(adopted_from=None)
    for rows in (
        IdempotentAnswer.objects.filter(session__in=keys),
        SummarizerAnswer.objects.filter(session__in=keys),
        MetadataEntry.objects.filter(session__in=keys),
    ):
        _delete_rows(rows)


def erase(sessions: Iterable[int]) -> None:
    """Delete the rows of sessions in bulk, those that refer to others first."""
    remember_remains()
    for keys in _chunks(sessions):
        # First, since it locks them: what is written about them from now on waits, and finds that they are gone.
        Session.objects.filter(pk__in=keys).update(summary=None)
        _end_mentions(keys)
        # By the keys of their runs: a database that has not looked at new rows yet would join them row by row.
        for run_keys in _chunks(Run.objects.filter(session__in=keys).values_list("pk", flat=True)):
            erase_runs(run_keys)
        for rows in (
            SessionTag.objects.filter(session__in=keys),
            SettingsVersion.objects.filter(session__in=keys),
            SummaryAbsence.objects.filter(entry__session__in=keys),
            Summary.objects.filter(session__in=keys),
        ):
            _delete_rows(rows)
    for keys in _chunks(sessions):
        forget_sessions(keys)
        _delete_rows(Session.objects.filter(pk__in=keys))


def _keep_whether_they_have_children(parents: Sequence[int]) -> None:
    left = Session.objects.filter(parent=OuterRef("pk"))
    Session.objects.filter(pk__in=parents).update(has_children=Exists(left))


def erase_runs(keys: Sequence[int]) -> None:
    """Delete the rows of runs, with their events."""
    events = Event.objects.filter(run__in=keys)
    forget_events(list(events.values_list("pk", flat=True)))
    _delete_rows(events)
    _delete_rows(Run.objects.filter(pk__in=keys))


def _delete_rows(rows: QuerySet[Any]) -> None:
    # Django's delete() would load every row to follow its relations, which are all followed here.
    rows._raw_delete(rows.db)  # noqa: SLF001


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
