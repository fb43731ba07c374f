"""Ids that clients choose for their sessions and runs."""

import re

from sessions_app.domain.errors import FieldError, InvalidInput

ID_RULE = "An id is 1-200 of A-Z a-z 0-9 . _ ~ : @ + = -, not only dots, compared byte by byte."
ID_PATTERN = r"^(?!\.+$)[A-Za-z0-9._~:@+=-]{1,200}$"

_LEGAL = re.compile(r"(?!\.+\Z)[A-Za-z0-9._~:@+=-]{1,200}")


def is_legal_id(text: str) -> bool:
    """Tell whether a text can be the id of a session or a run."""
    return _LEGAL.fullmatch(text) is not None


def check_id(text: str, *, pointer: str = "/id") -> str:
    """Return the id, or raise InvalidInput with the rule and the JSON pointer of the field it came in."""
    if not is_legal_id(text):
        raise InvalidInput(ID_RULE, errors=[FieldError(pointer, ID_RULE)])
    return text
