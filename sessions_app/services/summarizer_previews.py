"""What templates would make of a session: the request for its next summary, and how a prompt introduces one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from sessions_app.domain.introductions import Introduction, introduced
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.summarizers import extractive
from sessions_app.domain.summarizers.example import example
from sessions_app.domain.summarizers.openai import model_request, pieces_of
from sessions_app.domain.transcript import Run, SummaryEntry, TranscriptReader
from sessions_app.models import Project, ProjectSummarizer, Session, SessionTranscript, lineage_runs
from sessions_app.services.model_summaries import form_of
from sessions_app.services.prompts import as_stored, effective_settings
from sessions_app.services.settings import project_settings

# As many runs are read as show what a request looks like; a real one takes as many as fit the window.
MOST_RUNS = 200
MOST_TOKENS = 32_000


@dataclass(frozen=True, slots=True)
class Sample:
    """What templates are shown on: the summary in use, maybe none, and runs behind it, maybe none.

    `session` is None for the built-in example. `aged` says that the runs are those that are summarized next; else they
    are all among the newest `offset`.
    """

    session: Session | None
    settings: EffectiveSettings
    summary: SummaryEntry | None
    runs: Sequence[Run]
    aged: bool

    @property
    def first(self) -> int:
        """The position of the first of the runs."""
        return self.runs[0].position

    @property
    def last(self) -> int:
        """The position of the last of the runs."""
        return self.runs[-1].position

    @property
    def request(self) -> SummaryRequest:
        """What a summarizer would be given."""
        counter = self.settings.model.counter
        return SummaryRequest(
            previous=self.summary.text if self.summary else "",
            runs=tuple(self.runs),
            max_tokens=self.settings.values.max_summary_tokens,
            count_tokens=lambda text: counter.scaled(counter.text(text)),
        )


@dataclass(frozen=True, slots=True)
class RequestPreview:
    """The message that a model would be sent first, its tokens, and how many such calls the runs take."""

    text: str
    tokens: int
    calls: int


@dataclass(frozen=True, slots=True)
class IntroductionPreview:
    """How a prompt would hold a summary, and how many tokens its own heading would need instead.

    `is_extract` says that the session has no summary yet and an offline one is shown.
    """

    shown: Introduction
    with_heading: int
    is_extract: bool


def sample_of(*, project: Project, session: Session | None) -> Sample:
    """Return what stands next in a session as it is stored, or the built-in example under the project's settings."""
    if session is None:
        return _sample(None, project_settings(project=project), example(), example().runs[1:])
    with as_stored(session) as stored:
        settings, reader = effective_settings(session=stored), SessionTranscript(stored)
        summary = reader.newest_summary(reader.finished_through)
        first = summary.covers_through + 1 if summary else 1
        return _sample(stored, settings, reader, _runs(stored, first, reader.finished_through))


def _sample(
    session: Session | None, settings: EffectiveSettings, reader: TranscriptReader, behind: Sequence[Run]
) -> Sample:
    summary = reader.newest_summary(reader.finished_through)
    aged = [run for run in behind if run.position <= reader.finished_through - settings.values.offset]
    return Sample(session, settings, summary, aged or behind, aged=bool(aged))


def _runs(session: Session, first: int, last: int) -> list[Run]:
    last = min(last, first + MOST_RUNS - 1)
    behind = lineage_runs(session, first=first, last=last).order_by("position")
    sums = accumulate(behind.values_list("tokens_o200k", flat=True))
    wanted = max(1, sum(tokens <= MOST_TOKENS for tokens in sums))
    return [row.to_value() for row in behind.filter(position__lt=first + wanted).with_events()]


def preview_request(*, sample: Sample, chosen: ProjectSummarizer) -> RequestPreview:
    """Return what is asked first, exactly; raises SummarizerFailed where the window leaves no room for a run."""
    request, form = sample.request, form_of(chosen)
    pieces = pieces_of(request, form)
    asked = model_request(request, form, text_so_far=request.previous, runs=pieces[0])
    return RequestPreview(asked.text, form.request_tokens(asked.text), len(pieces))


def preview_introduction(*, sample: Sample, template: str) -> IntroductionPreview | None:
    """Return how the sample's summary would stand in a prompt; None if nothing is there to be summarized."""
    entry = sample.summary
    if entry is None and sample.runs:
        entry = SummaryEntry("", 1, sample.runs[-1].position, extractive.summarize(sample.request))
    if entry is None:
        return None
    shown = introduced(entry, replace(sample.settings, summary_template=template))
    bare = introduced(entry, replace(sample.settings, summary_template=""))
    return IntroductionPreview(shown, bare.tokens, is_extract=sample.summary is None)
