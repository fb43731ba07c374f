"""The baseline: the first sentence of each message, in order, as many as fit."""

import re

from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.transcript import Event

# The second kind is how Chinese and Japanese end a sentence.
_END = re.compile(r"(?<=[.!?\u2026])\s|(?<=[\u3002\uff01\uff1f])|\n")


def summarize(request: SummaryRequest) -> str:
    """Keep the predecessor's text, and add a line for each message that still fits."""
    text = request.previous
    for run in request.runs:
        for event in run.events:
            longer = f"{text}\n{first_sentence(_said(event))}".strip()
            text = longer if request.fits(longer) else text
    return text


def first_sentence(text: str) -> str:
    """Return a message's beginning up to the end of its first sentence or line."""
    return _END.split(text.strip(), maxsplit=1)[0].strip()


def _said(event: Event) -> str:
    """Return a message's text; a tool's is its result."""
    return event.tool.result or "" if event.tool else event.text
