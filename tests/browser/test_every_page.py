"""What every page keeps: axe finds nothing in either mode, and nothing is refused or asked for elsewhere."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from sessions_app.domain.roles import MemberRole
from sessions_app.domain.transcript import EventKind
from sessions_app.models import Event, Import, ImportedConversation, Membership, Session
from sessions_app.models.imports import ImportOutcome, ImportStatus
from sessions_app.services.demo import load_demo
from sessions_app.services.invitations import invite
from sessions_app.services.keys import create_api_key
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.saved_views import save_new_view
from tests.browser.addresses import addresses, pages
from tests.browser.walking import ALL_BUT_COLORS, COLORS, Walk
from tests.factories import make_owner, make_project

pytestmark = pytest.mark.any_database

WIDE = {"width": 1440, "height": 900}
SMALL = {"width": 390, "height": 844}


@pytest.fixture
def listed(member, client, published):
    """Return the addresses of all pages of the demo project, at its richest conversation."""
    now = timezone.now()
    project = load_demo(owner=member, now=now)
    session = Session.objects.filter(project=project).order_by("-last_position").first()
    profile = save_new_profile(project=project, name="Short", settings={"last_n": 4}, actor="reader", now=now)
    samples = {
        "slug": project.slug,
        "session_id": session.public_id,
        "import_pk": an_import(project, session, now).pk,
        "number": session.summary.number,
        "profile_pk": profile.pk,
        "view_pk": save_new_view(project=project, name="Lost", query={"lost": "1"}, actor="reader", now=now).pk,
        "event_pk": a_call(session).pk,
        **people(project, now),
    }
    return pages(client, addresses(samples))


def a_call(session):
    return Event.objects.filter(run__session=session, kind=EventKind.TOOL_CALL).earliest("pk")


def people(project, now):
    """Return what stands for another member, an invitation and a key in addresses."""
    other = get_user_model().objects.create_user("tove", first_name="Tove")
    invitation, token = invite(project=project, role=MemberRole.VIEWER, by=make_owner(project, "reader"), now=now)
    key, _ = create_api_key(project=project, name="agent", scopes=["read", "write"], actor="reader")
    return {
        "member_pk": Membership.objects.create(project=project, user=other, role=MemberRole.VIEWER).pk,
        "invitation_pk": invitation.pk,
        "token": token,
        "key_pk": key.pk,
    }


def an_import(project, session, now):
    file = Import.objects.create(
        project=project,
        file_name="talks.jsonl",
        file_format="openai",
        size=900,
        done_bytes=900,
        done_items=2,
        status=ImportStatus.COMPLETED,
        created_at=now - timedelta(minutes=2),
        finished_at=now,
    )
    rows = ImportedConversation.objects
    rows.create(
        source_import=file, place=1, title="A talk", outcome=ImportOutcome.IMPORTED, session=session, new_runs=2
    )
    rows.create(source_import=file, place=2, outcome=ImportOutcome.INVALID, detail="Line 2 is no JSON.")
    return file


@pytest.fixture
def walk(page, live_server):
    return Walk(page, live_server.url)


def test_axe_finds_nothing_on_any_page_in_either_mode_or_on_a_small_screen(listed, walk, page, subtests, only_refusals):
    for address in listed:
        with subtests.test(address):
            page.set_viewport_size(WIDE)
            walk.open(address)
            walk.check()
            walk.check(COLORS, dark=True)
            if is_plain(address):
                page.set_viewport_size(SMALL)
                walk.check(ALL_BUT_COLORS)
            assert walk.wrong == []


def test_axe_finds_nothing_where_there_is_nothing_yet(listed, member, client, walk, subtests):
    Membership.objects.create(project=make_project("empty"), user=member)
    for address in pages(client, [address.replace("/p/demo/", "/p/empty/") for address in filter(is_plain, listed)]):
        with subtests.test(address):
            walk.open(address)
            walk.check()
            assert walk.wrong == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("address", ["/login/", "/nowhere/"])
def test_axe_finds_nothing_where_nobody_has_signed_in(mode, address, walk, page, live_server, only_refusals):
    page.emulate_media(color_scheme=mode)
    walk.open(address)
    walk.check()
    assert walk.wrong == []


def is_plain(address):
    return "?" not in address
