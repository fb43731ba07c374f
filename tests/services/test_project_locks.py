"""What only owners may do is asked again under the project's lock: roles may have changed while somebody waited."""

import pytest
from django.contrib.auth import get_user_model

from sessions_app.domain.errors import NotAllowed
from sessions_app.domain.roles import MemberRole
from sessions_app.models import ApiKey, Invitation, Membership, Project, ProjectSummarizer
from sessions_app.services import members, project_locks
from sessions_app.services.invitations import invite
from sessions_app.services.keys import create_named_key
from sessions_app.services.members import change_role, remove_member
from sessions_app.services.project_summarizers import save_project_summarizer
from sessions_app.services.projects import delete_project, rename_project
from tests.factories import NOW, make_owner, make_project

pytestmark = pytest.mark.django_db


def tove():
    return Membership.objects.get(user__username="tove")


ACTS = {
    "invite": lambda project, by: invite(project=project, role=MemberRole.OWNER, by=by, now=NOW),
    "make somebody an editor": lambda _, by: change_role(member=tove(), role=MemberRole.EDITOR, by=by),
    "make oneself an owner again": lambda _, by: change_role(
        member=Membership.objects.get(user=by), role=MemberRole.OWNER, by=by
    ),
    "remove": lambda _, by: remove_member(member=tove(), by=by),
    "make a key": lambda project, by: create_named_key(project=project, name="bot", scopes=["read"], by=by, now=NOW),
    "rename": lambda project, by: rename_project(project=project, slug="q", name="Q", by=by),
    "delete": lambda project, by: delete_project(project=project, by=by, now=NOW),
    "choose the summarizer": lambda project, by: save_project_summarizer(
        project=project, changes={"summary_template": "{summary}"}, by=by, now=NOW
    ),
}


def state():
    return [
        list(model.objects.order_by("pk").values())
        for model in (ApiKey, Invitation, Membership, Project, ProjectSummarizer)
    ]


@pytest.fixture
def meanwhile(monkeypatch):
    """Return a function that has something happen just before the next one gets the lock."""

    def meanwhile(happen):
        real = project_locks.lock_project

        def lock(pk):
            happen()
            return real(pk)

        for module in (project_locks, members):
            monkeypatch.setattr(module, "lock_project", lock)

    return meanwhile


@pytest.mark.parametrize("fate", ["viewer", "editor", None])
@pytest.mark.parametrize("act", ACTS)
def test_who_is_no_owner_any_more_when_the_project_is_locked_changes_nothing(meanwhile, act, fate):
    project = make_project()
    mira = make_owner(project)
    make_owner(project, "tove")
    mine = Membership.objects.filter(user=mira)
    before = state()
    meanwhile(lambda: mine.update(role=fate) if fate else mine.delete())

    with pytest.raises(NotAllowed, match="You are no owner of P any more"):
        ACTS[act](project, mira)

    # What happened meanwhile is undone with the rest here, since it stands in the same transaction.
    assert state() == before


@pytest.mark.parametrize("act", ACTS)
def test_owners_do_all_of_it(act):
    project = make_project()
    mira = make_owner(project)
    make_owner(project, "tove")

    ACTS[act](project, mira)


def test_a_superuser_needs_no_membership():
    project = make_project()
    root = get_user_model().objects.create_superuser("root")

    create_named_key(project=project, name="bot", scopes=["read"], by=root, now=NOW)

    assert ApiKey.objects.get().actor == "root"


def test_who_was_made_a_viewer_meanwhile_may_still_leave(meanwhile):
    project = make_project()
    mira = make_owner(project)
    make_owner(project, "tove")
    mine = Membership.objects.filter(user=mira)
    meanwhile(lambda: mine.update(role="viewer"))

    remove_member(member=mine.get(), by=mira)

    assert not mine.exists()
