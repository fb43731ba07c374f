"""A project in which every field that is shown anywhere holds text that would like to be more than text."""

import json
from datetime import timedelta
from pathlib import Path

from django.contrib.auth import get_user_model

from sessions_app.domain.roles import MemberRole
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall
from sessions_app.models import Event as EventRow
from sessions_app.models import Import, ImportedConversation, Invitation, Membership
from sessions_app.models.imports import ImportOutcome, ImportStatus
from sessions_app.models.summarizers import ProjectSummarizer
from sessions_app.services.invitations import invite
from sessions_app.services.keys import create_api_key
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.runs import append_runs
from sessions_app.services.saved_views import save_new_view
from sessions_app.services.sessions import fork_session, update_session
from sessions_app.services.settings import save_project_settings
from tests.factories import make_open_run, make_project, make_session
from tests.queries.test_summary_ledgers import add, use

CASE = Path(__file__).parents[1] / "data" / "cases" / "C47-html-in-messages.json"
OF_THE_CASE = json.loads(CASE.read_text(encoding="utf-8"))["input"]["payloads"]
ELSEWHERE = "https://collector.example"
MORE = [
    f"<link rel=stylesheet href={ELSEWHERE}/x.css><meta http-equiv=refresh content='0;url={ELSEWHERE}'>",
    f'<div style="background:url({ELSEWHERE}/css)" onpointerover="window.pwned=12">x</div>',
    f"<svg><image href='{ELSEWHERE}/svg.png'/><use href='{ELSEWHERE}/x.svg#a'/><animate onbegin=window.pwned=13></svg>",
    f"<math><mtext><a xlink:href='javascript:window.pwned=14'>x</a></mtext></math><object data='{ELSEWHERE}'></object>",
    f"![image][1] <{ELSEWHERE}/auto> [1]: {ELSEWHERE}/reference.png",
    "[tab](\tjava\nscript:window.pwned=15) [entity](javascript&colon;window.pwned=16) [VB](vbscript:window.pwned=17)",
    "</textarea></title></script></style></pre></template></dialog><script>window.pwned=18</script>",
    "<p hx-get='/logout/' hx-trigger=load hx-on::load='window.pwned=19' data-act=theme data-open>x</p>",
    "{{ request.user }}{% include 'base.html' %}{# nothing #}${window.pwned=20}<%= 7*7 %>",
    "\u202eturned around\u202c \u2066isolated \u200b\ufeff\u0008\u0085\u2028 zero-width and none",
    "W" * 400,
    "W\u0300\u0301\u0302\u0303" * 60,
]
TEXT = "\n\n".join([*OF_THE_CASE, *MORE])
# What no database takes; the doors through which such text comes put a mark in its place.
TEXT_FROM_OUTSIDE = f"\0\ud800{TEXT}\udfff\0"
# For fields that hold a line: what closes a tag or an attribute, begins one, and does not fit on any screen.
LINE = "\"'><img src=//collector.example/p onerror=window.pwned=21>{{7*7}}\u202e" + "W" * 430


def line(longest):
    """Return the hostile line as long as a field takes it."""
    return LINE[:longest]


def make_hostile_project(*, member, now):
    """Return what the parts of addresses stand for in a project of which `member` is one."""
    project = make_project("hostile", name=line(200))
    Membership.objects.create(project=project, user=member, role=MemberRole.OWNER)
    save_project_settings(project=project, changes={"offset": 1}, now=now, actor=line(200), note=line(500))
    save_project_settings(project=project, changes={"offset": 2}, now=now, actor=line(200), note=line(500))
    key, _ = create_api_key(project=project, name=line(200), scopes=["read"], actor=line(200))
    invitation, token = invite(project=project, role=MemberRole.VIEWER, by=member, now=now)
    Invitation.objects.update(actor=line(200))
    ProjectSummarizer.objects.create(
        project=project,
        model=line(200),
        request_template=TEXT + "{summary} {runs}",
        summary_template=TEXT + "{summary}",
    )
    profile = save_new_profile(project=project, name=line(60), settings={"last_n": 2}, actor=line(200), now=now)
    session = _session(project, now)
    return {
        "slug": project.slug,
        "session_id": session.public_id,
        "import_pk": _import(project, session, now).pk,
        "number": 2,
        "profile_pk": profile.pk,
        "view_pk": save_new_view(
            project=project, name=line(100), query={"q": TEXT, "tag": line(100)}, actor=line(200), now=now
        ).pk,
        "member_pk": _member(project).pk,
        "invitation_pk": invitation.pk,
        "token": token,
        "key_pk": key.pk,
        "event_pk": EventRow.objects.filter(kind=EventKind.TOOL_CALL).earliest("pk").pk,
        "turn": 2,
    }


