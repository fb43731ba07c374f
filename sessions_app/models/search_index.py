"""The full-text index: one entry for each event, and one for each session's title and id.

SQLite keeps it in a table of FTS5, PostgreSQL in a column of type tsvector. Both are given the same words
(`domain.search_words`) and split or fold nothing themselves, so that both find the same.

An event's entry has its key, a session's the negative one of its own. Entries are written by the transaction that
writes what they are made of. They name the project, since the words of others must not even cost time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.db import connection
from django.db.models import Max, Min, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL

from sessions_app.domain.search_words import Sought, Term, words_of
from sessions_app.models.runs import Event, Run, RunQuerySet
from sessions_app.models.sessions import Session, SessionQuerySet

TABLE = "sessions_app_searchentry"
# Of each kind, the newest places at which the words that are sought are looked at.
PLACES_READ = 5_000
# As many where one session is looked through, whose places lie among those of others.
PLACES_READ_FOR_ONE = 50_000
_AT_ONCE = 500
# tsvector keeps no more places of a word, and knows none behind this one.
_PLACES_KEPT = 255
_LAST_PLACE = 16_383

Entry = tuple[int, int | None, int, list[str]]
Row = tuple[int | str | None, ...]


class _Dialect(Protocol):
    """What the databases do differently; `key` is the column of an entry's key."""

    key: str
    create: Sequence[str]
    write: str
    matches: str

    def row(self, entry: Entry) -> Row:
        """Return the parameters of `write`."""

    def query(self, sought: Sought, project_pk: int) -> str:
        """Return the parameter of `matches`; words hold letters, digits and symbols alone, so nothing is escaped."""


class _Fts5:
    key = "rowid"
    create: Sequence[str] = (
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {TABLE} USING fts5(run_id UNINDEXED, project, words, tokenize='ascii')",
    )
    write = f"INSERT OR REPLACE INTO {TABLE} (rowid, run_id, project, words) VALUES (%s, %s, %s, %s)"  # noqa: S608
    matches = f"{TABLE} MATCH %s"

    def row(self, entry: Entry) -> Row:
        key, run_pk, project_pk, words = entry
        return key, run_pk, f"p{project_pk}", " ".join(words)

    def query(self, sought: Sought, project_pk: int) -> str:
        terms = " AND ".join(map(self._phrase, sought.terms))
        return f'project : "p{project_pk}" AND words : ({terms})'

    def _phrase(self, term: Term) -> str:
        return f'"{" ".join(term.words)}"{" *" if term.open else ""}'


class _TextSearch:
    key = "id"
    create: Sequence[str] = (
        f"CREATE TABLE IF NOT EXISTS {TABLE} (id bigint PRIMARY KEY, run_id bigint, words tsvector NOT NULL)",
        f"CREATE INDEX IF NOT EXISTS search_words ON {TABLE} USING gin (words)",
    )
    write = (
        f"INSERT INTO {TABLE} (id, run_id, words) VALUES (%s, %s, %s::tsvector) "  # noqa: S608
        "ON CONFLICT (id) DO UPDATE SET words = EXCLUDED.words"
    )
    matches = "words @@ %s::tsquery"

    def row(self, entry: Entry) -> Row:
        key, run_pk, project_pk, words = entry
        places: dict[str, list[str]] = {}
        for place, word in enumerate(words, 1):
            kept = places.setdefault(word, [])
            if len(kept) < _PLACES_KEPT:
                kept.append(str(min(place, _LAST_PLACE)))
        vector = [self._project(project_pk), *(f"'{word}':{','.join(kept)}" for word, kept in places.items())]
        return key, run_pk, " ".join(vector)

    def query(self, sought: Sought, project_pk: int) -> str:
        return " & ".join([self._project(project_pk), *map(self._neighbours, sought.terms)])

    def _neighbours(self, term: Term) -> str:
        words = " <-> ".join(f"'{word}'" for word in term.words)
        return f"({words}{':*' if term.open else ''})"

    def _project(self, pk: int) -> str:
        """Return the project as a word that no text has."""
        return f"'#{pk}'"


