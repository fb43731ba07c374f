"""Counts that stop at 10,000, so that they cost no more, whatever there is."""

from dataclasses import dataclass
from typing import Any

from django.db.models import IntegerField, QuerySet, Subquery

COUNTED_AT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class CappedCount:
    """A count; `at_least`: there are more than were counted."""

    value: int
    at_least: bool = False

    @classmethod
    def of(cls, counted: int) -> "CappedCount":
        """Return the count of rows among which one more was counted than is told."""
        return cls(min(counted, COUNTED_AT_MOST), counted > COUNTED_AT_MOST)

    def less(self, shown: int) -> "CappedCount":
        """Return how many are left besides those that are shown."""
        return CappedCount(self.value - shown, self.at_least)

    def __str__(self) -> str:
        return f"{self.value:,}{'+' if self.at_least else ''}"


class CountOf(Subquery):
    """The count of values other than null in a column of a subquery that is cut by `capped`."""

    template = "(SELECT COUNT(%(column)s) FROM (%(subquery)s) AS capped)"
    output_field = IntegerField()

    def __init__(self, rows: QuerySet[Any], column: str) -> None:
        super().__init__(rows.values(column), column=column)


def capped(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Cut rows where counting stops."""
    return rows.order_by()[: COUNTED_AT_MOST + 1]


def capped_count(rows: QuerySet[Any]) -> CappedCount:
    """Count rows, but not beyond 10,000."""
    return CappedCount.of(capped(rows).count())