def _member(project):
    other = get_user_model().objects.create_user(LINE[1:151], first_name=line(150), last_name=line(150))
    return Membership.objects.create(project=project, user=other, role=MemberRole.VIEWER)


def _session(project, now):
    session = make_session(
        project,
        "hostile",
        now=now,
        title=line(500),
        user_id=line(200),
        instructions=TEXT_FROM_OUTSIDE,
        tags=[line(100), *(payload[:100] for payload in OF_THE_CASE)],
        metadata={line(300): TEXT_FROM_OUTSIDE, "list": [TEXT_FROM_OUTSIDE, {TEXT_FROM_OUTSIDE: TEXT_FROM_OUTSIDE}]},
        settings={"strategy": "summary"},
        source=line(40),
    )
    append_runs(session=session, runs=[_turn(), _failed(), _turn(), _turn()], now=now)
    session.refresh_from_db()
    update_session(session=session, changes={"settings": {"max_runs": 9}}, now=now, actor=line(200), note=line(500))
    _summarize(session)
    fork_session(session=session, at=3, now=now, public_id="fork", title=line(500))
    make_open_run(make_session(project, "open", now=now, parent=session, title=line(500)), TEXT_FROM_OUTSIDE, now=now)
    return session


def _turn():
    return NewRun(
        (
            Event(EventKind.MESSAGE, TEXT_FROM_OUTSIDE, Role.USER),
            Event(EventKind.MESSAGE, TEXT_FROM_OUTSIDE, Role.SYSTEM),
            Event(EventKind.MESSAGE, "", Role.ASSISTANT),
            Event(
                EventKind.TOOL_CALL,
                tool=ToolCall(
                    TEXT_FROM_OUTSIDE,
                    TEXT_FROM_OUTSIDE,
                    json.dumps({TEXT_FROM_OUTSIDE: TEXT_FROM_OUTSIDE}),
                    TEXT_FROM_OUTSIDE,
                ),
                parent=2,
            ),
            Event(
                EventKind.TOOL_CALL,
                tool=ToolCall(TEXT_FROM_OUTSIDE, TEXT_FROM_OUTSIDE, TEXT_FROM_OUTSIDE, None, error=TEXT_FROM_OUTSIDE),
                parent=2,
            ),
            Event(EventKind.REASONING, TEXT_FROM_OUTSIDE, Role.ASSISTANT),
            Event(EventKind.MESSAGE, TEXT_FROM_OUTSIDE, Role.ASSISTANT),
        ),
        model=line(200),
        metadata={TEXT_FROM_OUTSIDE: TEXT_FROM_OUTSIDE},
        finish_reason=line(100),
        prompt_fingerprint=line(100),
    )


def _failed():
    return NewRun(
        (Event(EventKind.MESSAGE, TEXT_FROM_OUTSIDE, Role.USER),), status=RunStatus.FAILED, error=TEXT_FROM_OUTSIDE
    )


def _summarize(session):
    facts = {"rows": [["name", TEXT, 1, "user", "gone"], ["number", TEXT, 2, "user", "kept_new"]], "left_out": {}}
    words = {"actor": line(200), "model": line(200), "template": line(12)}
    first = add(session, 1, 1, text=TEXT, **words)
    second = add(session, 2, 2, predecessor=first, text=TEXT + "!", facts=facts, origin="edited", **words)
    use(session, second)
    add(session, 3, 3, predecessor=second, text="", status="failed", error=TEXT, **words)


def _import(project, session, now):
    file = Import.objects.create(
        project=project,
        file_name=line(255),
        file_format="openai",
        size=900,
        status=ImportStatus.FAILED,
        error=TEXT,
        created_at=now - timedelta(minutes=2),
        finished_at=now,
    )
    rows = ImportedConversation.objects
    for place, outcome in enumerate(ImportOutcome, 1):
        rows.create(
            source_import=file, place=place, outcome=outcome, title=line(500), detail=TEXT, session=session, new_runs=1
        )
    return file
