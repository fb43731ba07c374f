"""The members of a project: the list, roles, leaving, and invitations, whose links are shown this once."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sessions_app.domain.errors import Conflict
from sessions_app.domain.roles import IN_SHORT, MemberRole, Right
from sessions_app.member_forms import RoleForm
from sessions_app.models import ApiKey, Invitation, Membership, Project
from sessions_app.services.invitations import invite
from sessions_app.services.members import change_role, remove_member
from sessions_app.views.access import needs
from sessions_app.views.projects import page_context, project_for

PAGE = "projects/members.html"
MOST = 200


@login_required
@require_safe
def members(request: HttpRequest, slug: str) -> HttpResponse:
    """List the members and the invitations that are open."""
    return _show(request, project_for(request.user, slug), {})


@needs(writing=Right.MANAGE)
@login_required
@require_POST
def role(request: HttpRequest, slug: str, member_pk: int) -> HttpResponse:
    """Give a member another role."""
    member = _member(project_for(request.user, slug), member_pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["role"][0]))
        return redirect("members", slug)
    wanted: MemberRole = form.cleaned_data["role"]
    try:
        change_role(member=member, role=wanted, by=request.user)
    except Conflict as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, f"{member.user} is {wanted} now.")
    return redirect("members", slug)


@needs(reading=Right.MANAGE, writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, slug: str, member_pk: int) -> HttpResponse:
    """Ask whether to remove a member and say what follows; then do it."""
    project = project_for(request.user, slug)
    return _part(request, project, _member(project, member_pk))


@needs(reading=Right.READ, writing=Right.READ)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask whether to leave the project; then do it."""
    project = project_for(request.user, slug)
    return _part(request, project, get_object_or_404(Membership, project=project, user=request.user.pk))


@needs(reading=Right.MANAGE, writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def invitation_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask which role somebody is invited for; then show the link."""
    project = project_for(request.user, slug)
    form = RoleForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _show(request, project, {"inviting": form}, status=422 if form.is_bound else 200)
    wanted: MemberRole = form.cleaned_data["role"]
    made, token = invite(
        project=project,
        role=wanted,
        by=cast("User", request.user),
        now=timezone.now(),
        form_number=request.POST.get("form_number", ""),
    )
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    return _show(request, project, {"invited": made, "link": link})


@needs(writing=Right.MANAGE)
@login_required
@require_POST
def invitation_revoke(request: HttpRequest, slug: str, invitation_pk: int) -> HttpResponse:
    """Make the link of an invitation useless."""
    project = project_for(request.user, slug)
    invitation = get_object_or_404(Invitation, project=project, pk=invitation_pk)
    invitation.delete()
    messages.success(request, "The invitation is revoked. Its link does not work any more.")
    return redirect("members", slug)


def _part(request: HttpRequest, project: Project, member: Membership) -> HttpResponse:
    """Ask whether somebody shall leave, or be removed; then part with them."""
    is_self = member.user_id == request.user.pk
    if request.method != "POST":
        return _show(request, project, {"parting": member, "is_self": is_self, "keys": _keys_of(member)})
    try:
        remove_member(member=member, by=request.user)
    except Conflict as refusal:
        messages.error(request, refusal.detail)
        return redirect("members", project.slug)
    messages.success(request, f"You left {project}." if is_self else f"{member.user} is removed from {project}.")
    return redirect("home") if is_self else redirect("members", project.slug)


def _member(project: Project, pk: int) -> Membership:
    return get_object_or_404(Membership.objects.select_related("user"), project=project, pk=pk)


def _keys_of(member: Membership) -> int:
    made = ApiKey.objects.filter(project=member.project_id, actor=member.user.get_username())
    return made.in_force(timezone.now()).count()


def _show(request: HttpRequest, project: Project, more: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    members = Membership.objects.filter(project=project).select_related("user").order_by("user__username")
    found = list(members[: MOST + 1])
    owners = Membership.objects.filter(project=project).owners().values_list("pk", flat=True)[:2]
    context = {
        **page_context(request.user, project, area="settings"),
        "members": found[:MOST],
        "more_than": MOST if len(found) > MOST else None,
        "only_owner": owners[0] if len(owners) == 1 else None,
        "invitations": Invitation.objects.filter(project=project).open_at(timezone.now())[:MOST],
        "roles": IN_SHORT,
        **more,
    }
    response = render(request, PAGE, context, status=status)
    # Neither going back nor a proxy shows a link again.
    add_never_cache_headers(response)
    return response
