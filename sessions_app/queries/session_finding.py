"""Which runs of one conversation hold the words that are looked for, and which of those runs a page shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.domain.search_words import Sought
from sessions_app.models import Session, lineage_of
from sessions_app.models.lineages import runs_in
from sessions_app.models.search_index import places_of
from sessions_app.queries.bands import Span

MOST_FOUND = 1_000
# Of those found, how many are shown on either side of the one that is looked at, and runs around each.
BESIDE = 4
AROUND = 1


@dataclass(frozen=True, slots=True)
class Found:
    """The runs that hold the words, oldest first, and the place among them, from 1, of the one that is looked at.

    `more`: there are others, older than these; `unread`: the words are so common that older ones were not looked for.
    """

    positions: Sequence[int]
    place: int
    more: bool
    unread: bool

    @property
    def position(self) -> int | None:
        """The run that is looked at."""
        return self.positions[self.place - 1] if self.positions else None

    @property
    def following(self) -> int | None:
        """The run that holds the words next; behind the newest it is the oldest again."""
        return self.positions[self.place % len(self.positions)] if self.positions else None

    @property
    def previous(self) -> int | None:
        """The run that holds the words before this; before the oldest it is the newest again."""
        return self.positions[self.place - 2] if self.positions else None

    @property
    def shown(self) -> Sequence[int]:
        """The runs around the one that is looked at."""
        return self.positions[max(0, self.place - 1 - BESIDE) : self.place + BESIDE]

    @property
    def spans(self) -> list[Span]:
        """What is shown: each of those with its neighbours."""
        return [Span(max(1, position - AROUND), position + AROUND) for position in self.shown]


def find_in_session(sought: Sought, *, session: Session, at: int | None) -> Found:
    """Return the runs that hold all terms in one text; `at` is the run to look at, or the next that holds them."""
    stretches = lineage_of(session)
    runs = runs_in(stretches)
    places = places_of([stretch.session.pk for stretch in stretches], sought, project_pk=session.project_id)
    holders = places.runs_among(runs) if places else runs.none()
    newest = list(holders.order_by("-position").values_list("position", flat=True)[: MOST_FOUND + 1])
    positions = sorted(newest[:MOST_FOUND])
    place = next((place for place, position in enumerate(positions, 1) if position >= (at or 1)), len(positions))
    unread = places is not None and not places.are_all_read()
    return Found(positions, place, len(newest) > MOST_FOUND, unread)
