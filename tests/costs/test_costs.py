"""What each page and each endpoint costs: as much where there is many times as much.

Counted are queries, the rows that they bring, and the steps in which SQLite finds those, which other databases do not
tell; so this is tried on the first one only.
"""

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from convoweb.api import api
from sessions_app.models import said, search_index
from sessions_app.queries import (
    capped_counts,
    descendant_counts,
    run_strips,
    search_hits,
    session_finding,
    sessions,
    summary_ledgers,
)
from sessions_app.urls import urlpatterns
from sessions_app.views import tune_replay
from tests.api.conftest import Bot
from tests.costs import endpoints, pages
from tests.costs.counting import counted
from tests.costs.worlds import BIG, SMALL, make_world

BACKEND = "django.contrib.auth.backends.ModelBackend"
MOST_QUERIES, MOST_ROWS, MEGABYTE = 80, 3_500, 1_000_000
STEPS_AT_WORST = 1.5
# What planning and a deeper index may add.
STEPS_MORE = 3_000
# Where counting and reading stop at so many, both worlds have more.
STOPS = (
    (capped_counts, "COUNTED_AT_MOST", 50),
    (descendant_counts, "COUNTED_AT_MOST", 50),
    (sessions, "COUNTED_AT_MOST", 50),
    (summary_ledgers, "COUNTED_AT_MOST", 50),
    (search_index, "PLACES_READ", 80),
    (sessions, "PLACES_READ", 80),
    (search_index, "PLACES_READ_FOR_ONE", 90),
    (session_finding, "MOST_FOUND", 50),
    (search_hits, "MOST_FOUND", 50),
    (said, "RUNS_READ", 80),
    (said, "MOST_HITS", 50),
    (run_strips, "MOST_BARS", 50),
    # What begins only when it is asked for does so at neither length.
    (tune_replay, "LIVE", 0),
)


@pytest.mark.any_database
@pytest.mark.django_db
def test_every_page_and_endpoint_costs_the_same_with_many_times_as_much(monkeypatch, published, subtests):
    for module, name, value in STOPS:
        monkeypatch.setattr(module, name, value)
    small = costs_in(make_world("small", SMALL))
    big = costs_in(make_world("big", BIG))
    for (name, asked, few), (_, _, many) in zip(small, big, strict=True):
        with subtests.test(f"{name} {asked}"):
            check(few, many, asked)


def check(few, many, asked):
    assert few.queries == many.queries
    assert abs(few.rows - many.rows) <= asked.leeway
    assert 0 <= many.queries < MOST_QUERIES
    assert many.rows < MOST_ROWS
    assert asked.sums or many.steps <= STEPS_AT_WORST * few.steps + STEPS_MORE


def costs_in(world):
    client, bot = Client(), Bot(world.key)
    client.force_login(world.user, backend=BACKEND)
    return [
        *(
            (name, asked, cost_of(open_page, client, name, asked, world.samples))
            for name, listed in pages.PAGES.items()
            for asked in listed
        ),
        *(
            (name, asked, cost_of(call, bot, name, asked, world.samples))
            for name, listed in endpoints.ENDPOINTS.items()
            for asked in listed
        ),
    ]


def cost_of(ask, *given):
    """Ask, and undo what that wrote."""
    with transaction.atomic(), counted() as cost:
        answer = ask(*given)
        transaction.set_rollback(True)
    assert answer.status_code < 400, (answer.status_code, answer.content[:500])
    assert len(answer.content) < MEGABYTE
    return cost


def open_page(client, name, asked, samples):
    parts = next(pattern.pattern.converters for pattern in urlpatterns if pattern.name == name)
    address = reverse(name, kwargs={part: samples[part] for part in parts})
    headers = {"HX-Request": "true"} if asked.swap else {}
    query = asked.query.format(**samples)
    if asked.form is not None:
        return client.post(f"{address}?{query}", filled(asked.form, samples), headers=headers)
    return client.get(f"{address}?{query}", headers=headers)


def call(bot, name, called, samples):
    method, path = name.split()
    address = f"{path}?{called.query}".format(**samples).rstrip("?")
    return bot.call(method, address, None if called.body is None else filled(called.body, samples))


def filled(given, samples):
    """Return what is sent, with what the samples say in the place of what stands for them."""
    if isinstance(given, dict):
        return {name: filled(value, samples) for name, value in given.items()}
    stands_for = isinstance(given, str) and given.startswith("{")
    return samples[given.strip("{}")] if stands_for else given


def test_no_page_is_left_out():
    listed = [*pages.PAGES, *pages.NOT_COUNTED]
    assert sorted(listed) == sorted(str(pattern.name) for pattern in urlpatterns)


def test_no_endpoint_is_left_out():
    paths = api.get_openapi_schema(path_prefix="")["paths"].items()
    operations = [f"{method.upper()} {path}" for path, methods in paths for method in methods]
    assert sorted([*endpoints.ENDPOINTS, *endpoints.NOT_COUNTED]) == sorted(operations)
