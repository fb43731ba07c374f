"""The laws of prompts over random conversations, in a short form; `make properties` is the whole."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.properties.rows import from_rows
from tests.properties.runner import run
from tests.properties.tally import Tally

ROOT = Path(__file__).parents[2]
PROMPTS = 2_400
PROMPTS_OF_ROWS = 250


def told(tally: Tally) -> None:
    print("\n".join(tally.lines()))
    assert tally.examples == []
    assert not tally.faults


def test_every_law_holds_for_random_conversations_under_random_settings():
    tally = run("short", PROMPTS)
    told(tally)
    assert tally.built >= PROMPTS
    assert tally.shortcomings() == []


@pytest.mark.django_db
def test_every_law_holds_for_conversations_in_the_database_and_forks_that_share_their_runs():
    tally = run("rows 9", PROMPTS_OF_ROWS, from_rows)
    told(tally)
    assert tally.features["forks"] >= tally.built // 10


def test_the_judge_imports_nothing_of_the_product():
    script = (
        "import sys, tests.properties.judge; sys.exit(str([n for n in sys.modules if n.startswith('sessions_app')]))"
    )
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.stderr.strip() == "[]"
