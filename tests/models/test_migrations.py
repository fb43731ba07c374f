"""What migrations do with rows that are there already."""

from importlib import import_module

import pytest
from django.apps import apps

from sessions_app.models import Run
from tests.factories import make_session

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("metadata", "left", "extras"),
    [
        ({"openai": {"1": {"name": "bob"}}, "k": 1}, {"k": 1}, {"1": {"name": "bob"}}),
        ({"openai": {"instructions": []}}, {}, {"instructions": []}),
        ({"openai": "a bot's own"}, {"openai": "a bot's own"}, {}),
        ({"openai": {"model": "x"}}, {"openai": {"model": "x"}}, {}),
    ],
)
def test_what_messages_said_beyond_events_leaves_the_metadata(metadata, left, extras):
    make_session(runs=1)
    Run.objects.update(metadata=metadata)

    import_module("sessions_app.migrations.0004_run_extras_and_adopted_summaries").move_extras(apps, None)

    run = Run.objects.get()
    assert (run.metadata, run.extras) == (left, extras)
