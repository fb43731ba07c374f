"""Roles of members, and that a project keeps an owner, also when two are asked at the same time."""

from threading import Barrier, Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from sessions_app.domain.errors import LastOwner, NotFound
from sessions_app.domain.roles import MemberRole
from sessions_app.models import Invitation, Membership
from sessions_app.services.invitations import invite
from sessions_app.services.members import change_role, remove_member
from tests.factories import NOW, make_project


def join(project, name, role):
    user = get_user_model().objects.create_user(name)
    return Membership.objects.create(project=project, user=user, role=role)


def roles(project):
    return dict(project.memberships.values_list("user__username", "role"))


def step_down(owner):
    change_role(member=owner, role=MemberRole.EDITOR, by=owner.user)


def leave(owner):
    remove_member(member=owner, by=owner.user)


@pytest.mark.django_db
def test_a_role_is_changed():
    project = make_project()
    mira = join(project, "mira", MemberRole.OWNER)
    tove = join(project, "tove", MemberRole.VIEWER)

    change_role(member=tove, role=MemberRole.OWNER, by=mira.user)

    assert roles(project) == {"mira": "owner", "tove": "owner"}


@pytest.mark.django_db
@pytest.mark.parametrize("act", [step_down, leave])
def test_the_only_owner_stays_one(act):
    project = make_project()
    mira = join(project, "mira", MemberRole.OWNER)
    join(project, "tove", MemberRole.EDITOR)

    with pytest.raises(LastOwner, match="mira is the only owner"):
        act(mira)

    assert roles(project) == {"mira": "owner", "tove": "editor"}


@pytest.mark.django_db
def test_an_owner_who_cannot_sign_in_is_none_to_count_on():
    project = make_project()
    mira = join(project, "mira", MemberRole.OWNER)
    gone = join(project, "gone", MemberRole.OWNER)
    get_user_model().objects.filter(pk=gone.user_id).update(is_active=False)

    with pytest.raises(LastOwner):
        leave(mira)
    remove_member(member=gone, by=mira.user)

    assert roles(project) == {"mira": "owner"}


@pytest.mark.django_db
@pytest.mark.parametrize("act", [step_down, leave])
def test_no_link_that_somebody_made_as_an_owner_outlives_that(act):
    project, other = make_project(), make_project("q")
    for name in ("mira", "tove"):
        user = join(project, name, MemberRole.OWNER).user
        Membership.objects.create(project=other, user=user, role=MemberRole.OWNER)
        for each in (project, other):
            invite(project=each, role=MemberRole.OWNER, by=user, now=NOW)
    # What somebody is called says nothing: others may be called so by now.
    get_user_model().objects.filter(username="mira").update(username="maria")
    get_user_model().objects.filter(username="tove").update(username="mira")

    act(Membership.objects.get(project=project, user__username="mira"))

    left = Invitation.objects.order_by("pk").values_list("project__slug", "actor")
    assert list(left) == [("p", "mira"), ("q", "mira"), ("q", "tove")]


@pytest.mark.django_db
def test_who_is_gone_already_is_not_found():
    project = make_project()
    mira = join(project, "mira", MemberRole.OWNER)
    tove = join(project, "tove", MemberRole.VIEWER)
    Membership.objects.filter(pk=tove.pk).delete()

    with pytest.raises(NotFound):
        change_role(member=tove, role=MemberRole.EDITOR, by=mira.user)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", [step_down, leave])
def test_of_two_owners_who_go_at_the_same_time_one_stays(act):
    project = make_project()
    owners = [join(project, name, MemberRole.OWNER) for name in ("mira", "tove")]
    refused: list[Exception] = []

    def go(owner):
        try:
            together.wait()
            act(owner)
        except LastOwner as refusal:
            refused.append(refusal)
        finally:
            connection.close()

    together = Barrier(2)
    threads = [Thread(target=go, args=[owner]) for owner in owners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(refused) == 1
    assert list(roles(project).values()).count("owner") == 1
