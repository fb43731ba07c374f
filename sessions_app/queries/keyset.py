"""Keyset paging: a page starts behind the last row of the one before it, whatever was written in between."""

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.expressions import Combinable

from sessions_app.domain.errors import FieldError, InvalidInput

LARGEST_KEY = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Order:
    """A total order of rows: by `key`, then by primary key in the same direction.

    `read` turns the key's JSON form back into a value, or raises ValueError.
    """

    name: str
    key: Combinable
    read: Callable[[Any], Any]
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: its place in the order, and how many rows have been shown so far."""

    order: str
    key: Any
    pk: int
    shown: int

    def to_text(self) -> str:
        """Return the cursor as it stands in an address."""
        key = self.key.astimezone(UTC).isoformat() if isinstance(self.key, datetime) else self.key
        packed = json.dumps([self.order, key, self.pk, self.shown], separators=(",", ":"))
        return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def read_cursor(text: str, order: Order) -> Cursor:
    """Return the cursor that a text stands for, or raise InvalidInput if it is broken or of another order."""
    try:
        name, key, pk, shown = json.loads(
            base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        )
        if name != order.name:
            raise ValueError("another order")
        return Cursor(name, order.read(key), read_count(pk), read_count(shown))
    except (binascii.Error, UnicodeError, ValueError, TypeError, RecursionError):
        detail = "This cursor is not one that a page of this list in this order ended with."
        raise InvalidInput(detail, errors=[FieldError("/after", detail)]) from None


def rows_behind(rows: QuerySet[Any], order: Order, cursor: Cursor | None) -> QuerySet[Any]:
    """Return the rows in this order, from behind the cursor; each carries its key as `order_key`."""
    sign = "-" if order.descending else ""
    ordered = rows.annotate(order_key=order.key).order_by(f"{sign}order_key", f"{sign}pk")
    if cursor is None:
        return ordered
    further = "lt" if order.descending else "gt"
    # The first condition alone lets an index seek; the second decides among equal keys.
    reach = Q(**{f"order_key__{further}e": cursor.key})
    return ordered.filter(reach, Q(**{f"order_key__{further}": cursor.key}) | Q(**{f"pk__{further}": cursor.pk}))


def read_time(value: Any) -> datetime:
    """Read a moment in UTC."""
    moment = datetime.fromisoformat(value)
    if moment.utcoffset() != timedelta(0):
        raise ValueError("not in UTC")
    return moment


def read_count(value: Any) -> int:
    """Read a whole number from 0 that fits a column."""
    if type(value) is not int or not 0 <= value <= LARGEST_KEY:
        raise ValueError("not a count")
    return value


def read_text(value: Any) -> str:
    """Read a text that a column can be compared with."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("not a text")
    value.encode()
    return value
