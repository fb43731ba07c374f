"""Django's administration on a site of our own."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import unquote

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase


class Administration(AdminSite):
    """The administration, of libraries too; no address with a null character leads to any of its pages.

    PostgreSQL cannot be asked about one, and filters of lists hand on what an address says.
    """

    def admin_view(self, view: Callable[..., HttpResponseBase], cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Return the view behind its checks."""

        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if "\0" in unquote(request.get_full_path()):
                raise Http404
            return view(request, *args, **kwargs)

        return super().admin_view(checked, cacheable)


class AdministrationConfig(AdminConfig):
    """The application; outside of the one whose models it shows, since these are registered on this site."""

    default_site = "convoweb.administration.Administration"
