"""What tests of services share."""

import pytest

from sessions_app.services import summarizers
from tests.services.summarizing import Scripted, by_request


@pytest.fixture
def scripted(monkeypatch):
    def install(*script):
        summarizer = Scripted(*script)
        monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(summarizer))
        return summarizer

    return install
