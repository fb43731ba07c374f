"""Signing in."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.http import urlencode
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from sessions_app.forms import SignInForm
from sessions_app.views.rendering import address_of_page


class SignIn(LoginView):
    """The sign-in page; a swap whose session has ended leads the whole window here, not a fragment of it."""

    authentication_form = SignInForm
    redirect_authenticated_user = True
    template_name = "registration/login.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Send swaps to the sign-in page and from there back to the page they came from."""
        htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
        if htmx:
            return HttpResponseClientRedirect(_sign_in_address(htmx))
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, until the browser closes unless the user asked to stay."""
        response = super().form_valid(form)
        if not form.cleaned_data["remember"]:
            self.request.session.set_expiry(0)
        return response


def _sign_in_address(htmx: HtmxDetails) -> str:
    page = address_of_page(htmx)
    path = page.path or "/"
    came_from = f"{path}?{page.query}" if page.query else path
    return f"{resolve_url('login')}?{urlencode({'next': came_from})}"
