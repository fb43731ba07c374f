"""Which project a page shows: it stands in the address, and membership decides who may see it."""

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.functional import SimpleLazyObject

from sessions_app.models import Membership, Project
from sessions_app.queries.summary_attention import failing_count


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the user's first project, or say how to get one."""
    first = Project.objects.visible_to(request.user).first()
    if first is None:
        return render(request, "projects/none.html", {"may_create_projects": may_create_projects(request.user)})
    return redirect("sessions", first.slug)


def project_for(user: AbstractBaseUser | AnonymousUser, slug: str) -> Project:
    """Return the project of an address, with the user's role; one that is not theirs does not exist for them (404)."""
    return get_object_or_404(Project.objects.with_role_of(user), slug=slug)


def page_context(user: AbstractBaseUser | AnonymousUser, project: Project, *, area: str) -> dict[str, Any]:
    """Return what base.html asks for: the project, the user's projects, the area marked in the sidebar, its counts."""
    return {
        "project": project,
        "projects": Project.objects.visible_to(user),
        "area": area,
        "failing": SimpleLazyObject(lambda: failing_count(project)),
    }


def may_create_projects(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Tell whether somebody makes projects: staff does, and who owns one."""
    is_staff = getattr(user, "is_staff", False) or getattr(user, "is_superuser", False)
    return is_staff or Membership.objects.owners().filter(user=user.pk).exists()
