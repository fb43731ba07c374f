"""Rails of a tree: the lines that join rows of a list shown in preorder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


class TreeRow(Protocol):
    """A row of a tree in preorder; depth 0 is a root."""

    pk: Any
    depth: int


@dataclass(frozen=True, slots=True)
class Rails:
    """What one row draws: rails of levels that run on, an elbow from its parent, a stem to its children.

    The `inked` parts lie on the path from the root to the current row.
    """

    depth: int
    passing: tuple[int, ...]
    stem: bool
    inked_level: int | None = None
    inked_elbow: bool = False
    inked_stem: bool = False
    node: str = "node"


@dataclass(frozen=True, slots=True)
class RailSize:
    """Sizes in pixels: distance of levels, row height, first level's x, radius of a node, overlap into the next row."""

    lane: int
    height: int
    left: int
    radius: float
    overlap: int = 0


SIZES = {"table": RailSize(20, 36, 12, 3, 30), "sidebar": RailSize(13, 46, 9, 3.5)}
CARET_RADIUS = 8


@register.filter
def with_rails(rows: Sequence[TreeRow], current: Any = None) -> list[tuple[TreeRow, Rails]]:
    """Pair each row with its rails; the path to the row whose pk is `current` is inked."""
    depths = [row.depth for row in rows]
    path = _path(depths, next((i for i, row in enumerate(rows) if row.pk == current), None))
    return list(zip(rows, rails_of(depths, path), strict=True))


def rails_of(depths: Sequence[int], path: Sequence[int] = ()) -> list[Rails]:
    """Return the rails of rows given by their depths in preorder; `path` holds the indexes from root to current."""
    rails, running = [], set[int]()
    for depth in reversed(depths):
        passing = {level for level in running if level < depth}
        rails.append(Rails(depth, tuple(sorted(passing)), stem=depth in running))
        running = passing | ({depth - 1} if depth else set())
    return [_inked(row, index, depths, path) for index, row in enumerate(reversed(rails))]


@register.simple_tag
def graph(rails: Rails, size: str = "table", *, caret: int = 0) -> SafeString:
    """Draw the rails of one row; a row with a caret button has no node of its own."""
    s = SIZES[size]
    x, middle, radius = _x(s, rails.depth), s.height / 2, CARET_RADIUS if caret else s.radius
    lines = format_html_join("", '<path class="{}" d="{}"/>', _lines(rails, s, radius))
    circle = format_html('<circle class="{}" cx="{}" cy="{}" r="{}"/>', rails.node, x, middle, radius)
    return format_html(
        '<svg class="graph" width="{}" height="{}" aria-hidden="true">{}{}</svg>',
        x + 9,
        s.height,
        lines,
        "" if caret else circle,
    )


def _path(depths: Sequence[int], current: int | None) -> list[int]:
    if current is None:
        return []
    path = [current]
    for index in range(current - 1, -1, -1):
        if depths[index] == depths[path[-1]] - 1:
            path.append(index)
    return path[::-1]


def _inked(rails: Rails, index: int, depths: Sequence[int], path: Sequence[int]) -> Rails:
    if not path or not path[0] <= index <= path[-1]:
        return rails
    if index == path[-1]:
        return replace(rails, inked_elbow=True, node="node cur")
    if index in path:
        return replace(rails, inked_elbow=True, inked_stem=True, node="node on")
    return replace(rails, inked_level=depths[max(step for step in path if step < index)])


def _x(size: RailSize, level: int) -> int:
    return size.left + level * size.lane


def _lines(rails: Rails, s: RailSize, radius: float) -> list[tuple[str, str]]:
    middle, bottom, x = s.height / 2, s.height + s.overlap, _x(s, rails.depth)
    lines = [("on" if level == rails.inked_level else "", f"M{_x(s, level)} 0V{bottom}") for level in rails.passing]
    if rails.depth:
        left = _x(s, rails.depth - 1)
        curve = f"M{left} 0V{middle - 9}C{left} {middle} {left + 4} {middle} {x - radius - 1} {middle}"
        lines.append(("on" if rails.inked_elbow else "", curve))
    if rails.stem:
        lines.append(("on" if rails.inked_stem else "", f"M{x} {middle + radius}V{bottom}"))
    return lines
