import re
import shlex
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from convoweb.celery import app
from tests.management.installation import Installation, is_running, wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only on systems with /proc")


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path)
    yield made
    made.clean_up()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("running")).start_and_wait()
    yield made
    made.clean_up()


def memory_in_mib(pids):
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def all_ended(family, *, seconds):
    end = time.monotonic() + seconds
    while any(map(is_running, family)) and time.monotonic() < end:
        time.sleep(0.1)
    return not any(map(is_running, family))


def queued(installation):
    with sqlite3.connect(installation.folder / "data" / "queue.sqlite3") as connection:
        return connection.execute("SELECT count(*) FROM message").fetchone()[0]


def test_it_serves_a_page_with_all_its_static_files(running):
    page = running.get("/admin/login/")
    links = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert links
    assert all(re.search(r"\.[0-9a-f]{12}\.", link) and running.get(link) for link in links)


def test_idle_it_needs_at_most_300_mib(running):
    assert memory_in_mib([running.process.pid, *running.descendants()]) <= 300


def test_nobody_else_may_read_its_data(running):
    data = running.folder / "data"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (data, *data.glob("*.sqlite3*"))}

    assert modes.pop("data") == 0o700
    assert modes.keys() >= {"convoweb.sqlite3", "queue.sqlite3"}
    assert set(modes.values()) == {0o600}


def test_it_prints_a_generated_password_once(running):
    assert len(re.findall(r"Password: +\S{20}\n", running.output)) == 1


def test_a_second_one_on_the_same_data_is_refused(running):
    second = Installation(running.folder)
    second.log = running.folder / "log-of-second"
    assert second.start().process.wait(60) == 1
    assert "convoweb is running already on the data in" in second.output


def test_a_used_address_is_refused_with_a_way_out(running, tmp_path):
    other = Installation(tmp_path, port=running.port).start()
    assert other.process.wait(60) == 1
    assert f"Cannot listen on 127.0.0.1:{running.port}" in other.output
    assert "PORT" in other.output


def test_a_worker_that_dies_is_started_again(running):
    (worker,) = [pid for pid, command in running.descendants().items() if "celery" in command]
    subprocess.run(["kill", "-KILL", str(worker)], check=True)
    wait_until(lambda: running.output.count("ready.") == 2, 60, running)
    assert "the worker died" in running.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_cleanly(installation, number):
    family = installation.start_and_wait().descendants()
    assert len(family) >= 2
    assert installation.stop(number) == 0
    assert all_ended(family, seconds=3)
    assert "Traceback" not in installation.output


def test_a_killed_one_leaves_no_process_behind_and_can_be_started_again(installation):
    family = installation.start_and_wait().descendants()
    installation.process.kill()
    installation.process.wait()
    assert all_ended(family, seconds=20)
    installation.start_and_wait()
    assert "Password" not in installation.output
    assert installation.stop() == 0


def test_work_that_a_killed_worker_held_is_done_after_the_next_start(installation):
    (installation.folder / "data").mkdir()
    with app.connection(installation.queue_url) as connection:
        app.send_task("sessions_app.tasks.sweep", connection=connection)
    with sqlite3.connect(installation.folder / "data" / "queue.sqlite3") as connection:
        connection.execute("UPDATE message SET owner = 'a killed one', visible_at = ?", (time.time() + 1000,))
    installation.start_and_wait()
    wait_until(lambda: queued(installation) == 0, 20, installation)


def test_a_new_password_can_be_made(running):
    def sign_in(password):
        code = "from django.contrib.auth import authenticate; from django.test import RequestFactory as R; "
        code += f"print(bool(authenticate(R().get('/'), username='admin', password={password!r})))"
        return manage(running, "shell", "--no-imports", "-c", code).stdout.strip()

    (first,) = re.findall(r"Password: +(\S+)\n", running.output)
    assert sign_in(first) == "True"
    (pasted,) = re.findall(r"To make a new one: (.+)\n", running.output)
    second = run(running, *shlex.split(pasted)).stdout.strip()
    assert sign_in(first) == "False"
    assert sign_in(second) == "True"


def test_a_new_password_for_nobody_is_refused(running):
    result = manage(running, "reset_password", "nobody")
    assert result.returncode == 1
    assert "There is no user named 'nobody'." in result.stderr


def manage(installation, *arguments):
    return run(installation, sys.executable, "manage.py", *arguments)


def run(installation, *command):
    return subprocess.run(
        command,
        cwd=Path(__file__).resolve().parents[2],
        env={"CONVOWEB_DATA_DIR": str(installation.folder / "data"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
