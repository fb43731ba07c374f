"""The addresses of the whole site."""

from django.contrib import admin
from django.urls import include, path

from convoweb.api import api

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("", include("sessions_app.urls")),
]
