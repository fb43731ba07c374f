"""The lock under which what belongs to a project as a whole changes."""

from sessions_app.domain.errors import NotFound
from sessions_app.models import Project


def lock_project(pk: int) -> Project:
    """Lock a project against other changes of what belongs to it as a whole; return it as it is stored."""
    project = Project.objects.select_for_update().filter(pk=pk).first()
    if project is None:
        raise NotFound("There is no such project.")
    return project