_DIALECTS: Mapping[str, _Dialect] = {"sqlite": _Fts5(), "postgresql": _TextSearch()}


def create_index() -> None:
    """Make the table of the index, if it is not there."""
    with connection.cursor() as cursor:
        for statement in _dialect().create:
            cursor.execute(statement)


def index_events(events: Iterable[Event], *, project_pk: int) -> None:
    """Write the entries of events that are stored, anew if they have any."""
    _write((event.pk, event.run_id, project_pk, words_of(searched_texts(event))) for event in events)


def index_sessions(sessions: Iterable[Session]) -> None:
    """Write the entries of sessions that are stored, anew if they have any."""
    _write((-each.pk, None, each.project_id, words_of((each.title, each.public_id))) for each in sessions)


def forget_events(pks: Sequence[int]) -> None:
    """Remove the entries of events."""
    _remove(pks)


def forget_sessions(pks: Sequence[int]) -> None:
    """Remove the entries of sessions, without those of their events."""
    _remove([-pk for pk in pks])


def searched_texts(event: Event) -> tuple[str, ...]:
    """Return the texts of an event that are searched: of a tool call its name, arguments, error and result."""
    texts = (event.text, event.tool_name, event.arguments, event.error, event.result)
    return tuple(text for text in texts if text)


def sessions_with(sought: Sought, *, project_pk: int) -> SessionQuerySet:
    """Return the sessions of a project in whose title and id, or in an event of whose own, all terms stand.

    Only the newest places are read, so that common words cost no more however much there is.
    """
    sessions = Session.objects.found_in(project_pk)
    return sessions.filter(pk__in=_found_in(sought, project_pk)) if sought.terms else sessions.none()


def sessions_called(sought: Sought, *, project_pk: int) -> SessionQuerySet:
    """Return the sessions of a project in whose title and id all terms stand."""
    sessions = Session.objects.found_in(project_pk)
    if not sought.terms:
        return sessions.none()
    query = _dialect().query(sought, project_pk)
    titles = RawSQL(f"SELECT -titles.entry FROM ({_newest_titles()}) AS titles", (query,))  # noqa: S608, S611
    return sessions.filter(pk__in=titles)


def _found_in(sought: Sought, project_pk: int) -> RawSQL:
    query = _dialect().query(sought, project_pk)
    return RawSQL(  # noqa: S611 (constant but for its parameters)
        f"SELECT -titles.entry FROM ({_newest_titles()}) AS titles UNION "  # noqa: S608
        f"SELECT runs.session_id FROM ({_newest_events()}) AS places {_WITH_RUNS}",
        (query, query),
    )


@dataclass(frozen=True, slots=True)
class EventsFound:
    """The keys of the first and the newest event of a session in which words stand, and how many runs have such.

    `first_message` and `newest_message`: of its messages alone, None if the words stand only in tool calls.
    """

    first: int
    newest: int
    first_message: int | None
    newest_message: int | None
    runs: int

    @property
    def keys(self) -> set[int]:
        """All of these keys."""
        each = (self.first, self.newest, self.first_message, self.newest_message)
        return {key for key in each if key is not None}


def events_with(sought: Sought, *, project_pk: int, session_pks: Sequence[int]) -> dict[int, EventsFound]:
    """Return for each session in which events all terms stand, among the places that are read, where there are any."""
    if not session_pks:
        return {}
    marks = ", ".join(["%s"] * len(session_pks))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT runs.session_id, "  # noqa: S608
            "MIN(places.entry), MAX(places.entry), "
            "MIN(CASE WHEN events.kind = 'message' THEN places.entry END), "
            "MAX(CASE WHEN events.kind = 'message' THEN places.entry END), "
            "COUNT(DISTINCT runs.id) "
            f"FROM ({_newest_events()}) AS places {_WITH_RUNS} "
            "JOIN sessions_app_event AS events ON events.id = places.entry "
            f"WHERE runs.session_id IN ({marks}) GROUP BY runs.session_id",
            [_dialect().query(sought, project_pk), *session_pks],
        )
        return {session: EventsFound(*found) for session, *found in cursor.fetchall()}


