"""People who sign in: the first administrator and new passwords."""

import secrets

from axes.utils import reset as forget_failed_logins
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from sessions_app.domain.errors import NotFound

PASSWORD_BYTES = 15


def make_first_administrator(*, username: str) -> tuple[User, str] | None:
    """Return a new administrator and the password that is known to nobody else, or None where anybody exists."""
    users = get_user_model().objects
    if users.exists():
        return None
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    return users.create_superuser(username, password=password), password


def reset_password(*, username: str) -> str:
    """Give somebody a new password, also after too many failed attempts, and return it."""
    user = get_user_model().objects.filter(username=username).first()
    if user is None:
        raise NotFound(f"There is no user named {username!r}.")
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    user.set_password(password)
    user.save(update_fields=["password"])
    forget_failed_logins(username=username)
    return password


def end_sign_ins(*, user: User, password: str) -> None:
    """End all sign-ins of somebody by hashing their password, the same, anew: each carries a sign of the hash."""
    user.set_password(password)
    user.save(update_fields=["password"])
