"""What the Makefile promises."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAKE_PYTHON = """#!/bin/sh
echo "$@"
case "$*" in *postgres*) exit {postgres};; *) exit {sqlite};; esac
"""


@pytest.mark.parametrize(("sqlite", "postgres"), [(0, 0), (1, 0), (0, 1), (2, 1)])
def test_make_test_runs_on_both_databases_and_fails_if_one_has_failed(tmp_path, sqlite, postgres):
    python, stamp = tmp_path / "python", tmp_path / "installed"
    python.write_text(FAKE_PYTHON.format(sqlite=sqlite, postgres=postgres))
    python.chmod(0o755)
    stamp.touch()

    done = subprocess.run(
        ["make", "--no-print-directory", "test", f"BIN={tmp_path}", f"DEV_STAMP={stamp}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines() == ["-m pytest", "-m pytest --db=postgres"]
    assert (done.returncode == 0) == (sqlite == postgres == 0)
