"""Forms that are sent twice make one fork, one key, one invitation."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import connection

from sessions_app.domain.errors import IdTaken
from sessions_app.domain.roles import MemberRole
from sessions_app.models import ApiKey, Invitation, Session
from sessions_app.services.forms_sent_twice import identity, new_form_number
from sessions_app.services.invitations import invite
from sessions_app.services.keys import create_named_key, key_of, revoke_api_key
from sessions_app.services.sessions import fork_by_form
from tests.factories import NOW, make_owner, make_project, make_session

SOON, LATER = NOW + timedelta(seconds=30), NOW + timedelta(minutes=2)


def test_the_same_form_gives_the_same_letters_and_another_form_or_answer_others():
    one, other = new_form_number(), new_form_number()
    assert identity(one, "a", length=43) == identity(one, "a", length=43)
    assert len({identity(one, "a", length=43), identity(other, "a", length=43), identity(one, "b", length=43)}) == 3
    assert identity(one, "a", length=20).isalnum()


@pytest.mark.parametrize("number", ["", "x" * 41])
def test_what_carries_no_number_gives_other_letters_each_time(number):
    assert identity(number, "a", length=43) != identity(number, "a", length=43)


@pytest.mark.django_db
def test_a_key_is_made_once_and_shown_to_both_and_later_its_name_is_taken():
    project, number = make_project(), new_form_number()
    mira, noah = make_owner(project), make_owner(project, "noah")

    def send(now, **other):
        fields = {"name": "bot", "scopes": ["read", "write"], "by": mira, "form_number": number} | other
        return create_named_key(project=project, now=now, **fields)

    key, text = send(NOW)
    assert send(SOON) == (key, text)
    assert key_of(text=text, now=NOW) == key
    for now, other in ((LATER, {}), (SOON, {"form_number": new_form_number()}), (SOON, {"by": noah})):
        with pytest.raises(IdTaken):
            send(now, **other)
    assert ApiKey.objects.count() == 1


@pytest.mark.django_db
def test_a_form_that_is_sent_again_after_its_key_was_revoked_makes_another():
    project, number = make_project(), new_form_number()
    mira = make_owner(project)

    def send():
        return create_named_key(project=project, name="bot", scopes=["read"], by=mira, now=NOW, form_number=number)

    revoked, old = send()
    revoke_api_key(key=revoked, now=NOW)
    key, text = send()
    assert (key_of(text=old, now=NOW), key_of(text=text, now=NOW)) == (None, key)


@pytest.mark.django_db
def test_an_invitation_is_made_once_and_later_or_for_another_role_another():
    project, number = make_project(), new_form_number()

    def send(now, role=MemberRole.EDITOR):
        return invite(project=project, role=role, by=make_owner(project), now=now, form_number=number)

    made, token = send(NOW)
    assert send(SOON) == (made, token)
    assert send(LATER)[1] != token
    assert send(SOON, MemberRole.VIEWER)[1] != token
    assert Invitation.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_of_two_clicks_at_the_same_time_one_makes_the_fork():
    session, number, together, made = make_session(runs=3), new_form_number(), Barrier(2), []

    def click():
        try:
            together.wait()
            new = fork_by_form(session=session, at=2, now=NOW, title="T", actor="mira", form_number=number)
            made.append(new.public_id)
        finally:
            connection.close()

    clicks = [Thread(target=click) for _ in range(2)]
    for each in clicks:
        each.start()
    for each in clicks:
        each.join()
    fork = Session.objects.get(parent=session)
    assert made == [fork.public_id] * 2
