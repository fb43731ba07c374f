"""Projects, who belongs to them, and the keys of their bots."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Case, F, Q, Value, When

from sessions_app.domain.roles import MemberRole, Right, may

IDLE_AFTER = timedelta(days=60)


def member_roles() -> list[tuple[str, str]]:
    """Return the roles as choices of a field."""
    return [(role.value, role.value.capitalize()) for role in MemberRole]


class ProjectQuerySet(models.QuerySet["Project"]):
    """Filters over projects."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> "ProjectQuerySet":
        """The projects a user may see: those they belong to; a superuser sees all."""
        if getattr(user, "is_superuser", False):
            return self.all()
        # Nobody's key is no key: of a project without members it would be a match.
        return self.none() if user.pk is None else self.filter(memberships__user=user.pk)

    def with_role_of(self, user: AbstractBaseUser | AnonymousUser) -> "ProjectQuerySet":
        """The projects a user may see, each with the user's `role` in it; a superuser owns all."""
        is_superuser = getattr(user, "is_superuser", False)
        role = Value(MemberRole.OWNER.value) if is_superuser else F("memberships__role")
        return self.visible_to(user).annotate(own_role=role)


class ProjectManager(models.Manager.from_queryset(ProjectQuerySet)):  # type: ignore[misc]
    """The projects that there are for anybody: not those that are being deleted."""

    def get_queryset(self) -> ProjectQuerySet:
        """Leave out what is being deleted, so that no door leads to it."""
        rows: ProjectQuerySet = super().get_queryset()
        return rows.filter(deleted_at=None)


class DoomedManager(models.Manager["Project"]):
    """The projects that are being deleted."""

    def get_queryset(self) -> models.QuerySet["Project"]:
        """Leave out all others."""
        return super().get_queryset().exclude(deleted_at=None)


class Project(models.Model):
    """The tenant: nothing crosses projects.

    One with `deleted_at` is gone for everybody but the worker that removes what is in it, and holds the lease. Deleted
    sessions that are too large to go in one request are put into such a project of their own.
    """

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    settings = models.JSONField(default=dict, blank=True, help_text="Sparse overrides of the memory settings.")
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ProjectManager()
    doomed = DoomedManager()

    class Meta:
        ordering = ["slug"]
        indexes = [
            models.Index(fields=["deleted_at"], condition=~models.Q(deleted_at=None), name="project_doomed"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def role(self) -> str:
        """What the user is in it that it was looked up for by `with_role_of`; nothing otherwise."""
        return getattr(self, "own_role", "")

    @property
    def may_edit(self) -> bool:
        """Whether the user that it was looked up for may change what is in it."""
        return may(self.role, Right.EDIT)

    @property
    def may_manage(self) -> bool:
        """Whether the user that it was looked up for may manage it."""
        return may(self.role, Right.MANAGE)


class MembershipQuerySet(models.QuerySet["Membership"]):
    """Filters over memberships."""

    def owners(self) -> "MembershipQuerySet":
        """Those of owners who can sign in."""
        return self.filter(role=MemberRole.OWNER, user__is_active=True)


class Membership(models.Model):
    """A user's belonging to a project, and the role in which."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=member_roles, default=MemberRole.EDITOR)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}"


class Scope(models.TextChoices):
    """What an API key may do; each is granted by itself."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """Filters over keys, and their order."""

    def in_force(self, now: datetime) -> "ApiKeyQuerySet":
        """Those that are neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)

    def in_force_first(self, now: datetime) -> "ApiKeyQuerySet":
        """Those in force by name, then those that were revoked or have expired, newest first."""
        expired = When(expires_at__lte=now, then=F("expires_at"))
        ended = Case(When(revoked_at__isnull=False, then=F("revoked_at")), expired)
        return self.order_by(ended.desc(nulls_first=True), "name", "pk")


class ApiKey(models.Model):
    """A bot's key: the secret is stored as its SHA-256 only and looked up by `key_id`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=200)
    key_id = models.CharField(max_length=32, unique=True)
    secret_hash = models.CharField(max_length=64)
    scopes = models.JSONField(default=list)
    actor = models.CharField(max_length=200, blank=True, help_text="Who made it; nobody: a command on the server.")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="From then on it is refused; empty: never.")

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["project", "name", "pk"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return self.name

    def has_expired(self, now: datetime) -> bool:
        """Whether it is refused because its time is over."""
        return self.expires_at is not None and self.expires_at <= now

    def is_idle(self, now: datetime) -> bool:
        """Whether it was used once and long not since."""
        return self.last_used_at is not None and self.last_used_at < now - IDLE_AFTER


class IdempotentAnswer(models.Model):
    """The answer kept for an Idempotency-Key, written in the transaction of the work it answers.

    It repeats text of the session it is about, so it goes when that goes.
    """

    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE)
    session = models.ForeignKey("Session", null=True, on_delete=models.CASCADE, related_name="+")
    scope = models.CharField(max_length=300, help_text="Hash of the method and path of the request.")
    key = models.CharField(max_length=255)
    body_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.TextField()
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["api_key", "scope", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return self.key
