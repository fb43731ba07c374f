"""Which pieces are kept: those that are worth the most for their length, in shares of the room.

Once not everything fits, a share belongs to the conversation's beginning, which governs the rest of it, a share to what
is new, and the rest to whatever is worth the most.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.summarizers.memory_lines import Age, written
from sessions_app.domain.summarizers.scoring import Piece, rank_of

SHARE_OF_BEGINNING = 0.55
SHARE_OF_NEW = 0.15
# After so many pieces that do not fit, the room that is left is not worth the search.
MOST_MISSES = 20
# What a piece needs besides its text, about. What the whole really needs is counted, and the room that is left filled.
FRAME = 2
MOST_ROUNDS = 4


@dataclass
class Choice:
    """The pieces taken so far, in the order of their worth; `overflows` says that not everything fitted."""

    request: SummaryRequest
    heading: str
    room: int
    taken: list[Piece] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    spent: int = 0
    overflows: bool = False

    @classmethod
    def of(cls, pieces: Sequence[Piece], request: SummaryRequest, heading: str) -> "Choice":
        """Return what is kept of the pieces beside the heading."""
        choice = cls(request, heading, request.max_tokens - request.count_tokens(f"{heading}\n") * bool(heading))
        rest = choice._take(_of_age(pieces, Age.BEGINNING), SHARE_OF_BEGINNING)
        rest += choice._take(_of_age(pieces, Age.NEW), choice.spent / max(1, choice.room) + SHARE_OF_NEW)
        rest += _of_age(pieces, Age.SINCE)
        for _ in range(MOST_ROUNDS):
            count = len(choice.taken)
            rest = choice._take(rest, 1.0)
            if len(choice.taken) == count:
                break
            choice.spent = request.count_tokens(choice._text(is_parted=True)) - request.max_tokens + choice.room
        return choice

    def written(self, *, is_parted: bool) -> str:
        """Return the summary; what was taken last gives way where the whole turns out too long."""
        text = self._text(is_parted=is_parted)
        while self.taken and not self.request.fits(text):
            self.taken.pop()
            text = self._text(is_parted=is_parted)
        return text

    def _text(self, *, is_parted: bool) -> str:
        return written(self.heading, self.taken, is_parted=is_parted)

    def _take(self, pieces: Iterable[Piece], share: float) -> list[Piece]:
        """Take the best pieces until that share of the room is spent; return the others."""
        queue = [(-rank_of(piece, self.known), -piece.place, piece) for piece in pieces]
        heapq.heapify(queue)
        left: list[Piece] = []
        while queue and len(left) < MOST_MISSES:
            _, newness, piece = heapq.heappop(queue)
            rank = -rank_of(piece, self.known)
            if queue and rank > queue[0][0]:
                heapq.heappush(queue, (rank, newness, piece))
            elif not self._fits(piece, share):
                left.append(piece)
        return left + [piece for _, _, piece in queue]

    def _fits(self, piece: Piece, share: float) -> bool:
        cost = self.request.count_tokens(piece.text) + FRAME
        if self.spent + cost > share * self.room:
            self.overflows = True
            return False
        self.spent += cost
        self.known |= piece.words
        self.taken.append(piece)
        return True


def _of_age(pieces: Iterable[Piece], age: Age) -> list[Piece]:
    return [piece for piece in pieces if piece.age is age]
