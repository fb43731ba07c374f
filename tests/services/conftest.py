"""What tests of services share."""

import pytest
from pydantic import SecretStr

from sessions_app.services import summarizers
from tests.factories import make_project
from tests.scripted_endpoint import ScriptedEndpoint
from tests.services.summarizing import KEY, Scripted, by_request, choose_model


@pytest.fixture
def scripted(monkeypatch):
    def install(*script):
        summarizer = Scripted(*script)
        monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(summarizer))
        return summarizer

    return install


@pytest.fixture
def endpoint():
    with ScriptedEndpoint() as server:
        yield server


@pytest.fixture
def model_project(endpoint, settings):
    settings.CONVOWEB_ENDPOINTS = {"local": endpoint.url}
    settings.CONVOWEB_ENDPOINT_KEYS = {"local": SecretStr(KEY)}
    made = make_project()
    choose_model(made)
    return made
