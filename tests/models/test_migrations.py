"""What migrations do with rows that are there already."""

from importlib import import_module

import pytest
from django.apps import apps

from sessions_app.models import MetadataEntry, Project, Run, Session, SettingsVersion
from tests.factories import NOW, make_project, make_session

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


def test_lost_and_unseen_runs_are_taken_from_stored_figures(monkeypatch):
    figures = [{"unseen": 5, "lost": 2}, {"unseen": 4, "lost": 0}, {"error": "no budget"}, None]
    for number, snapshot in enumerate(figures):
        make_session(Project.objects.get_or_create(slug="p")[0], f"s{number}")
        Session.objects.filter(public_id=f"s{number}").update(prompt_snapshot=snapshot)
    migration = import_module("sessions_app.migrations.0013_lost_and_unseen_runs")
    monkeypatch.setattr(migration, "AT_ONCE", 2)

    migration.take_from_snapshots(apps, None)

    taken = Session.objects.order_by("public_id").values_list("unseen_runs", "lost_runs")
    assert list(taken) == [(5, 2), (4, 0), (0, 0), (0, 0)]


def test_what_is_in_force_when_versions_begin_is_the_first_of_them():
    project = make_project(settings={"offset": 3})
    make_session(project, "own", settings={"max_runs": 5})
    make_session(project, "none")
    make_session(make_project("q"), "other")
    SettingsVersion.objects.all().delete()

    import_module("sessions_app.migrations.0011_settings_versions").keep_what_is_found(apps, None)

    kept = SettingsVersion.objects.order_by("project__slug", "session__public_id")
    rows = {(row.project.slug, str(row.session or "")): (row.number, row.settings, row.origin) for row in kept}
    assert rows == {
        ("p", ""): (1, {"offset": 3}, "found"),
        ("p", "own"): (1, {"max_runs": 5}, "found"),
        ("q", ""): (1, {}, "found"),
    }
    assert kept[0].saved_at > kept[0].project.created_at


def test_what_filters_read_is_taken_from_runs_children_and_metadata(monkeypatch):
    project = make_project()
    trip = make_session(project, "trip", runs=2, metadata={"channel": "web", "level": 7})
    make_session(project, "late", parent=make_session(project, "hotel", parent=trip))
    Run.objects.filter(position=2).update(model="o3")
    kept = list(MetadataEntry.objects.order_by("digest").values_list("session", "digest"))
    MetadataEntry.objects.all().delete()
    Session.objects.update(has_children=False, newest_model="?", summary_wanted_at=None)
    make_session(make_project("q", settings={"keep_tool_results": 2}), "inherits", now=NOW)
    make_session(project, "cuts", settings={"tool_result_max_tokens": 9}, now=NOW)
    migration = import_module("sessions_app.migrations.0020_list_filters")
    monkeypatch.setattr(migration, "AT_ONCE", 2)

    migration.fill(apps, None)

    columns = Session.objects.order_by("pk").values_list("public_id", "newest_model", "has_children")
    assert list(columns)[:3] == [("trip", "o3", True), ("hotel", "", True), ("late", "", False)]
    wanted = Session.objects.filter(summary_wanted_at__gt=NOW).values_list("public_id", flat=True)
    assert set(wanted) == {"inherits", "cuts"}
    assert len(kept) == 2
    assert list(MetadataEntry.objects.order_by("digest").values_list("session", "digest")) == kept
