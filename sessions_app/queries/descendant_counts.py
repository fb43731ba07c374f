"""How many sessions stand below others in their trees."""

from collections.abc import Sequence

from django.db import connection

from sessions_app.queries.capped_counts import COUNTED_AT_MOST, CappedCount

# Keys are numbers of ours, so that they can stand in the statement; as parameters they would be too many.
_BELOW = """
    WITH RECURSIVE below AS (
        SELECT id FROM sessions_app_session WHERE parent_id IN ({keys})
        UNION SELECT children.id FROM below JOIN sessions_app_session AS children ON children.parent_id = below.id
    )
    SELECT COUNT(*) FROM (SELECT id FROM below WHERE id NOT IN ({keys}) LIMIT {most}) AS counted
"""


def count_below(pks: Sequence[int]) -> CappedCount:
    """Count the sessions below those with these keys that are none of them, by one query."""
    if not pks:
        return CappedCount(0)
    keys = ", ".join(map(str, map(int, pks)))
    with connection.cursor() as cursor:
        cursor.execute(_BELOW.format(keys=keys, most=COUNTED_AT_MOST + 1))
        return CappedCount.of(cursor.fetchone()[0])
