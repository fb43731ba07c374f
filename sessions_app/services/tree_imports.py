"""Bringing a tree of messages in: the path to its newest message is a session, every other path a fork.

Which path a session holds is told by the ids of the messages that are kept with its runs, so that a branch which
becomes the newest later is a fork all the same, and nothing that is stored moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from sessions_app.domain.conversation_files import Conversation, Path
from sessions_app.domain.errors import Conflict, HistoryChanged, NotFound
from sessions_app.domain.foreign_files import short_id
from sessions_app.models import ImportOutcome, Project, Run, Session, lineage_runs
from sessions_app.services.conversation_imports import (
    ATTEMPTS,
    CHANGED_MEANWHILE,
    Imported,
    create,
    extend,
    known_session,
)
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session

MESSAGES = "messages"

Parted = Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A session and the messages of each run of its lineage."""

    session: Session
    messages: Parted

    def shares(self, path: Path) -> int:
        """Return how many runs a path has in common with it from the first on."""
        pairs = zip(self.messages, path.messages, strict=False)
        return next((place for place, (ours, theirs) in enumerate(pairs) if ours != theirs), self._most(path))

    def _most(self, path: Path) -> int:
        return min(len(self.messages), len(path.messages))


def import_tree(*, project: Project, source: str, conversation: Conversation, now: datetime) -> Imported:
    """Create or extend the sessions of a prepared tree, all or none; raises HistoryChanged as for one conversation."""
    detail = CHANGED_MEANWHILE
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                tree, known = _Tree(source, conversation, now), known_session(project, source, conversation)
                return tree.create(project) if known is None else tree.extend(known)
        except NotFound:
            continue
        except Conflict as conflict:
            detail = conflict.detail
    raise HistoryChanged(detail)


class _Tree:
    """A tree on its way in: the paths that are `left`, the sessions that are `placed`, the trunk first."""

    def __init__(self, source: str, conversation: Conversation, now: datetime) -> None:
        self._source, self._conversation, self._now = source, conversation, now
        self._left = list(conversation.paths)
        self._placed: list[_Placed] = []
        self._apart = 0

    def create(self, project: Project) -> Imported:
        """Create the session of the newest path and a fork for each other."""
        done = create(project, self._source, self._conversation, self._now)
        if done.session is not None:
            self._placed.append(_Placed(done.session, self._left.pop(0).messages))
        return _told([done], self._fork_the_rest(), apart=self._apart, was_known=False)

    def extend(self, trunk: Session) -> Imported:
        """Give each stored session what its path has more, and make a fork of each path that is new."""
        forks = Session.objects.filter(root=trunk.root_id, source=self._source).exclude(source_id="")
        stored = (trunk, *forks.exclude(pk=trunk.pk).order_by("pk"))
        grown = [done for session in stored if (done := self._go_on(session)) is not None]
        if not grown or grown[0].session != trunk:
            raise HistoryChanged("None of the paths through the file goes on from what is stored.")
        return _told(grown, self._fork_the_rest(), apart=self._apart, was_known=True)

    def _go_on(self, session: Session) -> Imported | None:
        """Extend a stored session by the path that it holds; None if there is none, as in an older file."""
        stored = _stored_messages(session, self._source)
        place = next((place for place, path in enumerate(self._left) if _goes_on(stored, path.messages)), None)
        if place is None:
            self._placed.append(_Placed(session, stored))
            return None
        path = self._left.pop(place)
        own = path.runs[session.first_position - 1 :]
        done = extend(session, replace(self._conversation, runs=own), self._now)
        if done is None:
            raise Conflict(CHANGED_MEANWHILE)
        if stored and len(path.messages) >= len(stored) and path.messages[len(stored) - 1] != stored[-1]:
            _keep_messages(session, len(stored), path)
        self._placed.append(_Placed(session, max(stored, path.messages, key=_size)))
        return done

    def _fork_the_rest(self) -> list[Imported]:
        """Make a fork of each path that is left, unless all of it is stored, or it left the tree."""
        seen = {message for each in self._placed for run in each.messages for message in run}
        new = []
        for path in self._left:
            messages = [message for run in path.messages for message in run]
            first = next((message for message in messages if message not in seen), None)
            if first is None:
                continue
            seen.update(messages)
            if self._is_apart(first):
                self._apart += 1
            else:
                new.append(self._fork(path, first))
        return new

    def _is_apart(self, first: str) -> bool:
        """Whether the fork of a path left the tree, as when its parent was deleted without it."""
        return Session.objects.filter(
            project=self._placed[0].session.project_id, source=self._source, source_id=self._fork_id(first)
        ).exists()

    def _fork_id(self, first: str) -> str:
        return short_id(f"{self._conversation.source_id}#{first}")

    def _fork(self, path: Path, first: str) -> Imported:
        """Make a fork at the last run that a path shares with a session; known again by its `first` new message."""
        trunk = self._placed[0].session
        parent = max(self._placed, key=lambda each: each.shares(path))
        at = parent.shares(path)
        fork = create_session(
            project=trunk.project,
            now=self._now,
            title=trunk.title,
            parent=parent.session,
            forked_at=at,
            instructions=trunk.instructions,
            user_id=trunk.user_id,
            tags=[tag.name for tag in trunk.tags.all()],
            settings=trunk.settings,
            source=self._source,
            source_id=self._fork_id(first),
        )
        append_runs(session=fork, runs=path.runs[at:], now=self._now)
        if (began := path.runs[at].created_at) is not None:
            Session.objects.filter(pk=fork.pk).update(created_at=began)
        self._placed.append(_Placed(fork, path.messages))
        return Imported(ImportOutcome.IMPORTED, session=fork, new_runs=len(path.runs) - at)


