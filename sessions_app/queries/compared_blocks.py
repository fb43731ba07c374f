"""The rows of two prompts side by side: what is in both is told in a line, what differs with how its text begins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Literal

from sessions_app.domain.plan import Part, Prompt
from sessions_app.domain.side_by_side import Block, Pair

TEXT_SHOWN = 420
# Of a long beginning that both have, so much is shown.
LEAD_SHOWN = 60
FOLD_FROM = 9
SHOWN_AROUND = 3
MOST_RANGES = 4

_SYSTEM = (Part.INSTRUCTIONS, Part.PARENT_CONTEXT, Part.SUMMARY)
_Kind = Literal["same", "differs", "folded"]


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """A block of one prompt: what it is, its tokens, and its text, from where it differs on if that is far behind.

    `skipped` characters, as in the other, stand before what is shown, and `left_out` ones behind it.
    """

    part: Part
    words: str
    tokens: int
    text: str
    left_out: int
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """What is in both ("same"), a block beside the other's ("differs"), or many that one alone has ("folded").

    Of what is in both there are words, and the tokens in each; a folded row has words and tokens on one side.
    """

    kind: _Kind
    words: str = ""
    tokens_a: int | None = None
    tokens_b: int | None = None
    a: ComparedCell | None = None
    b: ComparedCell | None = None


def compared_rows(pairs: Sequence[Pair], a: Prompt, b: Prompt, *, one_by_one: bool) -> Iterator[ComparedRow]:
    """Yield the rows in order; neighbours that are in both are one row unless they are wanted one by one."""
    for (is_same, sides, place), group in groupby(pairs, key=_stretch):
        members = list(group)
        if is_same:
            stretches = [[pair] for pair in members] if one_by_one else [members]
            yield from (_same_row(stretch, place) for stretch in stretches)
        elif place == "runs" and len(sides) == 1 and len(members) >= FOLD_FROM:
            yield from (_row(pair, a, b) for pair in members[:SHOWN_AROUND])
            yield _folded(members[SHOWN_AROUND:-SHOWN_AROUND])
            yield from (_row(pair, a, b) for pair in members[-SHOWN_AROUND:])
        else:
            yield from (_row(pair, a, b) for pair in members)


def _stretch(pair: Pair) -> tuple[bool, str, str]:
    """Return what neighbours of one stretch have in common: whether they are the same, which sides, and the place."""
    sides = ("a" if pair.a else "") + ("b" if pair.b else "")
    part = pair.block.part
    if part is Part.RUNS:
        return pair.is_same, sides, "runs"
    return pair.is_same, sides, "head" if part in _SYSTEM or part is Part.TOOLS else "tail"


def _same_row(pairs: Sequence[Pair], place: str) -> ComparedRow:
    blocks = [pair.block for pair in pairs]
    words = _runs_words(blocks) if place == "runs" else _parts_words(blocks)
    ours, theirs = (
        sum(each.tokens for each in side if each) for side in zip(*((p.a, p.b) for p in pairs), strict=True)
    )
    return ComparedRow("same", words, ours, theirs)


def _folded(pairs: Sequence[Pair]) -> ComparedRow:
    blocks = [pair.block for pair in pairs]
    tokens, words = sum(block.tokens for block in blocks), _runs_words(blocks)
    return ComparedRow("folded", words, *((tokens, None) if pairs[0].a else (None, tokens)))


def _row(pair: Pair, a: Prompt, b: Prompt) -> ComparedRow:
    start = _first_shown(_text(pair.a), _text(pair.b)) if pair.a and pair.b else 0
    cells = [None if block is None else _cell(block, prompt, start) for block, prompt in ((pair.a, a), (pair.b, b))]
    return ComparedRow("differs", a=cells[0], b=cells[1])


def _first_shown(ours: str, theirs: str) -> int:
    """Return from where on two texts are shown: the beginning, unless they differ only far behind it."""
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))
    return common - LEAD_SHOWN if common > TEXT_SHOWN // 2 else 0


def _cell(block: Block, prompt: Prompt, start: int) -> ComparedCell:
    text = _text(block)
    return ComparedCell(
        part=block.part,
        words=_words(block, prompt),
        tokens=block.tokens,
        text=text[start : start + TEXT_SHOWN].rstrip(),
        left_out=max(0, len(text) - start - TEXT_SHOWN),
        skipped=start,
    )


def _text(block: Block) -> str:
    """Return what is said in it, one after the other, with the calls of tools."""
    said = [
        piece
        for segment in block.segments
        for piece in (segment.text, *(f"{name}({arguments})" for name, arguments in segment.calls))
        if piece
    ]
    return " → ".join(said)


def _words(block: Block, prompt: Prompt) -> str:
    if block.part is Part.SUMMARY and not block.heading.startswith("Extract") and prompt.summary_number:
        return f"system, summary #{prompt.summary_number} of runs 1–{prompt.covers_through:,}"
    if block.part is Part.RUNS:
        roles = list(dict.fromkeys(segment.role for segment in block.segments))
        return f"run {block.position:,}, {_listed(roles)}"
    if block.part is Part.QUERY and block.position:
        return f"query, run {block.position:,}"
    return block.heading or _part_word(block.part)


def _parts_words(blocks: Sequence[Block]) -> str:
    """Name parts of a prompt, each once."""
    named = dict.fromkeys(block.heading if block.part is Part.TOOLS else _part_word(block.part) for block in blocks)
    words = _listed(list(named))
    return f"System: {words}" if any(block.part in _SYSTEM for block in blocks) else words[:1].upper() + words[1:]


def _runs_words(blocks: Sequence[Block]) -> str:
    """Name runs as ranges."""
    ranges: list[tuple[int, int]] = []
    for block in blocks:
        position = block.position or 0
        if ranges and ranges[-1][1] == position - 1:
            ranges[-1] = (ranges[-1][0], position)
        else:
            ranges.append((position, position))
    if len(ranges) > MOST_RANGES:
        return f"{len(blocks):,} of the runs {ranges[0][0]:,}–{ranges[-1][1]:,}"
    words = _listed([f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in ranges])
    return f"Run{'' if len(blocks) == 1 else 's'} {words}"


def _part_word(part: Part) -> str:
    return part.value.replace("_", " ")


def _listed(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
