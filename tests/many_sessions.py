"""Projects of as many sessions as nobody could make one by one: one of one run again and again, by SQL for SQLite."""

import json

from sessions_app.models import Event, MetadataEntry, Run, Session, SessionTag, Summary
from sessions_app.models.metadata_entries import digests_of
from tests.factories import NOW, make_session, make_summary
from tests.many_runs import newest_key, repeat, repeat_entry, settle

TREE = 13
"""So many sessions a tree: a root and its forks."""
FEW = 60
"""Of what is rare, runs and summaries that go on for example, there are so many, however many sessions."""
USUAL, RARE = {"n": 0}, {"n": 1}
TITLE = "Where is order 7731?"


def make_many_sessions(project, count, **fields):
    """Make sessions s-0, s-1, … in trees, each with a tag, a run, a summary, and what else filters look for."""
    first = make_session(project, "s-0", runs=1, title=TITLE, user_id="u-0", tags=["t-0"], metadata=USUAL, **fields)
    entry = make_summary(first, 1, 1, "They ask for an order.", minute=1)
    Session.objects.filter(pk=first.pk).update(summary=entry)
    keys = {model: newest_key(model) for model in (Session, Run, Event, Summary)}
    _repeat_sessions(first, count - 1, keys)
    _repeat_runs(first, count - 1, keys)
    repeat(
        SessionTag,
        first.tags.get().pk,
        count - 1,
        id=f"{newest_key(SessionTag)} + i",
        name=_text("t-", 7),
        session_id=f"{keys[Session]} + i",
    )
    entries = MetadataEntry.objects.get(session=first)
    repeat(
        MetadataEntry,
        entries.pk,
        count - 1,
        id=f"{newest_key(MetadataEntry)} + i",
        session_id=f"{keys[Session]} + i",
        digest=f"CASE WHEN i <= {FEW} THEN '{digests_of(RARE)[0]}' ELSE '{entries.digest}' END",
    )
    _repeat_summaries(entry, count - 1, keys)
    settle(count, Session, Run, Event, SessionTag, Summary, MetadataEntry)


def _repeat_sessions(first, count, keys):
    key = f"{keys[Session]} + i"
    root = f"CASE WHEN i < {TREE} THEN {first.pk} ELSE {key} - i % {TREE} END"
    repeat(
        Session,
        first.pk,
        count,
        id=key,
        public_id="'s-' || i",
        title=_text("Order ", count),
        user_id=_text("u-", 10),
        newest_model=_text("m-", 10),
        has_children=f"i % {TREE} = 0",
        metadata=f"CASE WHEN i <= {FEW} THEN '{json.dumps(RARE)}' ELSE '{json.dumps(USUAL)}' END",
        settings="CASE WHEN i % 3 = 0 THEN '{\"max_runs\": 5}' ELSE '{}' END",
        root_id=root,
        parent_id=f"CASE WHEN i % {TREE} > 0 THEN {root} END",
        forked_at=f"CASE WHEN i % {TREE} > 0 THEN 0 END",
        depth=f"CASE WHEN i % {TREE} > 0 THEN 1 ELSE 0 END",
        lost_runs="CASE WHEN i % 5 = 0 THEN 1 ELSE 0 END",
        unseen_runs="CASE WHEN i % 4 = 0 THEN 1 ELSE 0 END",
        rests_since=f"CASE WHEN i % 15 = 0 THEN {_moment('i')} END",
        next_attempt_at=f"CASE WHEN i % 16 = 0 THEN {_moment('i')} END",
        summary_id=f"CASE WHEN i > {FEW} THEN {keys[Summary]} + i END",
        created_at=_moment("i"),
        updated_at=_moment(f"i * 31 % {count}"),
        tree_active_at=_moment(f"i * 31 % {count}"),
    )
    repeat_entry(-first.pk, count, f"-({key})", "NULL")


def _repeat_runs(first, count, keys):
    run, key = first.runs.get(), f"{keys[Run]} + i"
    status = f"CASE WHEN i <= {FEW} THEN 'running' WHEN i % 12 = 1 THEN 'failed' ELSE 'completed' END"
    repeat(
        Run,
        run.pk,
        count,
        id=key,
        session_id=f"{keys[Session]} + i",
        public_id="'r-' || i",
        status=status,
        model=_text("m-", 10),
    )
    for place, event in enumerate(run.events.all()):
        new = f"{keys[Event]} + {place * count} + i"
        repeat(Event, event.pk, count, id=new, run_id=key)
        repeat_entry(event.pk, count, new, key)


def _repeat_summaries(entry, count, keys):
    repeat(
        Summary,
        entry.pk,
        count,
        id=f"{keys[Summary]} + i",
        session_id=f"{keys[Session]} + i",
        status=f"CASE WHEN i <= {FEW} THEN 'pending' ELSE 'completed' END",
    )


def _text(beginning, different):
    return f"'{beginning}' || (i % {different})"


def _moment(seconds):
    """Return SQL for a moment so many seconds behind the one at which tests are."""
    return f"datetime('{NOW:%Y-%m-%d %H:%M:%S}', ({seconds}) || ' seconds')"
