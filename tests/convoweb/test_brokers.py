"""The same code on every broker, and without one."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from convoweb.celery import app
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
SUMMARIZE = "sessions_app.tasks.summarize"
# The first poke loads modules besides; of the others a busy machine may hold up some.
POKE = """
import time, django
django.setup()
from sessions_app import clients
def poke():
    started = time.monotonic()
    clients.publish(clients.Work.SUMMARIZE, 1)
    return time.monotonic() - started
poke()
print(min(poke() for _ in range(4)))
"""


@pytest.fixture(params=["embedded", "redis", "rabbitmq"])
def url(request, tmp_path):
    if request.param == "embedded":
        return f"sqlite-queue://localhost/{tmp_path}/queue.sqlite3"
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def silent_port():
    """Return a port on which connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def environment(url, folder):
    return {
        **os.environ,
        "CELERY_BROKER_URL": url,
        "CONVOWEB_DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/convoweb.sqlite3",
        "DJANGO_SETTINGS_MODULE": "convoweb.settings",
    }


def seconds_to_poke(url, folder):
    done = subprocess.run(
        [sys.executable, "-c", POKE],
        cwd=ROOT,
        env=environment(url, folder),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "publish_failed" in done.stderr
    return float(done.stdout)


def test_a_worker_does_what_was_asked_before_it_started(url, tmp_path):
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment(url, tmp_path), check=True
    )
    with app.connection(url) as connection:
        asked = app.send_task(SUMMARIZE, args=[1], connection=connection)
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "convoweb", "worker", "-P", "threads", "-c", "2"],
            cwd=ROOT,
            env=environment(url, tmp_path),
            stdout=log,
            stderr=log,
        )
    try:
        wait_for_line(f"Task {SUMMARIZE}[{asked.id}] succeeded", tmp_path / "log", worker)
    finally:
        worker.terminate()
    assert worker.wait(30) == 0


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_is_down_holds_nobody_up(scheme, tmp_path):
    assert seconds_to_poke(f"{scheme}://127.0.0.1:{free_port()}/", tmp_path) < 1


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_does_not_answer_holds_nobody_up_for_long(scheme, silent_port, tmp_path):
    assert seconds_to_poke(f"{scheme}://127.0.0.1:{silent_port}/", tmp_path) < 1


def wait_for_line(text, path, process):
    end = time.monotonic() + 60
    while text not in path.read_text():
        assert process.poll() is None, path.read_text()
        assert time.monotonic() < end, path.read_text()
        time.sleep(0.1)
