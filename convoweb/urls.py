"""The addresses of the whole site."""

from django.contrib import admin
from django.urls import include, path

from convoweb.api import api
from convoweb.problems import not_found

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("api/<path:address>", not_found),
    path("", include("sessions_app.urls")),
]
