"""A prompt that is one string, cut where one part of it ends and the next begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sessions_app.domain.plan import Part, Segment

MOST_PIECES = 500
RUN_SHOWN = 1_500
SECTION_SHOWN = 600
LEAST_FOLDED = 300


@dataclass(frozen=True, slots=True)
class SentText:
    """A piece of the string as it is sent, with the part that it is and the run that it comes from.

    `is_stopgap` says that it is an extract of runs that are not summarized.
    """

    part: Part
    position: int | None
    text: str
    is_stopgap: bool = False

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
        shown = RUN_SHOWN if self.part is Part.RUNS else SECTION_SHOWN
        return shown if len(self.text) - shown >= LEAST_FOLDED else len(self.text)


def sent_texts(text: str, segments: Sequence[Segment], *, has_extract: bool) -> list[SentText]:
    """Cut the string behind each part; labels belong to what they stand before, the last line to the frame.

    With `has_extract` the last piece of the summary is one. Where the string goes on behind the pieces that are told
    apart, or was cut itself, the rest is one piece.
    """
    pieces: list[SentText] = []
    start = 0
    shown = [segment for segment in segments if segment.part is not Part.TOOLS]
    summaries = [segment for segment in shown if segment.part is Part.SUMMARY]
    extract = summaries[-1] if has_extract and summaries else None
    for (part, position, is_extract), group in groupby(
        shown, key=lambda segment: (segment.part, segment.position, segment is extract)
    ):
        end = start
        for segment in group:
            found = text.find(segment.text, end)
            end = len(text) if found < 0 else found + len(segment.text)
        pieces.append(SentText(part, position, text[start:end].strip("\n"), is_extract))
        start = end
        if len(pieces) == MOST_PIECES or start == len(text):
            break
    rest = text[start:].strip("\n")
    return [*pieces, SentText(Part.OVERHEAD, None, rest)] if rest else pieces
