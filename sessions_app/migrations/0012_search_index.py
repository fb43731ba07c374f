"""Make the full-text index and bring in what is there already, in batches; broken off, it can be run again."""

from itertools import groupby

from django.db import migrations, transaction

from sessions_app.models import search_index, search_remains

AT_ONCE = 1000


def create(apps, schema_editor):
    search_index.create_index()
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(search_remains.CREATE)


def bring_in_what_is_there(apps, schema_editor):
    for sessions in _batches(apps.get_model("sessions_app", "Session").objects.only("title", "public_id", "project_id")):
        with transaction.atomic():
            search_index.index_sessions(sessions)
    columns = ("text", "tool_name", "arguments", "error", "result", "run__project")
    for events in _batches(apps.get_model("sessions_app", "Event").objects.select_related("run").only(*columns)):
        with transaction.atomic():
            for project_pk, some in groupby(events, key=lambda event: event.run.project_id):
                search_index.index_events(some, project_pk=project_pk)


def _batches(rows):
    last = 0
    while some := list(rows.filter(pk__gt=last).order_by("pk")[:AT_ONCE]):
        yield some
        last = some[-1].pk


def drop(apps, schema_editor):
    for table in (search_index.TABLE, search_remains.REMAINS):
        schema_editor.execute(f"DROP TABLE IF EXISTS {table}")


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('sessions_app', '0011_settings_versions'),
    ]

    operations = [
        migrations.RunPython(create, drop),
        migrations.RunPython(bring_in_what_is_there, migrations.RunPython.noop),
    ]
