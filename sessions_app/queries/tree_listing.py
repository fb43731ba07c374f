"""The whole tree around a session, as bots read it."""

from itertools import islice

from sessions_app.models import Session, ancestors_of

MOST_NODES = 1_000


def tree_around(session: Session) -> tuple[list[Session], bool]:
    """Return up to 1,000 sessions of a tree, nearest to the root first, and whether there are more.

    The session itself and its ancestors, of very many the nearest, are always among them.
    """
    tree = Session.objects.in_tree_of(session).select_related("parent").order_by("depth", "pk")
    nodes = list(tree[: MOST_NODES + 1])
    if len(nodes) <= MOST_NODES:
        return nodes, False
    path = list(islice((session, *ancestors_of(session)), MOST_NODES))
    on_path = {node.pk for node in path}
    others = [node for node in nodes if node.pk not in on_path][: MOST_NODES - len(path)]
    return sorted([*path, *others], key=lambda node: (node.depth, node.pk)), True
