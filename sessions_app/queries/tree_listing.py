"""The whole tree around a session, as bots read it."""

from sessions_app.models import Session, ancestors_of
from sessions_app.models.sessions import SessionQuerySet

MOST_NODES = 1_000
_COLUMNS = (
    "public_id",
    "title",
    "parent__public_id",
    "forked_at",
    "depth",
    "last_position",
    "tokens_o200k",
    "shared_tokens_o200k",
    "updated_at",
)


def tree_around(session: Session) -> tuple[list[Session], bool]:
    """Return up to 1,000 sessions of a tree, nearest to the root first, and whether there are more.

    The session itself and its ancestors, of very many the nearest, are always among them.
    """
    tree: SessionQuerySet = Session.objects.in_tree_of(session).select_related("parent").only(*_COLUMNS)
    nodes = list(tree.order_by("depth", "pk")[: MOST_NODES + 1])
    if len(nodes) <= MOST_NODES:
        return nodes, False
    path = {session.pk, *(ancestor.pk for ancestor in ancestors_of(session, at_most=MOST_NODES - 1))}
    others = [node for node in nodes if node.pk not in path][: MOST_NODES - len(path)]
    return sorted([*tree.filter(pk__in=path), *others], key=lambda node: (node.depth, node.pk)), True
