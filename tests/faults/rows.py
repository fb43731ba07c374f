"""What stands in the database, read at one moment by statements of the harness's own."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from django.db import connection

from tests.faults.marks import marks_in

UNFINISHED = ("pending", "running")
SESSIONS = """
    SELECT id, public_id, parent_id, forked_at, last_position, summary_id, settings, summary_wanted_at,
        next_attempt_at, rests_since FROM sessions_app_session ORDER BY id
"""
RUNS = """
    SELECT r.session_id, r.position, r.status, r.tokens_o200k, e.text
    FROM sessions_app_run r JOIN sessions_app_event e ON e.run_id = r.id AND e."index" = 0 ORDER BY 1, 2
"""
ENTRIES = """
    SELECT id, session_id, number, status, origin, predecessor_id, covers_through, text, attempts, retired_at, error
    FROM sessions_app_summary ORDER BY session_id, number
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session."""

    id: int
    name: str
    parent: int | None
    forked_at: int | None
    last_position: int
    summary: int | None
    settings: dict[str, Any]
    wanted_at: object
    next_attempt_at: object
    rests_since: object


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with the mark in its text."""

    session: int
    position: int
    status: str
    tokens: int
    mark: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry of a ledger."""

    id: int
    session: int
    number: int
    status: str
    origin: str
    predecessor: int | None
    covers_through: int
    text: str
    attempts: int
    retired_at: object
    error: str


@dataclass(frozen=True)
class Rows:
    """All rows of one moment."""

    sessions: tuple[SessionRow, ...]
    runs: tuple[RunRow, ...]
    entries: tuple[EntryRow, ...]

    @cached_property
    def by_id(self) -> dict[int, SessionRow]:
        """The sessions by their key."""
        return {session.id: session for session in self.sessions}

    @cached_property
    def ledgers(self) -> dict[int, list[EntryRow]]:
        """The entries of each session, oldest first."""
        found: dict[int, list[EntryRow]] = defaultdict(list)
        for entry in self.entries:
            found[entry.session].append(entry)
        return found

    @cached_property
    def own_runs(self) -> dict[int, list[RunRow]]:
        """The runs that each session holds itself, in order."""
        found: dict[int, list[RunRow]] = defaultdict(list)
        for run in self.runs:
            found[run.session].append(run)
        return found

    def lineage(self, session: SessionRow) -> list[RunRow]:
        """Return the runs a session consists of."""
        if session.parent is None or session.forked_at is None:
            return self.own_runs[session.id]
        return self.lineage(self.by_id[session.parent])[: session.forked_at] + self.own_runs[session.id]

    def finished(self, session: SessionRow) -> int:
        """Return the position of the newest run that has ended."""
        return sum(run.status not in UNFINISHED for run in self.lineage(session))


def read_rows() -> Rows:
    """Read the database at one moment, past the product's models."""
    with closing(_connect()) as opened, _snapshot(opened) as cursor:
        sessions = [SessionRow(*row) for row in _all(cursor, SESSIONS, json_at=(6,))]
        runs = [RunRow(*row, marks_in(text)[0]) for *row, text in _all(cursor, RUNS)]  # type: ignore[call-arg]
        entries = [EntryRow(*row) for row in _all(cursor, ENTRIES)]
    return Rows(tuple(sessions), tuple(runs), tuple(entries))


def _connect() -> Any:
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return sqlite3.connect(f"file:{quote(str(Path(settings['NAME'])))}?mode=ro", uri=True, isolation_level=None)
    given = {name.lower(): settings[name] for name in ("USER", "PASSWORD", "HOST", "PORT")}
    return psycopg.connect(dbname=settings["NAME"], autocommit=True, **given)


@contextmanager
def _snapshot(opened: Any) -> Iterator[Any]:
    cursor = opened.cursor()
    cursor.execute("BEGIN" if connection.vendor == "sqlite" else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    yield cursor
    cursor.execute("COMMIT")


def _all(cursor: Any, statement: str, *, json_at: tuple[int, ...] = ()) -> list[list[Any]]:
    cursor.execute(statement)
    rows = [list(row) for row in cursor.fetchall()]
    for row in rows:
        for place in json_at:
            row[place] = json.loads(row[place]) if isinstance(row[place], str) else row[place]
    return rows
