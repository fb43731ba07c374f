"""With PostgreSQL, a real broker and four worker processes: all is summarized, and nothing piles up anywhere."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("broker", "workers", "processes"),
    [("redis_url", 4, 1), ("rabbitmq_url", 1, 4)],
    ids=["four workers with Redis", "one worker of four processes with RabbitMQ"],
)
def test_twenty_conversations_are_summarized_while_twenty_bots_append(
    request, postgres_url, broker, workers, processes
):
    """The fault harness without kills: it judges the rows, the prompts, and what is left in the broker and open."""
    given = {
        "kills": 0,
        "sessions": 20,
        "turns": 10,
        "broker": request.getfixturevalue(broker),
        "database": postgres_url,
        "workers": workers,
        "concurrency": processes,
    }
    options = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults: 0" in done.stdout
    assert "append at once 200" in done.stdout
