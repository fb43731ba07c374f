"""What stands around the runs of a session page: its tree, its ancestors, the counts, the state of its summary."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Exists, OuterRef

from sessions_app.domain.plan import UNSEEN_FATES, Fate, PromptPlan
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Run, Session, Summary, SummaryStatus, ancestors_of
from sessions_app.models.summaries import UNFINISHED
from sessions_app.queries.capped_counts import CappedCount, capped_count

NODES_SHOWN = 200
NEAREST_SHOWN = 12
ANCESTORS_SHOWN = 3
_NODE_COLUMNS = (
    "public_id",
    "title",
    "parent",
    "depth",
    "forked_at",
    "last_position",
    "updated_at",
    "prompt_snapshot",
    "next_attempt_at",
    "rests_since",
)


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A session in the tree of the sidebar, with how many runs the model cannot see and how many of them are lost.

    `failing` and `resting` are its summaries; `running`: a run is open, or a summary is being made. `gap`: between it
    and the row it is drawn under, levels are left out.
    """

    pk: int
    public_id: str
    title: str
    depth: int
    level: int
    gap: bool
    forked_at: int | None
    run_count: int
    updated_at: datetime
    running: bool
    unseen: int
    lost: int
    failing: bool
    resting: bool
    url: str


@dataclass(frozen=True, slots=True)
class WentOn:
    """The parent of a fork that has more runs than the fork shares: first..last, which the fork does not see."""

    title: str
    url: str
    first: int
    last: int


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
class Jump:
    """A run that people look for, and what it is called."""

    label: str
    position: int
    fate: Fate


@dataclass(frozen=True, slots=True)
class SummaryWork:
    """Summarizing that goes on or has failed, runs first..last."""

    entry: Summary
    first: int

    @property
    def running(self) -> bool:
        """Whether it waits for a worker or goes on."""
        return self.entry.status in UNFINISHED


def tree_rows(session: Session, *, address: Callable[[Session], str]) -> tuple[list[TreeRow], CappedCount]:
    """Return the tree around a session in preorder, and its size.

    Of a large one: the NODES_SHOWN nearest to the root, and of the path to the session the NEAREST_SHOWN nearest to it.
    """
    tree = Session.objects.in_tree_of(session)
    open_run = Run.objects.unfinished().filter(session=OuterRef("pk"))
    making = Summary.objects.filter(session=OuterRef("pk"), status=SummaryStatus.RUNNING)
    rows = tree.only(*_NODE_COLUMNS).annotate(running=Exists(open_run) | Exists(making))
    nodes = list(rows.order_by("depth", "pk")[: NODES_SHOWN + 1])
    drawn_under: dict[int, int] = {}
    size = CappedCount.of(len(nodes))
    if len(nodes) > NODES_SHOWN:
        size = capped_count(tree)
        listed = {node.pk for node in nodes[:NODES_SHOWN]}
        path = [session.pk, *(ancestor.pk for ancestor in ancestors_of(session))]
        missing = [pk for pk in path[:NEAREST_SHOWN] if pk not in listed]
        if missing:
            drawn_under[missing[-1]] = next(pk for pk in path if pk in listed)
        nodes[NODES_SHOWN:] = rows.filter(pk__in=missing)
    return [_tree_row(node, depth, drawn_under, address(node)) for node, depth in _preorder(nodes, drawn_under)], size


def _preorder(nodes: Sequence[Session], drawn_under: Mapping[int, int]) -> Iterator[tuple[Session, int]]:
    """Yield the nodes with the depth at which they are drawn."""
    children: Mapping[int | None, list[Session]] = defaultdict(list)
    for node in sorted(nodes, key=lambda node: (node.forked_at or 0, node.pk), reverse=True):
        children[drawn_under.get(node.pk, node.parent_id)].append(node)
    waiting = [(root, 0) for root in children[None]]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in children[node.pk])


def _tree_row(node: Session, depth: int, drawn_under: Mapping[int, int], url: str) -> TreeRow:
    snapshot = node.prompt_snapshot or {}
    return TreeRow(
        pk=node.pk,
        public_id=node.public_id,
        title=node.title,
        depth=depth,
        level=node.depth + 1,
        gap=drawn_under.get(node.pk, node.parent_id) != node.parent_id,
        forked_at=node.forked_at,
        run_count=node.last_position,
        updated_at=node.updated_at,
        running=getattr(node, "running", False),
        unseen=snapshot.get("unseen") or 0,
        lost=snapshot.get("lost") or 0,
        failing=node.next_attempt_at is not None,
        resting=node.rests_since is not None,
        url=url,
    )


def went_on(session: Session, tree: Sequence[TreeRow]) -> WentOn | None:
    """Return the runs with which the parent of a fork went on, told by the tree around it, which always has both."""
    parent = next((row for row in tree if row.pk == session.parent_id), None)
    if parent is None or session.forked_at is None or parent.run_count <= session.forked_at:
        return None
    return WentOn(parent.title or parent.public_id, parent.url, session.forked_at + 1, parent.run_count)


def crumbs_of(session: Session) -> list[Crumb]:
    """Return the ancestors, root first; of many only the root and the nearest."""
    path = [*ancestors_of(session)[::-1], session]
    crumbs = [Crumb(parent, child.forked_at, gap=False) for parent, child in pairwise(path)]
    if len(crumbs) <= ANCESTORS_SHOWN:
        return crumbs
    root = Crumb(crumbs[0].session, crumbs[0].fork_at, gap=True)
    return [root, *crumbs[1 - ANCESTORS_SHOWN :]]


def chips_of(prompt: PromptPlan | None, runs: int) -> list[Chip]:
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


def jumps_of(prompt: PromptPlan | None) -> list[Jump]:
    """Return the runs that a prompt makes worth a look: the first that it loses, and where the budget ended."""
    if prompt is None:
        return []
    lost = [fates.first for fates in prompt.fates if fates.fate is Fate.LOST]
    jumps = [Jump("First lost", min(lost), Fate.LOST)] if lost else []
    return [*jumps, Jump("Budget cut", prompt.cut.position, Fate.PRUNED)] if prompt.cut else jumps


def summary_work(session: Session) -> SummaryWork | None:
    """Return the newest entry of the ledger if it waits, is being worked on, or has failed and is tried again."""
    newest = Summary.objects.filter(session=session).select_related("predecessor").order_by("-number").first()
    if newest is None or newest.status in (SummaryStatus.COMPLETED, SummaryStatus.CANCELLED):
        return None
    if newest.status == SummaryStatus.FAILED and session.next_attempt_at is None:
        return None
    return SummaryWork(newest, newest.covers_from)


def newest_status(session: Session) -> RunStatus | None:
    """Return the state of the session's newest run of its own."""
    newest = Run.objects.filter(session=session, position=session.last_position)
    status = newest.values_list("status", flat=True).first()
    return RunStatus(status) if status else None
