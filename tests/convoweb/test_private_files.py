import os
import sqlite3
import stat

import pytest

from convoweb import private_files


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_mask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_new_folder_is_its_owners_alone(tmp_path):
    made = private_files.folder(tmp_path / "above" / "data")

    assert mode(made) == 0o700


def test_a_new_database_and_what_sqlite_puts_beside_it_are_their_owners_alone(tmp_path):
    path = private_files.database(tmp_path / "rows.sqlite3")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (x)")

        assert {file.name: mode(file) for file in tmp_path.iterdir()} == {
            "rows.sqlite3": 0o600,
            "rows.sqlite3-wal": 0o600,
            "rows.sqlite3-shm": 0o600,
        }


@pytest.mark.parametrize(("before", "after"), [(0o755, 0o750), (0o775, 0o770), (0o700, 0o700)])
def test_what_was_there_is_closed_to_all_but_owner_and_group(tmp_path, before, after):
    kept = tmp_path / "data"
    kept.mkdir()
    kept.chmod(before)

    assert mode(private_files.folder(kept)) == after


def test_a_database_that_was_there_keeps_its_rows_and_is_closed_with_what_lies_beside_it(tmp_path):
    path = tmp_path / "rows.sqlite3"
    for name in ("rows.sqlite3", "rows.sqlite3-wal"):
        (tmp_path / name).write_text("rows")
        (tmp_path / name).chmod(0o644)

    private_files.database(path)

    assert path.read_text() == "rows"
    assert {mode(file) for file in tmp_path.iterdir()} == {0o640}
