"""Removing from the full-text index, after deletions, what still lies in its file."""

from django.db import transaction

from sessions_app.models.search_remains import forget_remains, merge_some, newest_remains

_MOST_STEPS = 5_000


def purge_search_index() -> bool:
    """Write anew what words of deleted texts may stand in, by short transactions; return whether there was any."""
    newest = newest_remains()
    if not newest:
        return False
    for step in range(_MOST_STEPS):
        with transaction.atomic():
            if not merge_some(first=step == 0):
                forget_remains(newest)
                break
    return True
