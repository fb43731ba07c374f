"""The whole tree around a session, as bots read it."""

from sessions_app.models import Session, ancestors_of

MOST_NODES = 1_000


def tree_around(session: Session) -> tuple[list[Session], bool]:
    """Return up to 1,000 sessions of a tree, nearest to the root first, and whether there are more.

    The session itself and its ancestors are always among them.
    """
    tree = Session.objects.in_tree_of(session).select_related("parent").order_by("depth", "pk")
    nodes = list(tree[: MOST_NODES + 1])
    if len(nodes) <= MOST_NODES:
        return nodes, False
    present = {node.pk for node in nodes[:MOST_NODES]}
    missing = [node for node in (session, *ancestors_of(session)) if node.pk not in present][:MOST_NODES]
    return [*nodes[: MOST_NODES - len(missing)], *missing[::-1]], True
