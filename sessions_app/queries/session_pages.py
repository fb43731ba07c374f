"""What stands around the runs of a session page: its tree, its ancestors, the counts, the state of its summary."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Exists, OuterRef, QuerySet

from sessions_app.domain.plan import UNSEEN_FATES, Fate, Prompt
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Run, Session, Summary, SummaryStatus, ancestors_of

NODES_SHOWN = 200
ANCESTORS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A session in the tree of the sidebar."""

    pk: int
    public_id: str
    title: str
    depth: int
    forked_at: int | None
    run_count: int
    updated_at: datetime
    running: bool
    lost: int
    url: str


@dataclass(frozen=True, slots=True)
class Crumb:
    """An ancestor in the path of a page; `fork_at` is where the next one starts inside it; `gap`: some are left out."""

    session: Session
    fork_at: int | None
    gap: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter over the runs: the word in the address, what it is called, how many runs it holds."""

    key: str
    label: str
    count: int | None
    fates: frozenset[Fate] | None


@dataclass(frozen=True, slots=True)
class SummaryWork:
    """Summarizing that goes on or has failed, runs first..last."""

    entry: Summary
    first: int

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.entry.status == SummaryStatus.RUNNING


def tree_rows(session: Session, *, address: Callable[[Session], str]) -> tuple[list[TreeRow], int]:
    """Return the tree around a session in preorder, at most NODES_SHOWN nodes and its ancestors, and its size."""
    tree = Session.objects.in_tree_of(session)
    open_run = Run.objects.unfinished().filter(session=OuterRef("pk"))
    nodes = list(tree.order_by("depth", "pk").annotate(running=Exists(open_run))[: NODES_SHOWN + 1])
    size = len(nodes) if len(nodes) <= NODES_SHOWN else tree.count()
    missing = {row.pk for row in [session, *ancestors_of(session)]} - {node.pk for node in nodes[:NODES_SHOWN]}
    more: QuerySet[Session] = tree.filter(pk__in=missing).annotate(running=Exists(open_run))
    shown = _preorder([*nodes[:NODES_SHOWN], *(more if missing else ())])
    return [_tree_row(node, address(node)) for node in shown], size


def _preorder(nodes: Sequence[Session]) -> Iterator[Session]:
    children: Mapping[int | None, list[Session]] = defaultdict(list)
    for node in sorted(nodes, key=lambda node: (node.forked_at or 0, node.pk), reverse=True):
        children[node.parent_id].append(node)
    waiting = list(children[None])
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children[node.pk])


def _tree_row(node: Session, url: str) -> TreeRow:
    return TreeRow(
        pk=node.pk,
        public_id=node.public_id,
        title=node.title,
        depth=node.depth,
        forked_at=node.forked_at,
        run_count=node.last_position,
        updated_at=node.updated_at,
        running=getattr(node, "running", False),
        lost=(node.prompt_snapshot or {}).get("lost") or 0,
        url=url,
    )


def crumbs_of(session: Session) -> list[Crumb]:
    """Return the ancestors, root first; of many only the root and the nearest."""
    path = [*list(ancestors_of(session))[::-1], session]
    crumbs = [Crumb(parent, child.forked_at, gap=False) for parent, child in pairwise(path)]
    if len(crumbs) <= ANCESTORS_SHOWN:
        return crumbs
    root = Crumb(crumbs[0].session, crumbs[0].fork_at, gap=True)
    return [root, *crumbs[1 - ANCESTORS_SHOWN :]]


def chips_of(prompt: Prompt | None, runs: int) -> list[Chip]:
    """Return the filters over the runs with their counts; those that hold nothing are left out."""
    counts: dict[Fate, int] = defaultdict(int)
    for fates in prompt.fates if prompt else ():
        counts[fates.fate] += fates.count
    not_sent = UNSEEN_FATES - {Fate.LOST}
    chips = [
        Chip("kept", "In the prompt", counts[Fate.KEPT], frozenset({Fate.KEPT})),
        Chip("summarized", "In the summary", counts[Fate.SUMMARIZED], frozenset({Fate.SUMMARIZED})),
        Chip("unsent", "Not sent", sum(counts[fate] for fate in not_sent), frozenset(not_sent)),
        Chip("lost", "Lost", counts[Fate.LOST], frozenset({Fate.LOST})),
    ]
    every = Chip("", "All", None, None)
    return [every, *(chip for chip in chips if chip.count)] if prompt and runs else []


def summary_work(session: Session) -> SummaryWork | None:
    """Return the newest entry of the ledger if it is being worked on or has failed."""
    newest = Summary.objects.filter(session=session).select_related("predecessor").order_by("-number").first()
    if newest is None or newest.status == SummaryStatus.COMPLETED:
        return None
    return SummaryWork(newest, newest.covers_from)


def newest_status(session: Session) -> RunStatus | None:
    """Return the state of the session's newest run of its own."""
    newest = Run.objects.filter(session=session, position=session.last_position)
    status = newest.values_list("status", flat=True).first()
    return RunStatus(status) if status else None
