import csv
import json

import pytest

from sessions_app.api.replay_schemas import replay_out
from sessions_app.queries.replay_files import as_csv, as_json
from sessions_app.services.replays import replay_session
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def replays():
    session = make_session(runs=7, settings={"strategy": "buffer"})
    settings = {"/a": {"last_n": 2}, "/b": {"autoprune": False, "max_input_tokens": 40}}
    return list(zip("ab", replay_session(session=session, settings=settings, now=NOW), strict=True))


def test_json_is_what_the_api_answers(replays):
    told = json.loads(as_json(replays))
    assert told == {key: json.loads(replay_out(replay).model_dump_json()) for key, replay in replays}


def test_csv_has_a_line_a_turn_and_empty_cells_where_nothing_is_known(replays):
    rows = list(csv.DictReader("".join(as_csv(replays)).splitlines()))
    assert [row["turn"] for row in rows] == ["1", "2", "3", "4", "5", "6", "7"]
    columns = json.loads(as_json(replays))
    for key, _ in replays:
        for name, column in columns[key]["columns"].items():
            assert [row[f"{key}_{name}"] for row in rows] == ["" if each is None else str(each) for each in column]
    assert rows[-1]["b_tokens"] == ""
    assert "autoprune" in rows[-1]["b_error"]
