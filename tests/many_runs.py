"""Sessions of as many runs as nobody could append one by one: the first run again and again, by SQL."""

from django.core.management.color import no_style
from django.db import connection
from django.db.models import F

from sessions_app.models import Event, Run, Session
from sessions_app.models.search_index import TABLE
from tests.factories import analyze_if_many, make_session

NUMBERS = "WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {})"


def make_long_session(project, public_id, runs, **fields):
    """Return a session of `runs` equal turns, which search finds as it finds others."""
    session = make_session(project, public_id, runs=1, **fields)
    first = session.runs.get()
    more, tokens = runs - 1, first.tokens_o200k
    new_runs = newest_key(Run)
    repeat(Run, first.pk, more, id=f"{new_runs} + i", position="i + 1", public_id=f"'{public_id}' || i")
    Run.objects.filter(session=session).update(tokens_before_o200k=tokens * (F("position") - 1))
    for event in first.events.all():
        new_events = newest_key(Event)
        repeat(Event, event.pk, more, id=f"{new_events} + i", run_id=f"{new_runs} + i")
        repeat_entry(event.pk, more, f"{new_events} + i", f"{new_runs} + i")
    Session.objects.filter(pk=session.pk).update(last_position=runs, tokens_o200k=tokens * runs)
    settle(runs, Run, Event)
    session.refresh_from_db()
    return session


def settle(count, *models):
    """Let the database go on behind rows whose keys it did not give, and plan for as many as there are."""
    execute(*connection.ops.sequence_reset_sql(no_style(), models))
    analyze_if_many(count)


def newest_key(model):
    """Return the largest key that there is."""
    return model.objects.order_by("-pk").values_list("pk", flat=True).first()


def repeat(model, pk, count, /, **changed):
    """Write a row so many times more, with these columns as SQL makes them of i, from 1."""
    columns = [field.column for field in model._meta.concrete_fields]
    wanted = ", ".join(changed.get(column, f'source."{column}"') for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    table = model._meta.db_table
    execute(
        f"{NUMBERS.format(count)} INSERT INTO {table} ({names}) SELECT {wanted} "
        f"FROM {table} AS source, numbers WHERE source.id = {pk}"
    )


def repeat_entry(pk, count, key, run):
    """Write what search knows of a row so many times more, under keys and of runs as SQL makes them of i."""
    fields = ("rowid", "project, words") if connection.vendor == "sqlite" else ("id", "words")
    execute(
        f"{NUMBERS.format(count)} INSERT INTO {TABLE} ({fields[0]}, run_id, {fields[1]}) "
        f"SELECT {key}, {run}, {fields[1]} FROM {TABLE} AS source, numbers WHERE source.{fields[0]} = {pk}"
    )


def execute(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
