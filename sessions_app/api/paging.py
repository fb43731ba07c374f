"""Pages of lists by keyset cursors."""

from typing import Any

from django.db.models import F, QuerySet

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.queries.keyset import Cursor, Order, read_count, read_cursor, rows_behind

_BY_POSITION = Order("position", F("position"), read_count)


def page_of(rows: QuerySet[Any], order: Order, *, limit: int, cursor: str) -> tuple[list[Any], str | None]:
    """Return the rows of the page behind a cursor, and the cursor to the next page, None if there is none."""
    found = list(rows_behind(rows, order, cursor_of(cursor, order))[: limit + 1])
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], Cursor(order.name, last.order_key, last.pk, 0).to_text()


def cursor_of(text: str, order: Order) -> Cursor | None:
    """Return the cursor of a request, None for the first page."""
    if not text:
        return None
    try:
        return read_cursor(text, order)
    except InvalidInput as error:
        raise InvalidInput(error.detail, errors=[FieldError("/cursor", error.detail)]) from None


def run_cursor(text: str) -> int:
    """Return the position behind which a page of runs starts, 0 for the first page."""
    cursor = cursor_of(text, _BY_POSITION)
    return 0 if cursor is None else min(cursor.pk, LARGEST_INTEGER)


def run_cursor_text(position: int) -> str:
    """Return the cursor to the page of runs behind a position."""
    return Cursor(_BY_POSITION.name, position, position, 0).to_text()
