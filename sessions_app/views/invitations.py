"""Accepting an invitation: by somebody who is signed in, or by making an account."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from sessions_app.domain.errors import Conflict, IdTaken, NotFound
from sessions_app.domain.roles import IN_SHORT, MemberRole
from sessions_app.member_forms import NewAccountForm
from sessions_app.models import Invitation, Membership
from sessions_app.services.invitations import accept, accept_as_new, invitation_of

BACKEND = "django.contrib.auth.backends.ModelBackend"


@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Say into what and as what one is invited; then make whoever is there, or a new account, a member."""
    try:
        found = invitation_of(token=token, now=timezone.now())
        if request.method != "POST":
            return _show(request, found, NewAccountForm())
        if isinstance(request.user, User):
            return _join(request, found, token, request.user)
        return _join_as_new(request, found, token)
    except NotFound:
        return _uncached(render(request, "registration/invitation_gone.html", status=404))


def _join(request: HttpRequest, found: Invitation, token: str, user: User) -> HttpResponse:
    try:
        accept(token=token, user=user, now=timezone.now())
    except Conflict as refusal:
        messages.info(request, refusal.detail)
    else:
        messages.success(request, f"You belong to {found.project} now, as {found.role}.")
    return redirect("sessions", found.project.slug)


def _join_as_new(request: HttpRequest, found: Invitation, token: str) -> HttpResponse:
    form = NewAccountForm(request.POST)
    if form.is_valid():
        name, password = form.cleaned_data["username"], form.cleaned_data["password1"]
        try:
            user = accept_as_new(token=token, username=name, password=password, now=timezone.now())
        except IdTaken as refusal:
            form.add_error("username", refusal.detail)
        else:
            login(request, user, backend=BACKEND)
            messages.success(request, f"You belong to {found.project} now, as {found.role}.")
            return redirect("sessions", found.project.slug)
    return _show(request, found, form, status=422)


def _show(request: HttpRequest, found: Invitation, form: NewAccountForm, *, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "invitation": found,
        "form": form,
        "words": IN_SHORT[MemberRole(found.role)],
        "belongs": Membership.objects.filter(project=found.project, user=request.user.pk).exists(),
    }
    return _uncached(render(request, "registration/invitation.html", context, status=status))


def _uncached(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response
