"""Tokens of ranges of runs, from the sums that each run keeps of all before it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sessions_app.models import Session, lineage_runs_at

_READ = ("tokens_before_o200k", "tokens_o200k", "created_at")


@dataclass(frozen=True, slots=True)
class TokenSums:
    """Tokens in o200k_base before and of chosen positions of one lineage, and when these runs began."""

    before: Mapping[int, int]
    own: Mapping[int, int]
    begun: dict[int, datetime]

    def through(self, position: int) -> int:
        """Tokens of the runs 1..position, one of the chosen."""
        return self.before.get(position, 0) + self.own.get(position, 0)

    def between(self, first: int, last: int) -> int:
        """Tokens of the runs first..last, both of them chosen."""
        return self.through(last) - self.before.get(first, 0)


def token_sums(session: Session, positions: Collection[int]) -> TokenSums:
    """Read the sums at some positions of a session's lineage, in one query."""
    rows = lineage_runs_at(session, positions)
    sums = {row[0]: row[1:] for row in rows.values_list("position", *_READ)}
    before, own, begun = ({position: row[place] for position, row in sums.items()} for place in range(len(_READ)))
    return TokenSums(before, own, begun)
