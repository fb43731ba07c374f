"""The operator's list of model endpoints: which addresses summarizers may ask, and the key for each."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from pydantic import SecretStr

from sessions_app.domain.endpoint_names import KEY_PREFIX, NAME_RULE, is_legal_name, key_variable

VARIABLE = "CONVOWEB_ENDPOINTS"
# What an HTTP header can carry.
_KEY = re.compile(r"[!-~]+")


def addresses(listed: str) -> dict[str, str]:
    """Return the base address of each endpoint in a list of `name=address` with commas between."""
    found: dict[str, str] = {}
    for item in filter(None, map(str.strip, listed.split(","))):
        name, separator, address = map(str.strip, item.partition("="))
        if not separator or not is_legal_name(name):
            raise _refused(f"{_shown(item)} is not name=address; {NAME_RULE}")
        if name in found:
            raise _refused(f"it names {name} twice")
        found[name] = _checked(name, address)
    return found


def keys(environment: Mapping[str, str], names: Mapping[str, str]) -> dict[str, SecretStr]:
    """Return the keys of those endpoints that have one; their texts are in no representation of it."""
    variables = {key_variable(name): name for name in names}
    found: dict[str, SecretStr] = {}
    for variable, text in environment.items():
        if not variable.startswith(KEY_PREFIX) or not text.strip():
            continue
        if variable not in variables:
            raise ImproperlyConfigured(f"{variable} is set, but {VARIABLE} has no endpoint of that name.")
        if not _KEY.fullmatch(text.strip()):
            raise ImproperlyConfigured(f"{variable} has spaces or characters that no HTTP header carries.")
        found[variables[variable]] = SecretStr(text.strip())
    return found


def _checked(name: str, address: str) -> str:
    try:
        parts = urlsplit(address)
        port_is_valid = parts.port is None or parts.port > 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        raise _refused(f"the address of {name} is none") from None
    if parts.username is not None or parts.password is not None:
        raise _refused(f"the address of {name} holds a user or a password; a key belongs into {key_variable(name)}")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_valid:
        raise _refused(f"the address of {name} must begin with http:// or https:// and name a host")
    if parts.query or parts.fragment or "?" in address or "#" in address or re.search(r"\s", address):
        raise _refused(f"the address of {name} must have no query, fragment or space")
    return address.rstrip("/")


def _refused(why: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{VARIABLE} cannot be read: {why}.")


def _shown(item: str) -> str:
    """Return an entry without what stands in front of an @, which may be a password."""
    return repr(item.rpartition("@")[2])
