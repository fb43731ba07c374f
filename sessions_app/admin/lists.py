"""What the lists of the administration share: whose rows are seen, and that a large table costs only its page."""

from functools import reduce
from operator import or_
from typing import Any, ClassVar

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Max, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from sessions_app.models import Project, Run, Session

COUNTED_AT_MOST = 10_000
WORDS_SOUGHT_IN = 10_000


class CappedPaginator(Paginator):
    """Pages over at most 10,000 rows, since counting a large table would read it; filters and search lead further."""

    @cached_property
    def count(self) -> int:
        """How many rows are paged."""
        rows: QuerySet[Any] = self.object_list[:COUNTED_AT_MOST]  # type: ignore[assignment]
        return rows.count()


class ProjectFilter(admin.SimpleListFilter):
    """Rows of one project."""

    title = "project"
    parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the projects that the user may see."""
        self.path = model_admin.project_path
        return list(Project.objects.visible_to(request.user).values_list("slug", "name"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the chosen project."""
        return queryset.filter(**{f"{self.path}__slug": self.value()}) if self.value() else queryset


class OwnProjects(admin.ModelAdmin):
    """Staff sees the rows of the projects it belongs to; a superuser sees all."""

    project_path = "project"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows that the user may see."""
        rows = super().get_queryset(request)
        if getattr(request.user, "is_superuser", False):
            # Not by joining them, which might begin to look there and sort everything.
            return rows.exclude(**{f"{self.project_path}__in": Project.doomed.values("pk")})
        return rows.filter(**{f"{self.project_path}__in": Project.objects.visible_to(request.user)})


class LookedAt(OwnProjects):
    """Rows that nobody changes here, newest first; a large table costs no more than its page."""

    ordering = ("-pk",)
    sortable_by = ()
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    # The box is shown when this is not empty; what it finds is decided by `rows_with_id` and `word_columns`.
    search_fields = ("pk",)
    public_prefix: ClassVar[str | None] = None
    word_columns: ClassVar[tuple[str, ...]] = ()

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: deleting is more than removing rows, and belongs to the API."""
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find rows by an id; else by words among the newest, so that a large table is not read through."""
        term = search_term.strip()
        if not term:
            return queryset, False
        by_id = queryset.filter(self._own_id(term) | self.ids(term))
        if by_id.exists() or not self.word_columns:
            return by_id, False
        newest = self.model.objects.aggregate(Max("pk"))["pk__max"] or 0
        words = reduce(or_, (Q(**{f"{column}__icontains": term}) for column in self.word_columns))
        return queryset.filter(words, pk__gt=newest - WORDS_SOUGHT_IN), False

    @admin.display(description="id")
    def outside_id(self, row: Any) -> str:
        """Return the id by which the API names a row."""
        return str(row.public_id)

    def ids(self, term: str) -> Q:
        """Return the condition that an id of something a row belongs to puts on it."""
        return Q(pk__in=[])

    def _own_id(self, term: str) -> Q:
        number = term.removeprefix(self.public_prefix or "")
        known = self.public_prefix is not None and number.isascii() and number.isdigit() and len(number) < 19
        return Q(pk=int(number)) if known else Q(pk__in=[])


def pks_with_id(model: type[Run | Session], public_id: str) -> list[int]:
    """Return the keys of rows with an id, which is unique in a project only; by way of that constraint's index."""
    rows = model.objects.filter(project__in=Project.objects.values("pk"), public_id=public_id)
    return list(rows.values_list("pk", flat=True))
