"""Case C45: pages whose rows all have the same time hold each of them once, whatever the size and the order.

The list on the page is tried in tests/queries/test_sessions.py.
"""

import json
from itertools import chain
from pathlib import Path

import pytest

from sessions_app.queries.session_listing import ORDERS
from tests.factories import append_turns, make_session

pytestmark = pytest.mark.django_db
CASE = json.loads((Path(__file__).parents[1] / "data" / "cases" / "C45-ties-at-the-page-edge.json").read_text())
COUNT, SIZES = CASE["computed"]["items"], CASE["settings"]["page_sizes"]


def walk(bot, path):
    pages = [page["items"] for page in bot.pages(path)]
    assert all(pages)
    return list(chain.from_iterable(pages))


def test_c45_sessions_come_once_in_one_order(bot, project):
    ids = [make_session(project, f"S{n}", title="The same").public_id for n in range(1, COUNT + 1)]
    for order in ORDERS:
        for words in ("", "&q=same"):
            walks = [
                [item["id"] for item in walk(bot, f"/sessions?sort={order}&limit={size}{words}")] for size in SIZES
            ]
            assert sorted(walks[0]) == sorted(ids)
            assert all(each == walks[0] for each in walks)


def test_c45_runs_come_once_in_their_order(bot, project):
    append_turns(make_session(project, "S1"), COUNT)
    for size in SIZES:
        for path in ("runs", "usage"):
            positions = [item["position"] for item in walk(bot, f"/sessions/S1/{path}?limit={size}")]
            assert positions == list(range(1, COUNT + 1))


def test_c45_what_is_no_page_is_refused(bot, project):
    make_session(project, "S1", runs=1)
    for path in ("/sessions", "/sessions/S1/runs", "/sessions/S1/usage"):
        for query in ("limit=0", "limit=-5", "limit=abc", "limit=1000000", "page=0", "cursor=x", "cursor=WzFd"):
            assert bot.get(f"{path}?{query}").status_code == 422, (path, query)


def test_c45_a_cursor_of_another_order_is_refused_and_one_behind_the_end_is_empty(bot, project):
    for n in range(3):
        make_session(project, f"S{n}")
    cursor = bot.get("/sessions?sort=id&limit=1").json()["next_cursor"]

    assert bot.get(f"/sessions?sort=created_at&cursor={cursor}").status_code == 422
    bot.delete("/sessions/S1")
    bot.delete("/sessions/S2")
    assert bot.get(f"/sessions?sort=id&cursor={cursor}").json() == {"items": [], "next_cursor": None}
