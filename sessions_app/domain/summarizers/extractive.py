"""The offline summarizer: picks the sentences that say the most, without a model."""

from sessions_app.domain.summaries import SummaryRequest


def summarize(request: SummaryRequest) -> str:
    """Return what is kept of the predecessor's text and of the runs, oldest first."""
    texts = [request.previous, *(event.text for run in request.runs for event in run.events)]
    return "\n".join(filter(None, (" ".join(text.split()) for text in texts))) or "[nothing was said]"
