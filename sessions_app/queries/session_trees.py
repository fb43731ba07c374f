"""Rows of the tree table in preorder: roots with the children that are open, or search hits under their ancestors."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import OuterRef, Subquery

from sessions_app.models import Project, Session
from sessions_app.models.sessions import CHILD_START
from sessions_app.queries.session_rows import MoreChildren, SessionRow, session_rows, with_row_columns

CHILDREN_SHOWN = 25
OPEN_AT_MOST = 100
ANCESTORS_SHOWN = 12

_PARENT_COLUMNS = ["__".join(["parent"] * level) for level in range(1, ANCESTORS_SHOWN + 1)]
_SIBLING_ORDER = (CHILD_START, "pk")

Children = Mapping[int, Sequence[SessionRow]]


@dataclass(frozen=True, slots=True)
class Tree:
    """Rows of one tree in preorder; `root_id` is its first row's id, `opens` whether its sessions can be opened."""

    root_id: str
    rows: Sequence[SessionRow | MoreChildren]
    opens: bool


def trees_of(
    roots: Sequence[Session], *, project: Project, default_model: str, open_ids: Iterable[str] = ()
) -> list[Tree]:
    """Return a tree for each root, open where `open_ids` says so; the number of queries is the same for any number."""
    wanted = list(open_ids)[:OPEN_AT_MOST]
    open_pks = set(Session.objects.filter(project=project, public_id__in=wanted).values_list("pk", flat=True))
    rows = session_rows([*roots, *_first_children(open_pks)], project=project, default_model=default_model)
    children: dict[int, list[SessionRow]] = defaultdict(list)
    for row in rows[len(roots) :]:
        children[row.parent_pk or 0].append(row)
    tops = [
        row if children.get(row.pk) else replace(row, active_at=root.tree_active_at)
        for root, row in zip(roots, rows, strict=False)
    ]
    return [Tree(top.public_id, list(_with_children(top, children)), opens=True) for top in tops]


def trees_around(hits: Sequence[Session], *, project: Project, default_model: str) -> list[Tree]:
    """Return the hits under their nearest ancestors, tree by tree in the order of the first hit of each."""
    sought = {hit.pk for hit in hits}
    missing = _ancestor_pks(sought) - sought
    ancestors = with_row_columns(Session.objects.filter(pk__in=missing))
    rows = session_rows([*hits, *ancestors], project=project, default_model=default_model, unsought=frozenset(missing))
    by_pk = {row.pk: row for row in rows}
    children: dict[int, list[SessionRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.forked_at or 0, row.pk)):
        children[row.parent_pk or 0].append(row)
    tops = [by_pk[pk] for pk in dict.fromkeys(_top(row, by_pk).pk for row in rows)]
    return [Tree(top.public_id, list(_with_hits(top, children, top.depth)), opens=False) for top in tops]


def _first_children(parents: set[int]) -> list[Session]:
    """Return the first children of each parent: their keys from an index, place by place, then only their rows."""
    children = Session.objects.filter(parent=OuterRef("pk")).order_by(*_SIBLING_ORDER).values("pk")
    places = [Subquery(children[place : place + 1]) for place in range(CHILDREN_SHOWN)]
    firsts = Session.objects.filter(pk__in=parents).values_list(*places)
    pks = {pk for first in firsts for pk in first if pk is not None}
    return list(with_row_columns(Session.objects.filter(pk__in=pks)).order_by(*_SIBLING_ORDER))


def _with_children(row: SessionRow, children: Children) -> Iterator[SessionRow | MoreChildren]:
    below = children.get(row.pk, ())
    yield replace(row, expanded=bool(below))
    for place, child in enumerate(below, 1):
        siblings = None if row.child_count.at_least else row.child_count.value
        yield from _with_children(replace(child, place=place, siblings=siblings), children)
    if below and row.child_count.value > len(below):
        yield MoreChildren(row.public_id, row.depth + 1, row.child_count.less(len(below)))


def _with_hits(row: SessionRow, children: Children, depth_of_top: int) -> Iterator[SessionRow]:
    yield replace(row, depth=row.depth - depth_of_top)
    for child in children.get(row.pk, ()):
        yield from _with_hits(child, children, depth_of_top)


def _ancestor_pks(sessions: set[int]) -> set[int]:
    chains = Session.objects.filter(pk__in=sessions).values_list(*_PARENT_COLUMNS)
    return {pk for chain in chains for pk in chain if pk is not None}


def _top(row: SessionRow, by_pk: Mapping[int, SessionRow]) -> SessionRow:
    while (parent := by_pk.get(row.parent_pk or 0)) is not None:
        row = parent
    return row
