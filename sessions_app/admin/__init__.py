"""The administration: projects, members and keys are changed here; what bots wrote is only looked at."""

from sessions_app.admin import imports, projects, sessions

__all__ = ["imports", "projects", "sessions"]
