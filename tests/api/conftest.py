"""A bot with a key."""

import json

import pytest
from django.test import Client

from sessions_app.services.keys import create_api_key
from tests.factories import make_project

BASE = "/api/v1"


class Bot:
    """Calls the API with a key, JSON in and out."""

    def __init__(self, text):
        self.headers = {"Authorization": f"Bearer {text}"} if text else {}
        self.client = Client(raise_request_exception=True)

    def call(self, method, path, body=None, *, headers=None, content_type="application/json"):
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.client.generic(
            method, BASE + path, data, content_type=content_type, headers={**self.headers, **(headers or {})}
        )

    def get(self, path, **options):
        return self.call("GET", path, **options)

    def pages(self, path):
        """Walk through a list to its end."""
        page = self.get(path).json()
        yield page
        while page["next_cursor"] is not None:
            page = self.get(f"{path}&cursor={page['next_cursor']}").json()
            yield page

    def post(self, path, body=None, **options):
        return self.call("POST", path, body, **options)

    def put(self, path, body=None, **options):
        return self.call("PUT", path, body, **options)

    def patch(self, path, body=None, **options):
        return self.call("PATCH", path, body, **options)

    def delete(self, path, **options):
        return self.call("DELETE", path, **options)


@pytest.fixture
def project(db):
    return make_project()


@pytest.fixture
def make_bot():
    def make(project, *scopes):
        return Bot(create_api_key(project=project, name="bot", scopes=scopes or ("read", "write", "admin"))[1])

    return make


@pytest.fixture
def bot(project, make_bot):
    return make_bot(project)


@pytest.fixture
def anyone():
    return Bot("")
