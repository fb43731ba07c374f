"""The Django application."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin


class SessionsAppConfig(AppConfig):
    """Conversations, prompts and summaries."""

    name = "sessions_app"
    verbose_name = "Conversations"
    default_auto_field = "django.db.models.BigAutoField"


class AdministrationConfig(admin.AdminConfig):
    """Django's administration on a site of our own."""

    default = False  # of this application
    default_site = "sessions_app.admin.site.Administration"
