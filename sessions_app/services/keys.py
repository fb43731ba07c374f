"""API keys: `cw_<key id>_<secret><checksum>`, of which only the SHA-256 of the secret is stored."""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from hmac import compare_digest
from zlib import crc32

import structlog
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError, transaction
from django.db.models import Q

from sessions_app.domain.errors import FieldError, IdTaken, InvalidInput, KeyExpired
from sessions_app.models import ApiKey, Project, Scope
from sessions_app.models.connections import impatient
from sessions_app.services.forms_sent_twice import identity, recent_identities
from sessions_app.services.project_locks import lock_owned_project

log = structlog.get_logger(__name__)

PREFIX = "cw"
ID_LENGTH = 12
# 43 characters of 62 carry 256 bits.
SECRET_LENGTH = 43
CHECKSUM_LENGTH = 8
USE_NOTED_EVERY = timedelta(minutes=1)


def create_api_key(
    *, project: Project, name: str, scopes: Iterable[str], actor: str = "", expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """Create a key and return it with its text, which cannot be had again; `actor` is who asked for it on a page."""
    letters = identity("", length=ID_LENGTH + SECRET_LENGTH)
    return _create(project, letters, name=name, scopes=scopes, actor=actor, expires_at=expires_at)


def create_named_key(
    *,
    project: Project,
    name: str,
    scopes: Iterable[str],
    by: AbstractBaseUser | AnonymousUser,
    now: datetime,
    expires_at: datetime | None = None,
    form_number: str = "",
) -> tuple[ApiKey, str]:
    """Create a key whose name no other one in force has; a form that is sent twice makes one and shows it twice.

    Raises NotAllowed where `by` is no owner any more.
    """
    scopes, actor = sorted(scopes), by.get_username()
    asked = (form_number, "key", project.pk, name, scopes, actor)
    letters = recent_identities(*asked, length=ID_LENGTH + SECRET_LENGTH, now=now)
    with transaction.atomic():
        lock_owned_project(project.pk, by=by)
        in_force = ApiKey.objects.filter(project=project).in_force(now)
        for each in letters:
            made = in_force.filter(key_id=each[:ID_LENGTH]).first()
            if made is not None:
                return made, _text(each)
        if ApiKey.objects.filter(key_id=letters[0][:ID_LENGTH]).exists():
            # It was revoked within the minute, and no key comes back.
            letters = [identity("", length=ID_LENGTH + SECRET_LENGTH)]
        if in_force.filter(name=name).exists():
            detail = f"There is a key called {name} already. Revoke it, or choose another name."
            raise IdTaken(detail, errors=[FieldError("/name", detail)])
        return _create(project, letters[0], name=name, scopes=scopes, actor=actor, expires_at=expires_at)


def revoke_api_key(*, key: ApiKey, now: datetime) -> bool:
    """Make a key useless for good; False if it was already."""
    return ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now) > 0


def key_of(*, text: str, now: datetime) -> ApiKey | None:
    """Return the key that a text stands for, None if it is wrong or revoked; raise KeyExpired if its time is over.

    Its use is noted once a minute.
    """
    parts = text.split("_")
    if len(parts) != 3 or parts[0] != PREFIX or not text.isascii():
        return None
    key_id, secret, checksum = parts[1], parts[2][:-CHECKSUM_LENGTH], parts[2][-CHECKSUM_LENGTH:]
    # A mistyped key is told apart without asking the database.
    if not compare_digest(_checksum(key_id, secret), checksum):
        return None
    row = ApiKey.objects.select_related("project").filter(key_id=key_id, revoked_at=None).first()
    if row is None or not compare_digest(_hashed(secret), row.secret_hash):
        return None
    if row.has_expired(now):
        raise KeyExpired(f"This key expired at {row.expires_at:%Y-%m-%dT%H:%M:%SZ}. Its project can make another one.")
    _note_use(row, now)
    return row


def _check_scopes(scopes: Iterable[str]) -> list[str]:
    wanted = set(scopes)
    if not wanted or not wanted <= set(Scope.values):
        detail = f"The scopes of a key are one or more of {', '.join(Scope.values)}."
        raise InvalidInput(detail, errors=[FieldError("/scopes", detail)])
    return [scope for scope in Scope.values if scope in wanted]


def _note_use(row: ApiKey, now: datetime) -> None:
    if row.last_used_at is not None and row.last_used_at > now - USE_NOTED_EVERY:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
    try:
        with impatient():
            ApiKey.objects.filter(stale, pk=row.pk).update(last_used_at=now)
    except OperationalError:
        log.info("use_not_noted", key_id=row.key_id)


def _create(
    project: Project, letters: str, *, name: str, scopes: Iterable[str], actor: str, expires_at: datetime | None
) -> tuple[ApiKey, str]:
    key_id, secret = letters[:ID_LENGTH], letters[ID_LENGTH:]
    granted = _check_scopes(scopes)
    row = ApiKey.objects.create(
        project=project,
        name=name,
        key_id=key_id,
        secret_hash=_hashed(secret),
        scopes=granted,
        actor=actor,
        expires_at=expires_at,
    )
    return row, _text(letters)


def _text(letters: str) -> str:
    key_id, secret = letters[:ID_LENGTH], letters[ID_LENGTH:]
    return f"{PREFIX}_{key_id}_{secret}{_checksum(key_id, secret)}"


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(key_id: str, secret: str) -> str:
    return f"{crc32(f'{PREFIX}_{key_id}_{secret}'.encode()):08x}"