@dataclass(frozen=True, slots=True)
class Places:
    """Where in the index the entries of a session's events are: between two keys, with those of others in between."""

    sought: Sought
    project_pk: int
    first: int
    last: int

    @property
    def query(self) -> tuple[str, list[str | int]]:
        """SQL for the newest of them at which all terms stand, as far as they are read, with its parameters."""
        key, matches = _dialect().key, _dialect().matches
        found = f"SELECT run_id FROM {TABLE} WHERE {matches} AND {key} BETWEEN %s AND %s ORDER BY {key} DESC"  # noqa: S608
        query = _dialect().query(self.sought, self.project_pk)
        return f"{found} LIMIT {PLACES_READ_FOR_ONE}", [query, self.first, self.last]

    def runs_among(self, runs: RunQuerySet) -> RunQuerySet:
        """Return those of the runs in an event of which all terms stand."""
        rows, parameters = self.query
        return runs.filter(pk__in=RawSQL(f"SELECT run_id FROM ({rows}) AS places", parameters))  # noqa: S608, S611

    def are_all_read(self) -> bool:
        """Whether none is left out because too many hold these words."""
        rows, parameters = self.query
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT COUNT(*) FROM ({rows}) AS read", parameters)  # noqa: S608
            return cursor.fetchone()[0] < PLACES_READ_FOR_ONE


def places_of(session_pks: Sequence[int], sought: Sought, *, project_pk: int) -> Places | None:
    """Return where to look for words in runs of sessions; None if there is nothing to look for or in.

    What a run holds is stored before the next run of its session is, and each session is asked for its first run and
    its newest by an index. All are looked at only where one of these holds nothing, as one that was just opened may.
    """
    runs = Run.objects.filter(session=OuterRef("pk")).values("pk")
    first, last = Subquery(runs.order_by("pk")[:1]), Subquery(runs.order_by("-pk")[:1])
    ends = Session.objects.filter(pk__in=session_pks).aggregate(first=Min(first), last=Max(last))
    if not sought.terms or ends["first"] is None:
        return None
    keys = Event.objects.filter(run__in=list(ends.values())).aggregate(
        first=Min("pk", filter=Q(run=ends["first"])), last=Max("pk", filter=Q(run=ends["last"]))
    )
    if None in keys.values():
        keys = Event.objects.filter(run__session__in=session_pks).aggregate(first=Min("pk"), last=Max("pk"))
    return Places(sought, project_pk, keys["first"] or 0, keys["last"] or 0)


def are_all_read(sought: Sought, *, project_pk: int) -> bool:
    """Whether no place was left out because too many hold these words."""
    query = _dialect().query(sought, project_pk)
    counts = ", ".join(f"(SELECT COUNT(*) FROM ({rows}) AS read)" for rows in (_newest_titles(), _newest_events()))  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {counts}", [query, query])
        return max(cursor.fetchone()) < PLACES_READ


_WITH_RUNS = "JOIN sessions_app_run AS runs ON runs.id = places.run_id"


def _newest_titles() -> str:
    key, matches = _dialect().key, _dialect().matches
    return f"SELECT {key} AS entry FROM {TABLE} WHERE {matches} AND {key} < 0 ORDER BY {key} LIMIT {PLACES_READ}"  # noqa: S608


def _newest_events() -> str:
    key, matches = _dialect().key, _dialect().matches
    found = f"SELECT {key} AS entry, run_id FROM {TABLE} WHERE {matches} AND {key} > 0"  # noqa: S608
    return f"{found} ORDER BY {key} DESC LIMIT {PLACES_READ}"


def _dialect() -> _Dialect:
    return _DIALECTS[connection.vendor]


def _write(entries: Iterable[Entry]) -> None:
    dialect = _dialect()
    rows = [dialect.row(entry) for entry in entries if entry[3]]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(dialect.write, rows)


def _remove(keys: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ", ".join(["%s"] * len(some))
            cursor.execute(f"DELETE FROM {TABLE} WHERE {_dialect().key} IN ({marks})", some)  # noqa: S608
