"""Invitations: their token, how long they work, and that each makes one person a member."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from sessions_app.domain.errors import Conflict, IdTaken, NotFound
from sessions_app.domain.roles import MemberRole
from sessions_app.models import Invitation, Membership
from sessions_app.services import invitations
from sessions_app.services.invitations import accept, accept_as_new, invitation_of, invite
from tests.factories import NOW, make_owner, make_project


def user(name):
    return get_user_model().objects.create_user(name)


def invited(role=MemberRole.EDITOR, project=None):
    project = project or make_project()
    return invite(project=project, role=role, by=make_owner(project), now=NOW)


@pytest.mark.django_db
def test_the_token_is_not_stored():
    made, token = invited()

    stored = Invitation.objects.values().get()
    assert len(token) == 43
    assert token not in str(stored)
    assert invitation_of(token=token, now=NOW) == made


@pytest.mark.django_db
def test_it_makes_somebody_a_member_in_its_role_once():
    made, token = invited(MemberRole.VIEWER)

    member = accept(token=token, user=user("tove"), now=NOW)

    assert (member.project, member.role) == (made.project, "viewer")
    with pytest.raises(NotFound):
        accept(token=token, user=user("ed"), now=NOW)
    assert Membership.objects.filter(user__username__in=["tove", "ed"]).count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(("age", "works"), [(timedelta(days=7, seconds=-1), True), (timedelta(days=7), False)])
def test_it_works_for_seven_days(age, works):
    _, token = invited()

    if works:
        assert accept(token=token, user=user("tove"), now=NOW + age)
    else:
        with pytest.raises(NotFound):
            accept(token=token, user=user("tove"), now=NOW + age)


@pytest.mark.django_db
@pytest.mark.parametrize("token", ["", "x", "\ud800", "é" * 43])
def test_what_is_no_token_finds_nothing(token):
    invited()

    with pytest.raises(NotFound):
        invitation_of(token=token, now=NOW)


@pytest.mark.django_db
def test_who_belongs_already_keeps_their_role_and_leaves_the_link_to_others():
    made, token = invited(MemberRole.OWNER)
    tove = user("tove")
    Membership.objects.create(project=made.project, user=tove, role=MemberRole.VIEWER)

    with pytest.raises(Conflict):
        accept(token=token, user=tove, now=NOW)

    assert Membership.objects.get(user=tove).role == "viewer"
    assert accept(token=token, user=user("ed"), now=NOW).role == "owner"


@pytest.mark.django_db
def test_it_makes_an_account_for_somebody_who_has_none():
    _, token = invited()

    new = accept_as_new(token=token, username="tove", password="correct horse battery", now=NOW)

    assert new.check_password("correct horse battery")
    assert (new.is_staff, new.memberships.get().role) == (False, "editor")


@pytest.mark.django_db
def test_a_name_that_is_taken_in_between_makes_no_account_and_leaves_the_link():
    _, token = invited()
    user("tove")

    with pytest.raises(IdTaken):
        accept_as_new(token=token, username="tove", password="correct horse battery", now=NOW)

    assert Invitation.objects.count() == 1
    assert not Membership.objects.filter(user__username="tove").exists()


@pytest.mark.django_db
def test_those_that_expired_go_when_somebody_else_is_invited():
    first, _ = invited()

    invite(project=first.project, role=MemberRole.VIEWER, by=make_owner(first.project), now=NOW + timedelta(days=8))

    assert [each.role for each in Invitation.objects.all()] == ["viewer"]


@pytest.mark.django_db(transaction=True)
def test_of_two_who_accept_one_link_at_the_same_time_one_joins():
    made, token = invited()
    people = [user(name) for name in ("tove", "ed")]
    joined: list[Membership] = []
    refused: list[NotFound] = []

    def go(person):
        try:
            together.wait()
            joined.append(accept(token=token, user=person, now=NOW))
        except NotFound as refusal:
            refused.append(refusal)
        finally:
            connection.close()

    together = Barrier(2)
    threads = [Thread(target=go, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(joined), len(refused)) == (1, 1)
    assert made.project.memberships.filter(user__username__in=["tove", "ed"]).count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_accounts_made_by_one_link_at_the_same_time_there_is_one():
    _, token = invited()
    refused: list[Exception] = []

    def go(name):
        try:
            together.wait()
            accept_as_new(token=token, username=name, password="correct horse battery", now=NOW)
        except NotFound as refusal:
            refused.append(refusal)
        finally:
            connection.close()

    together = Barrier(2)
    threads = [Thread(target=go, args=[name]) for name in ("tove", "ed")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(refused) == 1
    assert get_user_model().objects.filter(username__in=["tove", "ed"]).count() == 1
    assert Membership.objects.filter(role="editor").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_password_is_hashed_while_nobody_waits_for_the_project(monkeypatch):
    _, token = invited()
    held = []
    real = invitations.make_password

    def hashing(password):
        held.append(connection.in_atomic_block)
        return real(password)

    monkeypatch.setattr(invitations, "make_password", hashing)
    new = accept_as_new(token=token, username="tove", password="correct horse battery", now=NOW)

    assert held == [False]
    assert new.check_password("correct horse battery")


@pytest.mark.django_db
def test_links_end_with_the_account_of_who_made_them():
    _, token = invited()

    get_user_model().objects.get(username="mira").delete()

    with pytest.raises(NotFound):
        invitation_of(token=token, now=NOW)
