"""Names of model endpoints, which stand for their addresses and keys everywhere but with the operator."""

import re

NAME_RULE = "names are 1-40 of a-z, 0-9 and hyphens"
KEY_PREFIX = "CONVOWEB_ENDPOINT_KEY_"

_LEGAL_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def is_legal_name(name: str) -> bool:
    """Tell whether an endpoint may have this name."""
    return _LEGAL_NAME.fullmatch(name) is not None


def key_variable(name: str) -> str:
    """Return the environment variable that holds an endpoint's key."""
    return KEY_PREFIX + name.upper().replace("-", "_")
