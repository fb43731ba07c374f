"""A prompt that is one string, cut where one part of it ends and the next begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sessions_app.domain.plan import Part, Segment

MOST_PIECES = 500
RUN_SHOWN = 1_500
SECTION_SHOWN = 600


@dataclass(frozen=True, slots=True)
class SentText:
    """A piece of the string as it is sent, with the part that it is and the run that it comes from."""

    part: Part
    position: int | None
    text: str

    @property
    def start(self) -> str:
        """The beginning of the piece, which is shown at once."""
        return self.text[: self._shown]

    @property
    def rest(self) -> str:
        """What stands behind a fold."""
        return self.text[self._shown :]

    @property
    def _shown(self) -> int:
        return RUN_SHOWN if self.part is Part.RUNS else SECTION_SHOWN


def sent_texts(text: str, segments: Sequence[Segment]) -> list[SentText]:
    """Cut the string behind each part; labels belong to what they stand before, the last line to the frame.

    Where the string goes on behind the pieces that are told apart, or was cut itself, the rest is one piece.
    """
    pieces: list[SentText] = []
    start = 0
    for (part, position), group in groupby(_shown(segments), key=lambda segment: (segment.part, segment.position)):
        end = start
        for segment in group:
            found = text.find(segment.text, end)
            end = len(text) if found < 0 else found + len(segment.text)
        pieces.append(SentText(part, position, text[start:end].strip("\n")))
        start = end
        if len(pieces) == MOST_PIECES or start == len(text):
            break
    rest = text[start:].strip("\n")
    return [*pieces, SentText(Part.OVERHEAD, None, rest)] if rest else pieces


def _shown(segments: Sequence[Segment]) -> list[Segment]:
    return [segment for segment in segments if segment.part is not Part.TOOLS]
