"""Who belongs to a project: roles, and leaving it. Everything here waits for the row of the project."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from sessions_app.domain.errors import LastOwner, NotFound
from sessions_app.domain.roles import MemberRole
from sessions_app.models import Invitation, Membership
from sessions_app.services.project_locks import lock_owned_project, lock_project


def change_role(*, member: Membership, role: MemberRole, by: AbstractBaseUser | AnonymousUser) -> None:
    """Give a member another role; the last owner stays one. Who is no owner any more invites nobody."""
    with transaction.atomic():
        lock_owned_project(member.project_id, by=by)
        stored = _stored(member)
        if role is not MemberRole.OWNER:
            _keep_an_owner(stored)
            _end_invitations(stored)
        stored.role = role
        stored.save(update_fields=["role"])


def remove_member(*, member: Membership, by: AbstractBaseUser | AnonymousUser) -> None:
    """Take somebody out of a project, which all may do with themselves; the last owner stays.

    No link that they made leads them or others back.
    """
    with transaction.atomic():
        if member.user_id == by.pk:
            lock_project(member.project_id)
        else:
            lock_owned_project(member.project_id, by=by)
        stored = _stored(member)
        _keep_an_owner(stored)
        _end_invitations(stored)
        stored.delete()


def _stored(member: Membership) -> Membership:
    stored = Membership.objects.select_related("user").filter(pk=member.pk).first()
    if stored is None:
        raise NotFound("There is no such member.")
    return stored


def _end_invitations(member: Membership) -> None:
    Invitation.objects.filter(project=member.project_id, made_by=member.user_id).delete()


def _keep_an_owner(member: Membership) -> None:
    others = Membership.objects.owners().filter(project=member.project_id).exclude(pk=member.pk)
    if member.role == MemberRole.OWNER and not others.exists():
        raise LastOwner(f"{member.user} is the only owner. Make somebody else an owner first.")
