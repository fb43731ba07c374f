"""Forms that are sent twice make one thing: it takes its identity from a number that the form carries.

So the unique constraint of that identity decides, whichever process gets the second, and nothing has to be stored.
"""

import secrets
import string
from datetime import datetime

from django.utils.crypto import salted_hmac

# 22 characters of 64 carry 128 bits; what is no such number counts as none.
NUMBER_BYTES = 16
LONGEST_NUMBER = 40
SALT = "convoweb.forms"
# A form that is sent again after a minute or two asks for another thing.
SECONDS = 60

_ALPHABET = string.digits + string.ascii_letters


def new_form_number() -> str:
    """Return a number for a form that is shown."""
    return secrets.token_urlsafe(NUMBER_BYTES)


def identity(number: str, *asked: object, length: int) -> str:
    """Return letters and digits that the same form with the same answers always gives; random ones without a number."""
    if not 0 < len(number) <= LONGEST_NUMBER:
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))
    letters, digest = "", salted_hmac(SALT, repr((number, *asked)), algorithm="sha512").digest()
    left = int.from_bytes(digest, "big")
    while len(letters) < length:
        left, place = divmod(left, len(_ALPHABET))
        letters += _ALPHABET[place]
    return letters


def recent_identities(number: str, *asked: object, length: int, now: datetime) -> list[str]:
    """Return the identity that a form gives in this minute, and the one that it gave in the minute before.

    For what is a secret or works once: sent again later, a form gives another.
    """
    minute = int(now.timestamp()) // SECONDS
    return [identity(number, *asked, each, length=length) for each in (minute, minute - 1)]
