"""The addresses of the whole site."""

from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView

from convoweb.api import api
from convoweb.problems import not_found

urlpatterns = [
    path("admin/", admin.site.urls),
    # Browsers ask for it beside what has no head of ours, such as answers of the API.
    path("favicon.ico", RedirectView.as_view(url=lazy(static, str)("vendor/favicon.svg"))),
    path("api/v1/", api.urls),
    path("api/<path:address>", not_found),
    path("", include("sessions_app.urls")),
]
