"""What the import page reads: an import, its report page by page, and the imports before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from sessions_app.domain.file_formats import FILE_FORMATS
from sessions_app.models import Import, ImportedConversation, ImportOutcome, ImportStatus, Project, Session

ROWS_AT_ONCE = 50
EARLIER_SHOWN = 20


class Shown(StrEnum):
    """Which conversations of a report are shown."""

    ALL = "all"
    ERRORS = "errors"
    UNCHANGED = "unchanged"


OUTCOMES: Mapping[Shown, tuple[ImportOutcome, ...]] = {
    Shown.ALL: tuple(ImportOutcome),
    Shown.ERRORS: (ImportOutcome.CHANGED, ImportOutcome.INVALID),
    Shown.UNCHANGED: (ImportOutcome.UNCHANGED,),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import came, in conversations by outcome and in percent of the file."""

    imported: int
    extended: int
    unchanged: int
    errors: int
    percent: int
    is_running: bool

    @property
    def done(self) -> int:
        """How many conversations have been read."""
        return self.imported + self.extended + self.unchanged + self.errors

    @property
    def bar(self) -> Sequence[tuple[str, int]]:
        """The parts of the bar; what is left is told by the bytes of the file that were not read yet."""
        shares = (("kept", self.imported + self.extended), ("skipped", self.unchanged), ("lost", self.errors))
        read = [(fate, 100 * self.percent * amount // max(self.done, 1)) for fate, amount in shares]
        return [*read, ("free", 100 * (100 - self.percent))]

    @property
    def sentence(self) -> str:
        """The same in words."""
        new = f"{self.imported} imported, {self.extended} extended"
        return f"{new}, {self.unchanged} unchanged, {self.errors} with errors; {self.percent} % of the file read"


@dataclass(frozen=True, slots=True)
class Report:
    """A page of the report, in the order of the file; `next_after` is where the next one starts."""

    shown: Shown
    rows: Sequence[ImportedConversation]
    next_after: int | None


def outcomes_of(work: Import) -> Mapping[ImportOutcome, int]:
    """Return how many conversations of an import came to each outcome."""
    grouped = dict(work.conversations.order_by().values_list("outcome").annotate(Count("pk")))
    return {outcome: grouped.get(outcome, 0) for outcome in ImportOutcome}


def progress_of(work: Import) -> Progress:
    """Return how far an import came."""
    counts = outcomes_of(work)
    return Progress(
        imported=counts[ImportOutcome.IMPORTED],
        extended=counts[ImportOutcome.EXTENDED],
        unchanged=counts[ImportOutcome.UNCHANGED],
        errors=sum(counts[outcome] for outcome in OUTCOMES[Shown.ERRORS]),
        percent=100 * work.done_bytes // max(work.size, 1),
        is_running=work.status in (ImportStatus.PENDING, ImportStatus.RUNNING),
    )


def report_of(work: Import, *, shown: Shown, after: int) -> Report:
    """Return the conversations of the report behind the place `after`, each with the number of `forks` in its tree."""
    rows = work.conversations.filter(outcome__in=OUTCOMES[shown], place__gt=after)
    told = rows.select_related("session").annotate(forks=Coalesce(Subquery(_forks()), 0))
    page = list(told.order_by("place")[: ROWS_AT_ONCE + 1])
    more = page[ROWS_AT_ONCE - 1].place if len(page) > ROWS_AT_ONCE else None
    return Report(shown, page[:ROWS_AT_ONCE], more)


def _forks() -> QuerySet[Session, Any]:
    """Count the forks in the tree of a row's session."""
    forks = Session.objects.filter(root=OuterRef("session__root"), forked_at__isnull=False).order_by()
    return forks.values("root").annotate(count=Count("pk")).values("count")


def earlier_imports(project: Project) -> QuerySet[Import]:
    """Return the project's newest imports."""
    return Import.objects.filter(project=project)[:EARLIER_SHOWN]


def format_label(work: Import) -> str:
    """Return the words for an import's file format; one that is gone from the table is named as it was."""
    known = FILE_FORMATS.get(work.file_format)
    return known.label if known else work.file_format


@dataclass(frozen=True, slots=True)
class Row:
    """An import in the list of the newest: the words for its format, and how much of the file was read."""

    work: Import
    format_label: str

    @property
    def percent(self) -> int:
        """The part of the file that was read."""
        return 100 * self.work.done_bytes // max(self.work.size, 1)

    @property
    def is_running(self) -> bool:
        """Whether it waits or is being worked through."""
        return self.work.finished_at is None


def rows_of(imports: Sequence[Import]) -> Sequence[Row]:
    """Return imports as rows of a list."""
    return [Row(work, format_label(work)) for work in imports]
