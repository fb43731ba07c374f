"""Making projects and keys on the command line."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from sessions_app.domain.errors import KeyExpired
from sessions_app.models import Project
from sessions_app.services.keys import key_of
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def test_it_makes_a_project(capsys):
    call_command("create_project", "support", name="Support bot")

    assert capsys.readouterr().out == "support\n"
    assert Project.objects.get(slug="support").name == "Support bot"


def test_a_project_without_a_name_is_called_like_its_slug():
    call_command("create_project", "support")

    assert Project.objects.get().name == "support"


@pytest.mark.parametrize("slug", ["Support", "a b", "", "x" * 61, "ä"])
def test_it_refuses_an_illegal_slug(slug):
    with pytest.raises(CommandError, match="1 to 60 of a-z 0-9"):
        call_command("create_project", slug)


def test_it_refuses_a_project_that_exists():
    make_project("support")

    with pytest.raises(CommandError, match="already"):
        call_command("create_project", "support")


def test_it_prints_the_key_alone(capsys):
    project = make_project("support")

    call_command("create_api_key", project="support", name="bot", scopes="write, read")

    out = capsys.readouterr().out
    assert out.count("\n") == 1
    key = key_of(text=out.strip(), now=timezone.now())
    assert (key.project, key.name, key.scopes) == (project, "bot", ["read", "write"])


def test_a_key_expires_after_the_days_that_are_given(capsys):
    make_project("support")
    before = timezone.now()
    call_command("create_api_key", "--project=support", "--name=bot", "--scopes=read", "--expires=90")

    text = capsys.readouterr().out.strip()
    assert key_of(text=text, now=before + timedelta(days=90)) is not None
    with pytest.raises(KeyExpired):
        key_of(text=text, now=timezone.now() + timedelta(days=90))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"project": "nobody"}, "no project nobody"),
        ({"scopes": "read,delete"}, "read, write, admin"),
        ({"name": " "}, "1 to 200"),
        ({"expires": 0}, "1 to 36,500 days"),
        ({"expires": 36_501}, "1 to 36,500 days"),
    ],
)
def test_it_says_why_it_makes_no_key(options, reason):
    make_project("support")

    with pytest.raises(CommandError, match=reason):
        call_command("create_api_key", **{"project": "support", "name": "bot", "scopes": "read", **options})
