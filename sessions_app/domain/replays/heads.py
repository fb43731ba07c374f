"""What stands before the runs in replayed prompts: instructions, parents' contexts and a simulated summary."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sessions_app.domain.deciding import Terms
from sessions_app.domain.handed_down import HeadRoom, hand_down
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.pieces import Head, Piece, segments_of, tokens_of
from sessions_app.domain.plan import Part
from sessions_app.domain.text_cutting import CUT_MARK
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import ParentContext, SummaryEntry

# One token in each encoding that is carried, behind itself too.
WORD = "word"
# No summarizer writes more, and each turn may need another part of it.
LONGEST_SUMMARY = 16_384
_MOST_CUT_HEADS = 256


def simulated_summary(covers_through: int, *, tokens: int, counter: TokenCounter) -> SummaryEntry:
    """Return a summary of so many tokens, LONGEST_SUMMARY at most, or one word if that is more; a word needs one."""
    words = max(1, _words_of(tokens, counter))
    return SummaryEntry(f"simulated {covers_through}", 1, covers_through, " ".join([WORD] * words))


@dataclass(frozen=True, slots=True, eq=False)
class ReplayedHead:
    """The messages before the runs, whichever runs of so many digits the summary in them covers, if there is one."""

    pieces: Sequence[Piece]
    tokens: int
    has_summary: bool

    @property
    def needs(self) -> dict[str, int]:
        """Tokens by name of the part."""
        needs: Counter[str] = Counter()
        for segment in segments_of(self.pieces):
            needs[segment.part.value] += segment.tokens
        return dict(needs)


@dataclass(slots=True)
class ReplayedHeads:
    """Fills the room that the question leaves as prompts do, each head being rendered once.

    Numbers of as many digits need as many tokens, so that heads differ only by the digits of the run through which the
    summary covers, and by how many of its words fit.
    """

    terms: Terms
    instructions: str
    parents: Sequence[ParentContext] = ()
    bare: ReplayedHead = field(init=False)
    _whole: dict[int, ReplayedHead] = field(init=False, default_factory=dict)
    _by_digits: dict[int, ReplayedHead] = field(init=False, default_factory=dict)
    _cut: dict[tuple[int, int], ReplayedHead] = field(init=False, default_factory=dict)
    _cuts: dict[int, "_Cuts"] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.bare = self._rendered(self.terms.bare_head(self.instructions))

    def head(self, covered: int, room: int) -> ReplayedHead:
        """Return the head with a summary of the runs 1..covered (0: none) in at most `room` more tokens."""
        whole = self._whole.get(covered) or self.whole(covered)
        if whole.tokens - self.bare.tokens <= room:
            return whole
        return self._handed(_digits(covered), room) if self.parents else self._with_words(_digits(covered), room)

    def whole(self, covered: int) -> ReplayedHead:
        """Return the head with nothing cut for want of room."""
        if covered not in self._whole:
            digits = _digits(covered)
            if digits not in self._by_digits:
                self._by_digits[digits] = self._handed(digits, LARGEST_INTEGER)
            self._whole[covered] = self._by_digits[digits]
        return self._whole[covered]

    def _handed(self, digits: int, room: int) -> ReplayedHead:
        terms, summary = self.terms, self._summary(digits)
        head_room = HeadRoom(terms.renderer, terms.counter, terms.bare_head(self.instructions), room)
        handed = hand_down(head_room, summary=summary, parents=self.parents, settings=terms.values)
        return ReplayedHead(handed.pieces, tokens_of(handed.pieces), handed.summary is not None)

    def _summary(self, digits: int) -> SummaryEntry | None:
        if not digits:
            return None
        limit = self.terms.values.max_summary_tokens
        return simulated_summary(10 ** (digits - 1), tokens=limit, counter=self.terms.counter)

    def _with_words(self, digits: int, room: int) -> ReplayedHead:
        """Return the head with as many words of the summary, marked, as fit."""
        if digits not in self._cuts:
            self._cuts[digits] = _Cuts.measured(self.terms, self._cut_head(digits, 1), self.bare.tokens)
        words = self._cuts[digits].words(room)
        if words < 1:
            return self.bare
        if len(self._cut) >= _MOST_CUT_HEADS:
            self._cut.clear()
        if (digits, words) not in self._cut:
            self._cut[digits, words] = self._rendered(self._cut_head(digits, words))
        return self._cut[digits, words]

    def _cut_head(self, digits: int, words: int) -> Head:
        text = " ".join([WORD] * words) + CUT_MARK
        bare = self.terms.bare_head(self.instructions)
        return replace(bare, summary=text, covers_through=10 ** (digits - 1))

    def _rendered(self, head: Head) -> ReplayedHead:
        pieces = self.terms.renderer.render_head(head, self.terms.counter)
        return ReplayedHead(pieces, tokens_of(pieces), bool(head.summary))


def _words_of(tokens: int, counter: TokenCounter) -> int:
    return counter.raw_limit(min(tokens, LONGEST_SUMMARY))


def _digits(covered: int) -> int:
    return len(str(covered)) if covered else 0


@dataclass(frozen=True, slots=True)
class _Cuts:
    """How many words of a summary fit: its message needs `stem` and one for each, without margin, others `others`."""

    counter: TokenCounter
    stem: int
    others: int
    most: int

    @classmethod
    def measured(cls, terms: Terms, head: Head, bare: int) -> "_Cuts":
        """Measure with a head whose summary is one word, marked; `bare` is what it needs without a summary."""
        raw = replace(terms.counter, margin=TokenCounter().margin)
        pieces = terms.renderer.render_head(head, raw)
        stem = next(piece.tokens for piece in pieces if any(each.part is Part.SUMMARY for each in piece.segments))
        summary = _words_of(terms.values.max_summary_tokens, terms.counter)
        others = tokens_of(terms.renderer.render_head(head, terms.counter)) - terms.counter.scaled(stem) - bare
        most = min(summary - (raw.text(head.summary) - 1), max(1, summary) - 1)
        return cls(terms.counter, stem - 1, others, most)

    def words(self, room: int) -> int:
        """Return how many words fit, less than one if none does."""
        return min(self.counter.raw_limit(room - self.others) - self.stem, self.most)


def common_head_tokens(one: ReplayedHead, other: ReplayedHead, *, same_summary: bool) -> tuple[int, bool]:
    """Return what the messages need with which both heads begin, and whether these are all that both have."""
    if one is other and (same_summary or not one.has_summary):
        return one.tokens, True
    tokens = 0
    for ours, theirs in zip(one.pieces, other.pieces, strict=False):
        is_summary = any(segment.part is Part.SUMMARY for segment in ours.segments)
        if ours.message != theirs.message or (is_summary and not same_summary):
            return tokens, False
        tokens += ours.tokens
    return tokens, len(one.pieces) == len(other.pieces)
