"""Projects, their members and keys."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from sessions_app.admin.lists import LookedAt, OwnProjects, ProjectFilter
from sessions_app.models import ApiKey, Membership, Profile, Project, SettingsVersion


class MembershipInline(admin.TabularInline):
    """The members of a project."""

    model = Membership
    extra = 0
    autocomplete_fields = ("user",)
    verbose_name = "member"


@admin.register(Project)
class ProjectAdmin(OwnProjects):
    """Projects and who belongs to them; one with sessions in it is not deleted here."""

    project_path = "pk"
    list_display = ("name", "slug", "member_count", "created_at")
    search_fields = ("name", "slug")
    readonly_fields = ("settings", "created_at")
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the projects with the number of their members."""
        return super().get_queryset(request).annotate(members=Count("memberships"))

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        """Allow what the user may do, but only for an empty project."""
        return super().has_delete_permission(request, obj) and obj is not None and not obj.sessions.exists()

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Let versions of its settings and profiles, which nobody deletes by themselves here, go with a project."""
        shown, counts, needed, protected = super().get_deleted_objects(objs, request)
        needed -= {model._meta.verbose_name for model in (SettingsVersion, Profile)}  # noqa: SLF001
        return shown, counts, needed, protected

    def view_on_site(self, obj: Project) -> str:
        """Return the address of the project's own pages."""
        return reverse("sessions", args=[obj.slug])

    @admin.display(description="members", ordering="members")
    def member_count(self, project: Any) -> int:
        """Return how many users belong to the project."""
        return int(project.members)


@admin.register(ApiKey)
class ApiKeyAdmin(LookedAt):
    """Keys are made on a page of their project or by a command, which show them once; here they are revoked, too."""

    list_display = (
        "name",
        "project",
        "key_id",
        "granted",
        "actor",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_select_related = ("project",)
    list_filter = (ProjectFilter, ("revoked_at", admin.EmptyFieldListFilter))
    exclude = ("secret_hash",)
    search_help_text = "The public part of a key, or words of its name"
    word_columns = ("name",)
    actions = ("revoke",)

    def ids(self, term: str) -> Q:
        """Match the public part of a key, also inside a whole one."""
        return Q(key_id=term.removeprefix("cw_").split("_")[0])

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Ask for the right to change keys."""
        return request.user.has_perm("sessions_app.change_apikey")

    @admin.action(description="Revoke the selected keys for good", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Make keys useless from now on."""
        revoked = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, f"{revoked} revoked.", messages.SUCCESS)

    @admin.display(description="scopes")
    def granted(self, key: ApiKey) -> str:
        """Return the scopes of a key."""
        return ", ".join(key.scopes)
