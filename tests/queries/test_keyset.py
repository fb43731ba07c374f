import base64
import json

import pytest
from django.db.models import F

from sessions_app.domain.errors import InvalidInput
from sessions_app.models import Session
from sessions_app.queries.keyset import Cursor, Order, read_count, read_cursor, read_text, read_time, rows_behind
from tests.factories import NOW, make_project, make_session

BY_TIME = Order("time", F("created_at"), read_time, descending=True)
BY_TITLE = Order("title", F("title"), read_text)
BY_LENGTH = Order("length", F("last_position"), read_count)


def packed(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(("order", "key"), [(BY_TIME, NOW), (BY_TITLE, "Zürich ☃"), (BY_LENGTH, 0)])
def test_a_cursor_comes_back_from_its_text(order, key):
    cursor = Cursor(order.name, key, 7, 25)
    assert read_cursor(cursor.to_text(), order) == cursor


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "%00",
        "é",
        packed([]),
        packed({}),
        packed(None),
        packed(["time", NOW.isoformat(), 7]),
        packed(["title", "a", 7, 25]),
        packed(["time", "yesterday", 7, 25]),
        packed(["time", "2026-05-04T12:00:00", 7, 25]),
        packed(["time", "0001-01-01T00:00:00+09:00", 7, 25]),
        packed(["time", 5, 7, 25]),
        packed(["time", NOW.isoformat(), "7", 25]),
        packed(["time", NOW.isoformat(), 7, True]),
        packed(["time", NOW.isoformat(), 2**63, 25]),
        packed(["time", NOW.isoformat(), -1, 25]),
        packed(["time", NOW.isoformat(), 7, -1]),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    ],
)
def test_it_refuses_a_cursor_that_is_broken_or_of_another_order(text):
    with pytest.raises(InvalidInput):
        read_cursor(text, BY_TIME)


@pytest.mark.parametrize("key", ["\0", "\ud800", 5, None])
def test_it_refuses_a_text_that_no_column_can_hold(key):
    with pytest.raises(InvalidInput):
        read_cursor(packed(["title", key, 7, 25]), BY_TITLE)


@pytest.mark.django_db
def test_equal_keys_are_ordered_by_primary_key_in_the_same_direction():
    project = make_project()
    made = [make_session(project, f"s{n}", title="same").pk for n in range(4)]
    rows = Session.objects.all()
    assert [row.pk for row in rows_behind(rows, BY_TITLE, None)] == made
    assert [row.pk for row in rows_behind(rows, BY_TIME, None)] == made[::-1]
    assert [row.pk for row in rows_behind(rows, BY_TITLE, Cursor("title", "same", made[1], 2))] == made[2:]
    assert [row.pk for row in rows_behind(rows, BY_TIME, Cursor("time", NOW, made[2], 2))] == made[1::-1]
