"""The versions of a project's or a session's settings, for lists of them."""

from django.db.models import F

from sessions_app.queries.keyset import Order, read_count

BY_NUMBER = Order("number", F("number"), read_count, descending=True)
