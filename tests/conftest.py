"""What every test needs."""

import pytest


@pytest.fixture(autouse=True)
def plain_static_files(settings):
    """Serve static files from where they stand: tests collect none, so there is no manifest of hashed names."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.WHITENOISE_AUTOREFRESH = True
