"""Which summarizer a project has chosen, and the answers it has paid for."""

from django.db import models

from sessions_app.domain.summaries import SummarizerName
from sessions_app.models.model_overrides import price_field
from sessions_app.models.projects import Project
from sessions_app.models.sessions import Session


def summarizer_names() -> list[tuple[str, str]]:
    """Return the choices of a summarizer."""
    return [(name.value, name.value) for name in SummarizerName]


class ProjectSummarizer(models.Model):
    """A project's choice of summarizer; a project without one uses the offline one.

    `endpoint` is a name from the operator's list, never an address; an empty template is the built-in one, a window or
    price that is null is that of the table of models.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="summarizer")
    name = models.CharField(max_length=40, choices=summarizer_names, default=SummarizerName.EXTRACTIVE)
    endpoint = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    timeout_seconds = models.PositiveIntegerField(default=60)
    context_window = models.PositiveIntegerField(null=True, blank=True, help_text="In tokens, request and answer.")
    input_price = price_field("In USD per million tokens.")
    output_price = price_field("In USD per million tokens.")
    request_template = models.TextField(blank=True, help_text="What the model is asked; {summary} and {runs}.")
    summary_template = models.TextField(blank=True, help_text="How a prompt introduces the summary; {summary}.")

    def __str__(self) -> str:
        return f"{self.name} of {self.project}"

    @property
    def model_asked(self) -> str:
        """The model that writes the summaries, empty where none does."""
        return self.model if self.name == SummarizerName.OPENAI else ""


class SummarizerAnswer(models.Model):
    """An answer that was paid for, so that the same request need not be paid for again in its project.

    It goes with the session that it was for.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    request_hash = models.CharField(max_length=64)
    text = models.TextField()
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "request_hash"], name="summarizer_answer_once")]

    def __str__(self) -> str:
        return self.request_hash
