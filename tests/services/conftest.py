"""What tests of services share."""

import pytest

from sessions_app.services import summaries
from tests.services.summarizing import Scripted


@pytest.fixture
def scripted(monkeypatch):
    def install(*script):
        summarizer = Scripted(*script)
        monkeypatch.setitem(summaries.SUMMARIZERS, "extractive", summarizer)
        return summarizer

    return install
