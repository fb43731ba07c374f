"""Trees of messages, in which an edited question or another answer is a branch, as paths from roots to ends.

Nothing here is recursive: a tree is as deep as its conversation is long.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sessions_app.domain.conversation_files import Path
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.transcript import NewRun

# Together, so that a tree of many long branches cannot fill the memory.
MOST_ON_PATHS = 500_000
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class MessageTree:
    """The kept messages of a tree by their ids: `parents` are the nearest kept ones, `children` in their order."""

    parents: Mapping[str, str | None]
    children: Mapping[str | None, Sequence[str]] = field(default_factory=dict)

    def paths(self, newest: str | None) -> list[list[str]]:
        """Return the path through `newest` first, then the others in the order of their branches."""
        ends = list(self._ends())
        active = self._end_below(newest)
        ends.sort(key=lambda end: end != active)
        paths, total = [], 0
        for end in ends:
            paths.append(self._path_to(end))
            total += len(paths[-1])
            if total > MOST_ON_PATHS:
                raise InvalidInput(f"Its branches have more than {MOST_ON_PATHS:,} messages together.")
        return paths

    def _ends(self) -> Iterator[str]:
        waiting = list(reversed(self.children.get(None, ())))
        while waiting:
            node = waiting.pop()
            below = self.children.get(node, ())
            if not below:
                yield node
            waiting.extend(reversed(below))

    def _end_below(self, node: str | None) -> str | None:
        while below := self.children.get(node, ()):
            node = below[-1]
        return node

    def _path_to(self, end: str) -> list[str]:
        path = [end]
        while (parent := self.parents[path[-1]]) is not None:
            path.append(parent)
        return path[::-1]


class PathReader:
    """Reads paths as runs; a run that several paths share is read once, by `read`."""

    def __init__(self, *, is_users: Callable[[str], bool], read: Callable[[tuple[str, ...]], NewRun]) -> None:
        self._is_users, self._read = is_users, read
        self._runs: dict[tuple[str, ...], NewRun] = {}

    def path(self, messages: Sequence[str]) -> Path:
        """Return a path; a user's message that follows anything else begins a run."""
        parted = tuple(self._parted(messages))
        for run in parted:
            if run not in self._runs:
                self._runs[run] = self._read(run)
        return Path(tuple(self._runs[run] for run in parted), parted)

    def _parted(self, messages: Sequence[str]) -> Iterator[tuple[str, ...]]:
        run: list[str] = []
        for message in messages:
            if run and self._is_users(message) and not self._is_users(run[-1]):
                yield tuple(run)
                run = []
            run.append(message)
        if run:
            yield tuple(run)


def kept_tree(
    parents: Mapping[str, str | None], order: Mapping[str, Sequence[str]], kept: Collection[str]
) -> tuple[MessageTree, Mapping[str, str | None]]:
    """Return the tree of the kept messages, the children of others handed to the nearest kept one above.

    With it comes for every message the kept one that stands for it. `order` is that of the children as far as it is
    told. Raises InvalidInput where a parent is missing or parents go round in a circle.
    """
    below: dict[str | None, list[str]] = defaultdict(list)
    for node, parent in parents.items():
        if parent is not None and parent not in parents:
            raise InvalidInput(f"Message {node[:_SHOWN]} names a parent that is not in the file: {parent[:_SHOWN]}.")
        below[parent].append(node)
    standing: dict[str, str | None] = {}
    kept_parents: dict[str, str | None] = {}
    children: dict[str | None, list[str]] = defaultdict(list)
    waiting: list[tuple[str, str | None]] = [(node, None) for node in reversed(below[None])]
    while waiting:
        node, above = waiting.pop()
        if node in kept:
            kept_parents[node] = above
            children[above].append(node)
        standing[node] = node if node in kept else above
        places = {child: place for place, child in enumerate(order.get(node, ()))}
        inner = sorted(below.get(node, ()), key=lambda child: places.get(child, len(places)))
        waiting.extend((child, standing[node]) for child in reversed(inner))
    if len(standing) < len(parents):
        lost = next(node for node in parents if node not in standing)
        raise InvalidInput(f"The parents of its messages go round in a circle, at message {lost[:_SHOWN]}.")
    return MessageTree(kept_parents, children), standing
