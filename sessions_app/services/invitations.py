"""Invitations: a link that is shown once, works once, and for a week; only the hash of its token is stored."""

import hashlib
from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from sessions_app.domain.errors import Conflict, FieldError, IdTaken, NotFound
from sessions_app.domain.roles import MemberRole
from sessions_app.models import Invitation, Membership, Project
from sessions_app.services.forms_sent_twice import recent_identities
from sessions_app.services.project_locks import lock_owned_project, lock_project

# 43 characters of 62 carry 256 bits.
TOKEN_LENGTH = 43
OPEN_FOR = timedelta(days=7)


def invite(
    *, project: Project, role: MemberRole, by: User, now: datetime, form_number: str = ""
) -> tuple[Invitation, str]:
    """Return a new invitation and the token of its link, which cannot be had again; those that expired go.

    A form that is sent twice makes one, and shows its link twice. Raises NotAllowed where `by` is no owner any more.
    """
    asked = (form_number, "invitation", project.pk, str(role), by.pk)
    tokens = recent_identities(*asked, length=TOKEN_LENGTH, now=now)
    with transaction.atomic():
        # Who was made something else meanwhile has no links any more, and gets no new one.
        lock_owned_project(project.pk, by=by)
        for token in tokens:
            made = Invitation.objects.filter(project=project, token_hash=_hashed(token)).first()
            if made is not None:
                return made, token
        Invitation.objects.filter(project=project, expires_at__lte=now).delete()
        invitation = Invitation.objects.create(
            project=project,
            role=role,
            token_hash=_hashed(tokens[0]),
            actor=by.get_username(),
            made_by=by,
            created_at=now,
            expires_at=now + OPEN_FOR,
        )
    return invitation, tokens[0]


def invitation_of(*, token: str, now: datetime) -> Invitation:
    """Return the invitation of a link as long as it works."""
    found = Invitation.objects.open_at(now).select_related("project").filter(token_hash=_hashed(token)).first()
    if found is None:
        raise NotFound("This invitation was used, was revoked or has expired.")
    return found


def accept(*, token: str, user: User, now: datetime) -> Membership:
    """Make somebody a member; of several who do it at once, one is. Whoever belongs already does not use it up."""
    with transaction.atomic():
        invitation = _locked(token, now)
        if Membership.objects.filter(project=invitation.project, user=user).exists():
            raise Conflict(f"You belong to {invitation.project} already.")
        member = Membership.objects.create(project=invitation.project, user=user, role=invitation.role)
        invitation.delete()
    return member


def accept_as_new(*, token: str, username: str, password: str, now: datetime) -> User:
    """Make an account for somebody who has none, and them a member; either both or neither."""
    invitation_of(token=token, now=now)
    # Before the project is locked: hashing takes a good part of a second.
    new = User(username=User.normalize_username(username), password=make_password(password))
    with transaction.atomic():
        _locked(token, now)
        try:
            with transaction.atomic():
                new.save(force_insert=True)
        except IntegrityError:
            detail = "A user with that username already exists."
            raise IdTaken(detail, errors=[FieldError("/username", detail)]) from None
        accept(token=token, user=new, now=now)
    return new


def _locked(token: str, now: datetime) -> Invitation:
    """Return the invitation of a link while nobody else can use it."""
    found = invitation_of(token=token, now=now)
    lock_project(found.project_id)
    return invitation_of(token=token, now=now)


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
