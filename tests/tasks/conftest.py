"""Real Celery workers as processes, over the database of the test; on SQLite with the embedded broker."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

ROOT = Path(__file__).parents[2]


def database_url():
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{quote(str(settings['NAME']))}"
    return "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format_map(settings)


class Workers:
    """Starts, kills and stops workers that share one broker; they sweep every three seconds."""

    def __init__(self, folder, broker_url):
        self.folder = folder
        self.slow_mark = folder / "summarizer-was-called"
        self.environment = {
            **os.environ,
            "CONVOWEB_DATA_DIR": str(folder),
            "DATABASE_URL": database_url(),
            "CELERY_BROKER_URL": broker_url,
            "CONVOWEB_SWEEP_INTERVAL": "3",
            "SLOW_MARK": str(self.slow_mark),
        }
        self.processes = []

    def start(self, app="convoweb"):
        log = (self.folder / f"worker-{len(self.processes)}.log").open("wb")
        command = [sys.executable, "-m", "celery", "--quiet", "--app", app, "worker", "--pool", "threads"]
        process = subprocess.Popen(
            [*command, "--concurrency", "4", "--without-gossip", "--without-mingle", "--without-heartbeat"],
            cwd=ROOT,
            env=self.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self.processes.append(process)
        return process

    def python(self, code):
        """Run code in a process with the same environment, as a web process would."""
        setup = "import django; django.setup(); from functools import partial; from sessions_app import clients; "
        setup += "hurry = partial(clients.publish, clients.Work.SUMMARIZE); "
        environment = {**self.environment, "DJANGO_SETTINGS_MODULE": "convoweb.settings"}
        subprocess.run([sys.executable, "-c", setup + code], cwd=ROOT, env=environment, check=True)

    def logs(self):
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("worker-*.log")))

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def pytest_generate_tests(metafunc):
    if "broker" in metafunc.fixturenames:
        brokers = ["embedded"] if metafunc.config.option.db == "sqlite" else ["redis", "rabbitmq"]
        metafunc.parametrize("broker", brokers, indirect=True)


@pytest.fixture
def broker(request, tmp_path):
    """Return the address of a broker: the embedded one's file, or that of a server that all tests share."""
    if request.param == "embedded":
        return f"sqlite-queue://localhost/{quote(str(tmp_path / 'queue.sqlite3'))}"
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def workers(transactional_db, tmp_path, broker):
    started = Workers(tmp_path, broker)
    yield started
    started.stop()


def wait_until(condition, workers, seconds=90):
    """Ask again and again; a failure shows what the workers said."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    pytest.fail(f"It did not come about within {seconds} s.\n{workers.logs()}")
