"""What every test needs."""

import pytest

from sessions_app import clients


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    """Hash passwords in no time, which those of tests need no protection from."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def plain_static_files(settings):
    """Serve static files from where they stand: tests collect none, so there is no manifest of hashed names."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture
def published(monkeypatch):
    """What would have been put into the broker's queue: (the work, its ids)."""
    published = []
    monkeypatch.setattr(clients, "publish", lambda work, *ids, **_options: published.append((work, ids)))
    return published
