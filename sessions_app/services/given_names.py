"""Names that people give to something of a project, each once in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import IntegrityError, transaction

from sessions_app.domain.errors import FieldError, IdTaken, InvalidInput
from sessions_app.domain.text_cleaning import clean_text

LONGEST_NAME: Final = 100


def checked_name(name: str, *, kind: str) -> str:
    """Return a name with single spaces, or raise InvalidInput; `kind` says what has it, such as "view"."""
    name = clean_text(" ".join(name.split()))
    if not 0 < len(name) <= LONGEST_NAME:
        detail = f"A {kind} has a name of 1 to {LONGEST_NAME} characters."
        raise InvalidInput(detail, errors=[FieldError("/name", detail)])
    return name


@contextmanager
def taken_names_refused(name: str, *, kind: str) -> Iterator[None]:
    """Store something under a name inside the block; raises IdTaken where another of the kind has it already."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        detail = f"There is a {kind} {name} already; choose another name, or delete that one."
        raise IdTaken(detail, errors=[FieldError("/name", detail)]) from None
