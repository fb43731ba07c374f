"""The same project twice: with little more than a page shows at once, and with many times as much."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.utils import timezone

from sessions_app.domain.openai_messages import turn
from sessions_app.domain.roles import MemberRole
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import (
    ApiKey,
    Event,
    Import,
    ImportedConversation,
    Invitation,
    Membership,
    Session,
    SettingsVersion,
    Summary,
)
from sessions_app.models.imports import ImportOutcome, ImportStatus
from sessions_app.queries.keyset import Cursor
from sessions_app.services.invitations import invite
from sessions_app.services.keys import create_api_key
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.runs import append_runs
from sessions_app.services.saved_views import save_new_view
from sessions_app.services.sessions import fork_session, update_session
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, make_project, make_summary
from tests.many_runs import make_long_session, newest_key, repeat, settle
from tests.many_sessions import make_many_sessions

SETTINGS = {"strategy": "buffer", "max_input_tokens": 800}
CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}
PEOPLE = 220
NEAR = 8
"""Pages are asked for this many runs before the last, where both worlds are alike."""


@dataclass(frozen=True)
class Size:
    """How much there is of what grows: of `things` (entries, versions, imports) as many of each."""

    sessions: int
    runs: int
    children: int
    things: int
    conversations: int


SMALL = Size(sessions=1_000, runs=100, children=1_100, things=60, conversations=1_000)
BIG = Size(sessions=10_000, runs=10_000, children=2_500, things=500, conversations=10_000)


@dataclass
class World:
    """A project, its owner, the text of its key, and what stands for the parts of addresses."""

    project: object
    user: object
    key: str
    samples: dict = field(default_factory=dict)


def make_world(slug, size):
    """Make a project of that size, whose session "talk" is the one that pages are asked about."""
    project, now = make_project(slug), timezone.now()
    user = get_user_model().objects.create_user(f"owner-{slug}")
    Membership.objects.create(project=project, user=user, role=MemberRole.OWNER)
    make_many_sessions(project, size.sessions)
    talk = make_long_session(project, "talk", size.runs - 2, settings=SETTINGS)
    calls = [{"role": "user", "content": "Search."}, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
    found = [{"role": "tool", "tool_call_id": "c", "content": "Nothing."}, {"role": "assistant", "content": "Nothing."}]
    runs = append_runs(session=talk, runs=[turn([*calls, *found])] * 2, now=NOW)
    asking = fork_session(session=talk, at=size.runs - NEAR, now=NOW, public_id="asking")
    open_run = append_runs(session=asking, runs=[replace(turn(calls), status=RunStatus.RUNNING)], now=NOW)[0]
    _children(talk, size)
    entry = _ledger(talk, size)
    versions = _versions(talk, size, now)
    samples = {
        "slug": slug,
        "session_id": "talk",
        "near": size.runs - NEAR,
        "event_pk": Event.objects.filter(run__public_id=runs[0].public_id, kind="tool_call").get().pk,
        "import_pk": (work := _imports(project, size, now)).pk,
        "import_id": work.public_id,
        "number": entry.number,
        "summary_id": entry.public_id,
        "run_id": open_run.public_id,
        "event_id": f"evt_{open_run.events.get(kind='tool_call').pk}",
        "name": "gpt-4.1",
        "versions": versions,
        "profile_pk": save_new_profile(project=project, name="Short", settings={}, actor="", now=now).pk,
        "view_pk": save_new_view(project=project, name="Lost", query={"lost": "1"}, actor="", now=now).pk,
        **_people(project, user, now),
    }
    key = create_api_key(project=project, name="bot", scopes=["read", "write", "admin"])[1]
    return World(project, user, key, samples | _cursors(project, talk))


def _children(talk, size):
    fork = fork_session(session=talk, at=5, now=NOW, public_id="fork")
    repeat(Session, fork.pk, size.children, id=f"{newest_key(Session)} + i", public_id="'fork-' || i")
    settle(size.children, Session)


def _ledger(talk, size):
    """Write entries that cover one run more each."""
    first = make_summary(talk, 1, 1, "They asked for an order.", minute=1, tokens_before=9)
    more, key = size.things - 1, newest_key(Summary)
    last = f"{size.runs} - {3 * NEAR}"
    repeat(
        Summary,
        first.pk,
        more,
        id=f"{key} + i",
        number="i + 1",
        covers_through=f"{last} - {more} + i",
        predecessor_id=f"{key} + i - 1",
    )
    settle(more, Summary)
    entry = talk.summaries.get(number=size.things)
    Session.objects.filter(pk=talk.pk).update(summary=entry)
    return entry


def _versions(talk, size, now):
    """Save settings of the session and of the project again and again; return how many versions there are of each."""
    talk.refresh_from_db()
    update_session(session=talk, changes={"settings": SETTINGS | {"offset": 3}}, now=now)
    save_project_settings(project=talk.project, changes={"last_n": 200}, now=now)
    for session in (talk, None):
        newest = SettingsVersion.objects.of(talk.project, session).newest()
        key, number = newest_key(SettingsVersion), f"{newest.number} + i"
        repeat(SettingsVersion, newest.pk, size.things, id=f"{key} + i", number=number)
        settle(size.things, SettingsVersion)
    return size.things


def _imports(project, size, now):
    work = Import.objects.create(
        project=project,
        file_name="talks.jsonl",
        file_format="openai",
        size=900,
        done_bytes=900,
        status=ImportStatus.COMPLETED,
        created_at=now - timedelta(minutes=2),
        finished_at=now,
    )
    repeat(Import, work.pk, size.things, id=f"{newest_key(Import)} + i")
    row = ImportedConversation.objects.create(source_import=work, place=1, outcome=ImportOutcome.IMPORTED)
    outcome = "CASE WHEN i % 2 = 0 THEN 'imported' ELSE 'invalid' END"
    key = newest_key(ImportedConversation)
    repeat(ImportedConversation, row.pk, size.conversations, id=f"{key} + i", place="i + 1", outcome=outcome)
    settle(size.conversations, Import, ImportedConversation)
    return work


def _people(project, user, now):
    """Make members, invitations and keys, as many in both worlds; return what stands for one of each in addresses."""
    users = get_user_model().objects.bulk_create(
        get_user_model()(username=f"{project.slug}-{n}", password="!") for n in range(PEOPLE)
    )
    members = [Membership(project=project, user=user, role=MemberRole.VIEWER) for user in users]
    Membership.objects.bulk_create(members)
    invitation, token = invite(project=project, role=MemberRole.VIEWER, by=user, now=now)
    key, _ = create_api_key(project=project, name="agent", scopes=["read"])
    repeat(Invitation, invitation.pk, PEOPLE, id=f"{newest_key(Invitation)} + i", token_hash=f"'{project.slug}' || i")
    repeat(ApiKey, key.pk, PEOPLE, id=f"{newest_key(ApiKey)} + i", key_id=f"'{project.slug}' || i")
    settle(PEOPLE, Invitation, ApiKey)
    return {
        "member_pk": project.memberships.filter(role=MemberRole.VIEWER).first().pk,
        "invitation_pk": invitation.pk,
        "token": token,
        "key_pk": key.pk,
    }


def _cursors(project, talk):
    """Return where lists are asked to go on."""
    rows = Session.objects.filter(project=project)
    tree = rows.filter(parent=None).order_by("-tree_active_at", "-pk")[30]
    changed = rows.order_by("-updated_at", "-pk")[200]
    failing = rows.exclude(next_attempt_at=None).order_by("-pk")
    run = talk.last_position // 2
    return {
        "trees": Cursor("tree-activity", tree.tree_active_at, tree.pk, 25).to_text(),
        "changed": Cursor("-updated_at", changed.updated_at, changed.pk, 0).to_text(),
        "named": Cursor("id", "s-2", 0, 0).to_text(),
        "runs": Cursor("position", run, run, 0).to_text(),
        "failing": failing[5].pk,
        "picked": rows.get(public_id="s-1").pk,
    }
