"""A worker whose first summarizer never comes back: `celery -A tests.tasks.slow_worker worker`.

The file named by SLOW_MARK is made when the summarizer is called; once it is there, summarizing works as always.
"""

import os
import time
from datetime import timedelta
from pathlib import Path

import django

from convoweb.celery import app

django.setup()

from sessions_app.domain.summaries import SummarizerName  # noqa: E402 (models need the setup)
from sessions_app.domain.summarizers import extractive  # noqa: E402
from sessions_app.services import summarizers, summary_claims  # noqa: E402
from tests.services.summarizing import by_request  # noqa: E402

__all__ = ["app"]

summary_claims.LEASE = timedelta(seconds=2)


def slow_once(request):
    mark = Path(os.environ["SLOW_MARK"])
    if mark.exists():
        return extractive.summarize(request)
    mark.touch()
    time.sleep(600)
    return "never"


summarizers.SUMMARIZERS[SummarizerName.EXTRACTIVE] = by_request(slow_once)
