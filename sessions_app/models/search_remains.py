"""What deleted texts leave behind in the full-text index of SQLite, until the parts of the index are merged.

FTS5 finds an entry no more as soon as it is deleted, but its words stay in the file until what they stand in is written
anew. PostgreSQL's housekeeping does the like by itself.
"""

from django.db import connection

from sessions_app.models.search_index import TABLE

REMAINS = "sessions_app_searchremains"
CREATE = f"CREATE TABLE IF NOT EXISTS {REMAINS} (id integer PRIMARY KEY AUTOINCREMENT)"
_PAGES_AT_ONCE = 200


def remember_remains() -> None:
    """Remember, in the transaction that deletes entries, that something of them remains."""
    if connection.vendor == "sqlite":
        _execute(f"INSERT INTO {REMAINS} DEFAULT VALUES")


def newest_remains() -> int:
    """Return which deletion left something last; 0 if nothing is left of any."""
    return _value(f"SELECT COALESCE(MAX(id), 0) FROM {REMAINS}") if connection.vendor == "sqlite" else 0  # noqa: S608


def merge_some(*, first: bool) -> bool:
    """Merge a bounded part of the index; the first step begins with all parts. Return whether there is more to do."""
    before = _value("SELECT total_changes()")
    pages = -_PAGES_AT_ONCE if first else _PAGES_AT_ONCE
    _execute(f"INSERT INTO {TABLE} ({TABLE}, rank) VALUES ('merge', {pages})")  # noqa: S608
    # Fewer than two changes are none, as SQLite tells.
    return _value("SELECT total_changes()") - before > 1


def forget_remains(through: int) -> None:
    """Nothing is left of the deletions up to this one."""
    _execute(f"DELETE FROM {REMAINS} WHERE id <= {through:d}")  # noqa: S608


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _value(query: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])
