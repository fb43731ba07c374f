"""Two built prompts aligned: what stands in both, in one of them alone, or otherwise in each."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from sessions_app.domain.plan import Part, Prompt, Segment

_ORDER = tuple(Part)
# Others have a heading or none, whatever stands beside them.
_NAMED_BY_HEADING = frozenset({Part.PARENT_CONTEXT, Part.SUMMARY})
_Key = tuple[Part, int | None, str, int]


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring segments of a prompt that belong together: a section of the system block, a run, the question."""

    part: Part
    position: int | None
    heading: str
    segments: tuple[Segment, ...]

    @property
    def tokens(self) -> int:
        """What it needs."""
        return sum(segment.tokens for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Pair:
    """A block of A beside the same of B; None where the other prompt does not have it."""

    a: Block | None
    b: Block | None

    @property
    def is_same(self) -> bool:
        """Whether both send it, word for word."""
        return self.a is not None and self.b is not None and _said(self.a) == _said(self.b)

    @property
    def block(self) -> Block:
        """The block of B, or that of A where B has none."""
        return next(block for block in (self.b, self.a) if block is not None)


def side_by_side(a: Prompt, b: Prompt) -> list[Pair]:
    """Align two prompts of one conversation, in the order in which they are sent; its cost is linear."""
    return list(_pairs(_blocks(a.segments), _blocks(b.segments)))


def shared_beginning(pairs: Sequence[Pair]) -> int:
    """Return the tokens of the blocks, their headings included, with which both prompts begin."""
    return sum(pair.block.tokens for pair in takewhile(_begins_alike, pairs))


def _begins_alike(pair: Pair) -> bool:
    return pair.is_same and pair.a is not None and pair.a.heading == pair.block.heading


def _pairs(ours: Mapping[_Key, Block], theirs: Mapping[_Key, Block]) -> Iterator[Pair]:
    places = {key: place for place, key in enumerate(theirs)}
    new = deque(key for key in theirs if key not in ours)
    for key, block in ours.items():
        place = places.get(key)
        while new and (places[new[0]] < place if place is not None else _is_earlier(new[0], key)):
            yield Pair(None, theirs[new.popleft()])
        yield Pair(block, theirs.get(key))
    yield from (Pair(None, theirs[key]) for key in new)


def _is_earlier(one: _Key, other: _Key) -> bool:
    return (_ORDER.index(one[0]), one[1] or 0) < (_ORDER.index(other[0]), other[1] or 0)


def _blocks(segments: Sequence[Segment]) -> dict[_Key, Block]:
    """Return the blocks in order; those that look alike are counted."""
    blocks: dict[_Key, Block] = {}
    seen: Counter[tuple[Part, int | None, str]] = Counter()
    for name, group in groupby(segments, key=lambda segment: (segment.part, segment.position, segment.heading)):
        part, position, heading = name
        alike = (part, position, heading if part in _NAMED_BY_HEADING else "")
        seen[alike] += 1
        blocks[*alike, seen[alike]] = Block(part, position, heading, tuple(group))
    return blocks


def _said(block: Block) -> list[tuple[str, str, tuple[tuple[str, str], ...]]]:
    return [(segment.role, segment.text, segment.calls) for segment in block.segments]
