"""The lock under which what belongs to a project as a whole changes."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from sessions_app.domain.errors import NotAllowed, NotFound
from sessions_app.models import Project


def lock_project(pk: int) -> Project:
    """Lock a project against other changes of what belongs to it as a whole; return it as it is stored."""
    project = Project.objects.select_for_update().filter(pk=pk).first()
    if project is None:
        raise NotFound("There is no such project.")
    return project


def lock_owned_project(pk: int, *, by: AbstractBaseUser | AnonymousUser) -> Project:
    """Lock a project for what only its owners may do; raises NotAllowed where `by` owns it no more.

    Pages ask for roles before they wait for this lock, and whoever held it may have changed them.
    """
    project = lock_project(pk)
    seen = Project.objects.with_role_of(by).filter(pk=pk).first()
    if seen is None or not seen.may_manage:
        raise NotAllowed(f"You are no owner of {project} any more.")
    return project
