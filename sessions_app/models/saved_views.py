"""Named filters of the list of sessions, and which of them somebody sees first."""

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils.http import urlencode

from sessions_app.models.fields import BytewiseCharField
from sessions_app.models.projects import Project


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    """What somebody sees of views."""

    def with_default_of(self, user: AbstractBaseUser | AnonymousUser) -> "SavedViewQuerySet":
        """Views of which each says whether the list opens with it for a user, as `is_default`."""
        return self.annotate(is_default=Exists(DefaultView.objects.filter(view=OuterRef("pk"), user=user.pk)))


class SavedView(models.Model):
    """A filter and an order of the list that the members of a project have given a name; `query` as in an address."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_views")
    name = BytewiseCharField(max_length=100)
    query = models.JSONField(default=dict)
    actor = models.CharField(max_length=200, blank=True, help_text="Who saved it.")
    created_at = models.DateTimeField()

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="saved_view_once_in_project")]

    def __str__(self) -> str:
        return self.name

    @property
    def query_string(self) -> str:
        """The filter as the query string of the list."""
        return urlencode(self.query)


class DefaultView(models.Model):
    """The view that a project's list shows somebody who asks for nothing else."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    view = models.ForeignKey(SavedView, on_delete=models.CASCADE, related_name="defaults")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="default_view_once_in_project")]

    def __str__(self) -> str:
        return f"{self.view} for {self.user}"
