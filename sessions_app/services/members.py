"""Who belongs to a project: roles, and leaving it. Everything here waits for the row of the project."""

from django.db import transaction

from sessions_app.domain.errors import LastOwner, NotFound
from sessions_app.domain.roles import MemberRole
from sessions_app.models import Invitation, Membership
from sessions_app.services.project_locks import lock_project


def change_role(*, member: Membership, role: MemberRole) -> None:
    """Give a member another role; the last owner stays one. Who is no owner any more invites nobody."""
    with transaction.atomic():
        stored = _locked(member)
        if role is not MemberRole.OWNER:
            _keep_an_owner(stored)
            _end_invitations(stored)
        stored.role = role
        stored.save(update_fields=["role"])


def remove_member(*, member: Membership) -> None:
    """Take somebody out of a project; the last owner stays. No link that they made leads them or others back."""
    with transaction.atomic():
        stored = _locked(member)
        _keep_an_owner(stored)
        _end_invitations(stored)
        stored.delete()


def _locked(member: Membership) -> Membership:
    """Return a membership as it is stored, while nobody else changes those of its project."""
    lock_project(member.project_id)
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
