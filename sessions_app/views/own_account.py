"""One's own account: names, password, and ending sign-ins elsewhere."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth import authenticate, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from sessions_app.member_forms import NewPasswordForm, OwnPasswordForm, PersonForm
from sessions_app.models import Project
from sessions_app.services.accounts import end_sign_ins


@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Show the account of whoever asks."""
    return _show(request, {})


@login_required
@require_POST
def names(request: HttpRequest) -> HttpResponse:
    """Save what one is called."""
    form = PersonForm(request.POST, instance=_user(request))
    if not form.is_valid():
        return _show(request, {"person": form}, status=422)
    form.save()
    messages.success(request, "Saved.")
    return redirect("account")


@sensitive_post_parameters()
@login_required
@require_POST
def password(request: HttpRequest) -> HttpResponse:
    """Change the password; sign-ins elsewhere end."""
    form = NewPasswordForm(_user(request), request.POST, is_right=lambda given: _is_right(request, given))
    if not form.is_valid():
        return _show(request, {"new_password": form}, status=422)
    update_session_auth_hash(request, form.save())
    messages.success(request, "Your password is changed. You are signed out everywhere else.")
    return redirect("account")


@sensitive_post_parameters()
@login_required
@require_POST
def sign_out_elsewhere(request: HttpRequest) -> HttpResponse:
    """End all sign-ins but this one."""
    form = OwnPasswordForm(request.POST, is_right=lambda given: _is_right(request, given))
    if not form.is_valid():
        return _show(request, {"own_password": form}, status=422)
    user = _user(request)
    end_sign_ins(user=user, password=form.cleaned_data["password"])
    update_session_auth_hash(request, user)
    messages.success(request, "You are signed out everywhere else.")
    return redirect("account")


def _is_right(request: HttpRequest, given: str) -> bool:
    """Tell whether a password is one's own; too many wrong ones are answered as they are when signing in."""
    return authenticate(request, username=_user(request).get_username(), password=given) is not None


def _user(request: HttpRequest) -> User:
    return cast("User", request.user)


def _show(request: HttpRequest, forms: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    context = {"own_projects": Project.objects.with_role_of(request.user), "projects": [], "area": "account", **forms}
    response = render(request, "accounts/account.html", context, status=status)
    add_never_cache_headers(response)
    return response
