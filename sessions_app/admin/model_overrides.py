"""What projects say of language models: the table that wins over the built-in ones."""

from contextlib import suppress
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from sessions_app.admin.lists import OwnProjects, ProjectFilter
from sessions_app.domain.errors import NotFound
from sessions_app.models import ModelOverride, Project
from sessions_app.services.model_overrides import remove_model_override, set_model_override


@admin.register(ModelOverride)
class ModelOverrideAdmin(OwnProjects):
    """Overrides are set and removed as through the API, so that budgets follow a changed window."""

    list_display = ("name", "project", "context_window", "input_price", "cached_input_price", "output_price")
    list_select_related = ("project",)
    list_filter = (ProjectFilter,)
    search_fields = ("name",)

    def get_readonly_fields(self, request: HttpRequest, obj: ModelOverride | None = None) -> tuple[str, ...]:
        """Keep what an override is about."""
        return () if obj is None else ("project", "name")

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **options: Any
    ) -> forms.ModelChoiceField | None:
        """Offer the projects that the user may see."""
        options["queryset"] = Project.objects.visible_to(request.user)
        return super().formfield_for_foreignkey(db_field, request, **options)

    def save_model(self, request: HttpRequest, obj: ModelOverride, form: Any, change: bool) -> None:  # noqa: FBT001
        """Set the override."""
        stored = set_model_override(project=obj.project, name=obj.name, facts=obj.to_value(), now=timezone.now())
        obj.pk = stored.pk

    def delete_model(self, request: HttpRequest, obj: ModelOverride) -> None:
        """Remove the override, if nobody else has just done so."""
        with suppress(NotFound):
            remove_model_override(project=obj.project, name=obj.name, now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ModelOverride]) -> None:
        """Remove the selected overrides."""
        for row in queryset.select_related("project"):
            self.delete_model(request, row)
