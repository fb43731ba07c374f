"""The form of an extractive summary: the goal, then lines "- speaker: pieces", oldest first, read and written.

An empty line parts what is from the conversation's beginning from what was said since then. It is only there once not
everything fits, and it is all that a summary tells of its own history.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Protocol

from sessions_app.domain.summarizers.sentences import can_share_a_line

GOAL = "Goal: "
CONTINUED = "  "
NOTHING_SAID = "Nothing was said in words."
USER, ASSISTANT, TOOL, SYSTEM, NOTE = "User", "Assistant", "Tool", "System", "Note"
SPEAKERS = frozenset({USER, ASSISTANT, TOOL, SYSTEM, NOTE})
# What one speaker says is gathered in lines that end where they get longer.
LONGEST_LINE = 240


class Age(IntEnum):
    """When something was said: in the conversation's beginning, later, or in the runs that are new now."""

    BEGINNING = 0
    SINCE = 1
    NEW = 2


@dataclass(frozen=True, slots=True)
class Said:
    """One message, result of a tool or line of the predecessor."""

    speaker: str
    text: str
    age: Age = Age.NEW


@dataclass(frozen=True, slots=True)
class Memory:
    """What a predecessor says; `is_parted` tells whether it keeps its beginning apart."""

    goal: str
    said: list[Said]
    is_parted: bool


class Kept(Protocol):
    """A piece that is kept."""

    @property
    def place(self) -> int:
        """Its place among all pieces."""

    @property
    def speaker(self) -> str:
        """Who says it, empty if nobody knows."""

    @property
    def text(self) -> str:
        """What is said."""

    @property
    def age(self) -> Age:
        """When it was said."""


def read_memory(text: str) -> Memory:
    """Split a predecessor into its goal and its lines; one that a person or a model wrote has lines of nobody."""
    goal, age, is_parted = "", Age.BEGINNING, False
    said: list[Said] = []
    for line in text.splitlines():
        speaker, separator, words = line.removeprefix("- ").partition(": ")
        if line.startswith(GOAL) and not goal and not said:
            goal = line.removeprefix(GOAL)
        elif line.startswith("- ") and separator and speaker in SPEAKERS:
            said.append(Said(speaker, words, age))
        elif line.startswith(CONTINUED) and said and line.strip():
            said[-1] = replace(said[-1], text=f"{said[-1].text}\n{line.strip()}")
        elif line.strip():
            said += [Said("", line, age)] if line != NOTHING_SAID else []
        elif said and said[-1].speaker:
            age, is_parted = Age.SINCE, True
    return Memory(goal, said, is_parted)


def written(heading: str, kept: Iterable[Kept], *, is_parted: bool) -> str:
    """Return the summary of the kept pieces, which it puts in order, oldest first."""
    lines = [heading] if heading else []
    before: Kept | None = None
    for piece in sorted(kept, key=lambda piece: piece.place):
        parts = is_parted and before is not None and before.age is Age.BEGINNING < piece.age
        lines += [""] if parts else []
        if before is None or parts or piece.speaker != before.speaker or not _goes_on(piece, lines[-1]):
            lines.append(f"- {piece.speaker}: {piece.text}" if piece.speaker else piece.text)
        elif can_share_a_line(before.text, piece.text):
            lines[-1] += f" {piece.text}"
        else:
            lines.append(CONTINUED + piece.text)
        before = piece
    return "\n".join(lines)


def _goes_on(piece: Kept, line: str) -> bool:
    """Whether a piece stands behind what the same speaker says, which gets no longer than a few sentences."""
    return piece.speaker not in ("", TOOL) and len(line) < LONGEST_LINE
