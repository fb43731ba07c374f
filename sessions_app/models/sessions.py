"""Sessions: conversations in trees."""

from django.db import models
from django.db.models import ExpressionWrapper, F, Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Lower
from django.db.models.lookups import Exact

from sessions_app.models.fields import BytewiseCharField, Constant
from sessions_app.models.projects import Project

# Where a child starts in its parent; the children of one parent stand in this order, then in that of their making.
CHILD_START = Coalesce("forked_at", Constant(0))
# What all runs of its lineage need in a prompt, in o200k_base.
LINEAGE_TOKENS = F("shared_tokens_o200k") + F("tokens_o200k")
# Written into the statement, so that SQLite knows the index over it.
HAS_OWN_SETTINGS = ~Q(settings=RawSQL("'{}'", ()))


class SessionQuerySet(models.QuerySet["Session"]):
    """Filters over sessions."""

    def roots(self) -> "SessionQuerySet":
        """Sessions without a parent."""
        return self.filter(parent=None)

    def found_in(self, project_pk: int) -> "SessionQuerySet":
        """Those of a project, by a condition for which there is no index: another one names them by their keys.

        Else SQLite goes through all sessions of the project in the order of the list until enough have been found.
        """
        return self.filter(Exact(ExpressionWrapper(F("project_id") + 0, models.BigIntegerField()), project_pk))

    def in_tree_of(self, session: "Session") -> "SessionQuerySet":
        """All sessions of the tree that a session stands in."""
        return self.filter(root_id=session.root_id)


class Session(models.Model):
    """One conversation; positions of its own runs go on from those it shares with its parent.

    `last_position` is the lineage position of the newest run. `tokens_o200k` sums the own runs' tokens,
    `shared_tokens_o200k` those of the shared runs up to `forked_at`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sessions")
    public_id = BytewiseCharField("id", max_length=200)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="children")
    root = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    depth = models.PositiveIntegerField(default=0)
    forked_at = models.PositiveIntegerField(null=True, blank=True)
    title = models.CharField(max_length=500, blank=True)
    instructions = models.TextField(blank=True)
    user_id = models.CharField(max_length=200, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    settings = models.JSONField(default=dict, blank=True, help_text="Sparse overrides of the memory settings.")
    source = models.CharField(max_length=40, blank=True, help_text="The file format it was imported from.")
    source_id = BytewiseCharField(max_length=255, blank=True, help_text="Its identity in that source.")
    last_position = models.PositiveIntegerField(default=0)
    newest_model = models.CharField(max_length=200, blank=True, help_text="The model of its newest own run.")
    has_children = models.BooleanField(default=False)
    tokens_o200k = models.PositiveBigIntegerField(default=0)
    shared_tokens_o200k = models.PositiveBigIntegerField(default=0)
    summary = models.ForeignKey("Summary", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    summary_wanted_at = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    summarize_through = models.PositiveIntegerField(
        default=0, help_text="A person asked for a summary through this run, whatever the settings say."
    )
    rests_since = models.DateTimeField(null=True, blank=True, help_text="Since a rollback nothing is summarized.")
    rests_by = models.CharField(max_length=200, blank=True)
    prompt_snapshot = models.JSONField(null=True, blank=True, help_text="The next prompt as it was last worked out.")
    lost_runs = models.PositiveIntegerField(default=0, help_text="How many the next prompt loses, as last worked out.")
    unseen_runs = models.PositiveIntegerField(default=0, help_text="How many the model cannot see, with those.")
    cut_results = models.PositiveIntegerField(
        default=0, help_text="How many tool results it cuts or leaves out, as last worked out."
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    tree_active_at = models.DateTimeField(help_text="At a root: when anything in its tree last changed.")

    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = "conversation"
        constraints = [
            models.UniqueConstraint(fields=["project", "public_id"], name="session_id_once_in_project"),
            models.UniqueConstraint(
                fields=["project", "source", "source_id"],
                condition=~Q(source_id=""),
                name="session_source_once_in_project",
            ),
            models.CheckConstraint(condition=Q(forked_at=None) | ~Q(parent=None), name="session_fork_has_parent"),
        ]
        indexes = [
            models.Index(fields=["root", "depth", "id"], name="session_tree"),
            models.Index(F("parent"), CHILD_START, F("id"), F("forked_at"), name="session_children"),
            models.Index(
                fields=["project", "-tree_active_at", "-id"],
                condition=Q(parent=None),
                name="session_roots_by_activity",
            ),
            models.Index(
                fields=["project", "-last_position", "-id"],
                condition=Q(parent=None),
                name="session_roots_by_length",
            ),
            models.Index(
                F("project"), Lower("title"), F("id"), condition=Q(parent=None), name="session_roots_by_title"
            ),
            models.Index(
                fields=["project", "-unseen_runs", "-id"], condition=Q(parent=None), name="session_roots_by_unseen"
            ),
            models.Index(
                F("project"),
                LINEAGE_TOKENS.desc(),
                F("id").desc(),
                condition=Q(parent=None),
                name="session_roots_by_tokens",
            ),
            models.Index(
                fields=["project", "-created_at", "-id"], condition=Q(parent=None), name="session_roots_by_creation"
            ),
            models.Index(
                fields=["project", "-updated_at", "-id"],
                condition=~Q(forked_at=None),
                name="session_forks_by_activity",
            ),
            models.Index(fields=["project", "-created_at", "-id"], name="session_by_creation"),
            # With the title and the id, so that searching for words reads this alone.
            models.Index(fields=["project", "-updated_at", "-id", "title", "public_id"], name="session_by_activity"),
            models.Index(fields=["project", "user_id", "-updated_at", "-id"], name="session_by_user"),
            models.Index(
                fields=["summary_wanted_at"],
                condition=~Q(summary_wanted_at=None),
                name="session_summary_wanted",
            ),
            models.Index(
                fields=["project", "-updated_at", "-id"], condition=Q(lost_runs__gt=0), name="session_with_lost"
            ),
            models.Index(
                fields=["project", "-updated_at", "-id"], condition=Q(unseen_runs__gt=0), name="session_with_unseen"
            ),
            models.Index(
                fields=["project", "-updated_at", "-id"], condition=Q(cut_results__gt=0), name="session_with_cut"
            ),
            models.Index(
                fields=["project", "-updated_at", "-id"], condition=Q(has_children=True), name="session_with_children"
            ),
            models.Index(
                fields=["project", "-updated_at", "-id"], condition=HAS_OWN_SETTINGS, name="session_with_own_settings"
            ),
            models.Index(fields=["project", "newest_model", "-updated_at", "-id"], name="session_by_newest_model"),
            # What the sidebar counts.
            models.Index(
                fields=["project", "id"],
                condition=~Q(next_attempt_at=None),
                name="session_summary_failing",
            ),
            models.Index(fields=["project", "id"], condition=~Q(rests_since=None), name="session_summary_resting"),
        ]

    def __str__(self) -> str:
        return self.title or self.public_id

    @property
    def first_position(self) -> int:
        """The lineage position of the session's first own run, or where it would stand."""
        return (self.forked_at or 0) + 1

    @property
    def own_run_count(self) -> int:
        """How many runs the session holds itself."""
        return self.last_position - self.first_position + 1

    @property
    def lineage_tokens(self) -> int:
        """What all runs of the lineage need in a prompt, in o200k_base."""
        return self.shared_tokens_o200k + self.tokens_o200k


class SessionTag(models.Model):
    """A tag of a session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=100, db_index=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "tag"
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="tag_once_in_session")]

    def __str__(self) -> str:
        return self.name