def _told(grown: Sequence[Imported], new: Sequence[Imported], *, apart: int, was_known: bool) -> Imported:
    """Say of the whole tree what became of it."""
    first = grown[0]
    is_changed = new or any(each.outcome != ImportOutcome.UNCHANGED for each in grown)
    outcome = ImportOutcome.EXTENDED if was_known and is_changed else first.outcome
    notes = [first.detail] if first.detail else []
    if new:
        notes.append(f"Edited questions and other answers that became forks: {len(new)}.")
    if apart:
        notes.append(f"Forks that left this conversation, which stay as they are: {apart}.")
    return replace(
        first,
        outcome=outcome,
        detail=" ".join(notes),
        new_runs=sum(each.new_runs for each in (*grown, *new)),
        new_calls=sum(each.new_calls for each in (*grown, *new)),
    )


def _stored_messages(session: Session, source: str) -> Parted:
    rows = lineage_runs(session).order_by("position").values_list("metadata", flat=True)
    return [tuple(_kept(metadata, source)) for metadata in rows.iterator(chunk_size=1000)]


def _kept(metadata: object, source: str) -> list[str]:
    ours = metadata.get(source) if isinstance(metadata, dict) else None
    kept = ours.get(MESSAGES) if isinstance(ours, dict) else None
    return kept if isinstance(kept, list) else []


def _size(parted: Parted) -> int:
    return sum(map(len, parted))


def _goes_on(stored: Parted, given: Parted) -> bool:
    """Whether a path is what is stored, or the beginning of that, or goes on from it."""
    for place, (ours, theirs) in enumerate(zip(stored, given, strict=False), 1):
        if ours == theirs:
            continue
        is_longer = place == len(stored) and theirs[: len(ours)] == ours
        return is_longer or (place == len(given) and ours[: len(theirs)] == theirs)
    return True


def _keep_messages(session: Session, position: int, path: Path) -> None:
    """Keep the ids of the messages that a stored run has now."""
    run = Run.objects.get(session=session, position=position)
    run.metadata = {**run.metadata, **path.runs[position - 1].metadata}
    run.save(update_fields=["metadata"])
