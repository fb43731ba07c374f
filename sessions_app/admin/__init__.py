"""The administration: projects, members, keys and overrides are changed here; what bots wrote is only looked at."""

from sessions_app.admin import imports, model_overrides, projects, sessions, settings_versions

__all__ = ["imports", "model_overrides", "projects", "sessions", "settings_versions"]
