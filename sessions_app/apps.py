"""The Django application."""

from django.apps import AppConfig


class SessionsAppConfig(AppConfig):
    """Conversations, prompts and summaries."""

    name = "sessions_app"
    verbose_name = "Conversations"
    default_auto_field = "django.db.models.BigAutoField"
