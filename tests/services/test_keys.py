"""API keys: their text, what is stored of it, and how it is told from a wrong one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from sessions_app.domain.errors import InvalidInput, KeyExpired
from sessions_app.models import ApiKey
from sessions_app.services.keys import create_api_key, key_of, revoke_api_key
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1],
        lambda text: text[:-1] + ("0" if text[-1] != "0" else "1"),
        lambda text: text.replace("cw_", "xy_"),
        lambda text: text.upper(),
        lambda text: text + "_x",
        lambda text: "",
        lambda text: "cw__",
    ],
)
def test_a_spoilt_key_is_wrong(project, spoil):
    _, text = create_api_key(project=project, name="k", scopes=["read"])

    assert key_of(text=text, now=timezone.now()) is not None
    assert key_of(text=spoil(text), now=timezone.now()) is None


def test_a_key_with_another_secret_is_wrong(project):
    first, _ = create_api_key(project=project, name="k", scopes=["read"])
    _, text = create_api_key(project=project, name="l", scopes=["read"])
    ApiKey.objects.exclude(pk=first.pk).update(secret_hash=first.secret_hash)

    assert key_of(text=text, now=timezone.now()) is None


def test_only_the_hash_of_a_secret_is_stored(project):
    row, text = create_api_key(project=project, name="k", scopes=["admin", "read", "read"])

    secret = text.split("_")[2]
    assert secret[:20] not in str(ApiKey.objects.values().get())
    assert row.scopes == ["read", "admin"]


def test_its_last_use_is_noted_once_a_minute(project):
    _, text = create_api_key(project=project, name="k", scopes=["read"])
    first = timezone.now()
    for seconds in (0, 30, 59):
        key_of(text=text, now=first + timedelta(seconds=seconds))
    assert ApiKey.objects.get().last_used_at == first

    key_of(text=text, now=first + timedelta(seconds=60))
    assert ApiKey.objects.get().last_used_at == first + timedelta(seconds=60)


@pytest.mark.parametrize("scopes", [[], ["reads"], ["read", ""]])
def test_it_refuses_unknown_scopes(project, scopes):
    with pytest.raises(InvalidInput, match="read, write, admin"):
        create_api_key(project=project, name="k", scopes=scopes)


def test_it_is_good_until_it_expires(project):
    made, text = create_api_key(project=project, name="k", scopes=["read"], expires_at=NOW)

    assert key_of(text=text, now=NOW - timedelta(seconds=1)) == made
    with pytest.raises(KeyExpired, match="This key expired at "):
        key_of(text=text, now=NOW)
    assert key_of(text=text[:-9] + ("0" if text[-9] != "0" else "1") + text[-8:], now=NOW) is None
    revoke_api_key(key=made, now=NOW)
    assert key_of(text=text, now=NOW) is None
