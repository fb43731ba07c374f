"""The operator's list of model endpoints: read once at the start, or refused with what is wrong in it."""

from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from convoweb import endpoints


def test_it_is_empty_unless_the_operator_lists_some():
    assert endpoints.addresses("") == {}
    assert settings.CONVOWEB_ENDPOINTS == {}


def test_it_holds_names_and_base_addresses():
    listed = " openai=https://api.openai.com/v1, local = http://127.0.0.1:11434/v1/ ,"
    assert endpoints.addresses(listed) == {
        "openai": "https://api.openai.com/v1",
        "local": "http://127.0.0.1:11434/v1",
    }


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        ("https://api.openai.com/v1", "is not name=address"),
        ("Open AI=https://api.openai.com/v1", "names are 1-40 of a-z, 0-9 and hyphens"),
        ("a=https://x/v1,a=https://y/v1", "it names a twice"),
        ("a=ftp://x/v1", "the address of a must begin with http:// or https:// and name a host"),
        ("a=https:///v1", "the address of a must begin with http:// or https:// and name a host"),
        ("a=https://x:70000/v1", "the address of a is none"),
        ("a=https://x..y/v1", "the address of a is none"),
        ("a=https://x/v1?key=1", "the address of a must have no query, fragment or space"),
        ("a=https://me:hunter2@x/v1", "holds a user or a password; a key belongs into CONVOWEB_ENDPOINT_KEY_A"),
        ("https://me:hunter2@x/v1", "is not name=address"),
    ],
)
def test_it_refuses_what_is_no_list_without_repeating_a_password(listed, problem):
    with pytest.raises(ImproperlyConfigured) as caught:
        endpoints.addresses(listed)
    assert str(caught.value).startswith("CONVOWEB_ENDPOINTS cannot be read: ")
    assert problem in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_keys_belong_to_the_endpoints_of_their_variables_and_are_shown_nowhere():
    listed = endpoints.addresses("open-ai=https://x/v1,local=http://127.0.0.1:1/v1")
    keys = endpoints.keys({"CONVOWEB_ENDPOINT_KEY_OPEN_AI": " sk-3141 ", "HOME": "/"}, listed)
    assert {name: key.get_secret_value() for name, key in keys.items()} == {"open-ai": "sk-3141"}
    assert "sk-3141" not in f"{keys} {keys!r} {keys['open-ai']}"


@pytest.mark.parametrize(
    ("variable", "key", "problem"),
    [
        ("CONVOWEB_ENDPOINT_KEY_OTHER", "sk-3141", "CONVOWEB_ENDPOINTS has no endpoint of that name"),
        ("CONVOWEB_ENDPOINT_KEY_A", "sk 3141", "has spaces or characters that no HTTP header carries"),
        ("CONVOWEB_ENDPOINT_KEY_A", "sk-3141\nx", "has spaces or characters that no HTTP header carries"),
        ("CONVOWEB_ENDPOINT_KEY_A", "sk-3141ä", "has spaces or characters that no HTTP header carries"),
    ],
)
def test_keys_that_cannot_be_used_are_refused_without_repeating_them(variable, key, problem):
    with pytest.raises(ImproperlyConfigured) as caught:
        endpoints.keys({variable: key}, {"a": "https://x/v1"})
    assert str(caught.value).startswith(variable)
    assert problem in str(caught.value)
    assert "3141" not in str(caught.value)


@pytest.mark.parametrize("name", ["httpcore2", "httpx2", "openai"])
def test_what_is_asked_of_them_is_in_no_log(name):
    loggers: Any = settings.LOGGING["loggers"]
    assert loggers[name] == {"level": "WARNING"}
