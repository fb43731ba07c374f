"""How runs are written for a model: each thing said under who said it, indented, so that no text can pass for more.

    ## Run 7
    User:
        Is there a train at night?
    Tool call find_trains:
        {"to": "Lisbon"}
    Tool result:
        []
    Assistant:
        No, none.

Only what we write ourselves begins a line. A run that is too large is written in parts, "## Run 7, part 2 of 3".
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sessions_app.domain.as_sent import is_blank, message_parts, tool_name_as_sent
from sessions_app.domain.summaries import CHARACTERS_PER_TOKEN
from sessions_app.domain.text_cutting import last_that_fits
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus, ToolCall

INDENT = "    "
BETWEEN = "\n\n"
IMAGE = "[image]"
NOTHING_SAID = "(nothing was said)"
NO_ARGUMENTS = "(no arguments)"
NO_REASON = "(no reason was given)"
CONTINUED = " (continued)"
SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.SYSTEM: "System"}
ENDINGS = {RunStatus.FAILED: "The run failed", RunStatus.CANCELLED: "The run was cancelled"}
MOST_PARTS = 99_999

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Block:
    """One thing said or done in a run."""

    heading: str
    text: str

    @property
    def lines(self) -> str:
        """The block as it is written."""
        return f"{self.heading}:\n{indented(self.text)}\n"

    def cut(self, position: int) -> "tuple[Block, Block]":
        """Return the beginning and the rest, which says that it goes on."""
        heading = f"{self.heading.removesuffix(CONTINUED)}{CONTINUED}"
        return replace(self, text=self.text[:position]), Block(heading, self.text[position:])


def indented(text: str) -> str:
    """Return a text with every line, whatever ends it, behind the indent."""
    return "\n".join(INDENT + line for line in text.splitlines())


def written(run: Run) -> str:
    """Return a whole run."""
    return _heading(run) + "".join(block.lines for block in _blocks(run))


def in_pieces(runs: Iterable[Run], *, room: int, count: Count) -> list[str]:
    """Return the runs in pieces of at most `room` tokens, in order; a run larger than that in parts of its own."""
    pieces: list[str] = []
    left = 0
    for run in runs:
        text = written(run)
        tokens = count(text + BETWEEN)
        if pieces and tokens <= left:
            pieces[-1] += BETWEEN + text.rstrip("\n")
            left -= tokens
        elif tokens <= room:
            pieces.append(text.rstrip("\n"))
            left = room - tokens
        else:
            pieces += _parts(run, room, count)
            left = 0
    return pieces


def _parts(run: Run, room: int, count: Count) -> list[str]:
    heading = count(_heading(run, f", part {MOST_PARTS} of {MOST_PARTS}") + BETWEEN)
    parts = list(_filled(_blocks(run), room - heading, count))
    numbered = enumerate(parts, 1)
    return [_heading(run, f", part {n} of {len(parts)}") + text.rstrip("\n") for n, text in numbered]


def _filled(blocks: Iterable[Block], room: int, count: Count) -> Iterator[str]:
    """Yield the blocks in texts of at most so many tokens; one is cut where the room ends, unless little is left."""
    part, left = "", room
    for block in blocks:
        rest = block
        while not _fits(rest, left, count):
            position = _last_position(rest, left, count) if left > room // 4 else 0
            if position or not part:
                beginning, rest = rest.cut(position or 1)
                part += beginning.lines
            yield part
            part, left = "", room
        part, left = part + rest.lines, left - count(rest.lines)
    if part:
        yield part


def _fits(block: Block, room: int, count: Count) -> bool:
    # What is far too long is not counted again and again.
    return len(block.text) <= CHARACTERS_PER_TOKEN * room and count(block.lines) <= room


def _last_position(block: Block, room: int, count: Count) -> int:
    """Return where to cut a block so that its beginning fits: behind a line or a word, if one ends near; 0: nowhere."""
    # Roughly, since each try counts all of it, and the cut is moved to the end of a word anyway.
    step = max(1, room // 64)
    positions = range(step, len(block.text), step)
    last = last_that_fits(positions, lambda position: count(block.cut(position)[0].lines) <= room) or 0
    for mark in ("\n", " "):
        if (end := block.text.rfind(mark, last // 2, last)) > 0:
            return end + 1
    return last


def _heading(run: Run, part: str = "") -> str:
    return f"## Run {run.position}{part}\n"


def _blocks(run: Run) -> list[Block]:
    blocks = [block for event in run.events for block in _blocks_of(event) if not is_blank(block.text)]
    if run.status in ENDINGS:
        blocks.append(Block(ENDINGS[run.status], run.error if not is_blank(run.error) else NO_REASON))
    return blocks or [Block("Nothing", NOTHING_SAID)]


def _blocks_of(event: Event) -> Iterator[Block]:
    if event.tool is not None:
        yield from _call_blocks(event.tool)
    elif event.kind is EventKind.MESSAGE and event.role is not Role.SYSTEM:
        texts = [part if isinstance(part, str) else IMAGE for part in message_parts(event)]
        yield Block(SPEAKERS[event.role or Role.USER], "\n".join(texts))
    elif event.kind is not EventKind.REASONING:
        yield Block(SPEAKERS[event.role] if event.role else "Note", event.text)


def _call_blocks(call: ToolCall) -> Iterator[Block]:
    yield Block(f"Tool call {tool_name_as_sent(call.name)}", call.arguments if call.arguments.strip() else NO_ARGUMENTS)
    yield Block("Tool result", call.result or "")
    yield Block("Tool error", call.error or "")
