"""Projects: made, called otherwise, deleted."""

import re
from datetime import datetime

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction

from sessions_app.domain.errors import Conflict, FieldError, IdTaken, InvalidInput
from sessions_app.domain.roles import MemberRole
from sessions_app.models import ApiKey, Import, Invitation, Membership, Project
from sessions_app.services.project_locks import lock_owned_project
from sessions_app.services.purges import begin_purge
from sessions_app.services.session_deletion import doomed_slug

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
LONGEST_NAME = 200


def create_project(*, slug: str, name: str, owner: User | None) -> Project:
    """Create a project under a slug that is free; `owner` is who it belongs to, if somebody asked for it on a page."""
    _check(slug, name)
    with transaction.atomic():
        try:
            with transaction.atomic():
                project = Project.objects.create(slug=slug, name=name or slug)
        except IntegrityError:
            raise _taken(slug) from None
        if owner is not None:
            Membership.objects.create(project=project, user=owner, role=MemberRole.OWNER)
    return project


def rename_project(*, project: Project, slug: str, name: str, by: AbstractBaseUser | AnonymousUser) -> Project:
    """Give a project another name and slug; its keys go on working, its pages move."""
    _check(None if slug == project.slug else slug, name)
    with transaction.atomic():
        stored = lock_owned_project(project.pk, by=by)
        stored.slug, stored.name = slug, name or slug
        try:
            with transaction.atomic():
                stored.save(update_fields=["slug", "name"])
        except IntegrityError:
            raise _taken(slug) from None
    return stored


def delete_project(*, project: Project, by: AbstractBaseUser | AnonymousUser, now: datetime) -> None:
    """Delete a project with all in it.

    It is gone for everybody at once, and its slug is free. What is in it is removed now if that is little, else by a
    worker, some at a time, so that others are served meanwhile.
    """
    with transaction.atomic():
        stored = lock_owned_project(project.pk, by=by)
        _refuse_while_importing(project)
        ApiKey.objects.filter(project=project, revoked_at=None).update(revoked_at=now)
        Invitation.objects.filter(project=project).delete()
        Membership.objects.filter(project=project).delete()
        stored.deleted_at, stored.slug = now, doomed_slug()
        stored.save(update_fields=["deleted_at", "slug"])
    begin_purge(project_pk=stored.pk)


def _refuse_while_importing(project: Project) -> None:
    if Import.objects.filter(project=project, finished_at=None).exists():
        raise Conflict("An import into this project is running. Delete the project when it is finished.")


def _check(slug: str | None, name: str) -> None:
    """Check what is new; a slug from the administration may look otherwise and stays."""
    errors = []
    if slug is not None and not SLUG.fullmatch(slug):
        rule = f"A slug is 1 to 60 of a-z 0-9 and -, not beginning with -; this is {slug!r}."
        errors.append(FieldError("/slug", rule))
    if len(name) > LONGEST_NAME:
        errors.append(FieldError("/name", f"A name has at most {LONGEST_NAME} characters."))
    if errors:
        raise InvalidInput(" ".join(error.detail for error in errors), errors=errors)


def _taken(slug: str) -> IdTaken:
    detail = f"There is a project {slug} already."
    return IdTaken(detail, errors=[FieldError("/slug", detail)])
