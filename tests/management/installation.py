"""An installation started with `manage.py up`, as a person would, and looked at from outside."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90


class Installation:
    """One data folder and the processes that run on it."""

    def __init__(self, folder, port=None, variables=None):
        self.folder = folder
        self.port = port or free_port()
        self.variables = variables or {}
        self.log = folder / "log"
        self.process = None

    @property
    def output(self):
        return self.log.read_text()

    @property
    def queue_url(self):
        return f"sqlite-queue://localhost/{self.folder}/data/queue.sqlite3"

    @property
    def environment(self):
        known = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        return known | {"CONVOWEB_DATA_DIR": str(self.folder / "data"), "PORT": str(self.port)} | self.variables

    def manage(self, *arguments):
        """Run a command beside the processes and return what it prints."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=True
        ).stdout

    def start(self):
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def start_and_wait(self):
        self.start()
        wait_until(lambda: self.get("/admin/login/") is not None and "ready." in self.output, START_SECONDS, self)
        return self

    def get(self, path):
        """Return the body at a path, or None where nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError:
            raise
        except OSError:
            return None

    def descendants(self):
        """Return the command lines of all processes under ours, by process id."""
        found, todo = {}, [self.process.pid]
        while todo:
            children = [pid for pid in process_ids() if parent_of(pid) in todo]
            found.update({pid: command_of(pid) for pid in children})
            todo = children
        return found

    def stop(self, number=signal.SIGINT):
        """Send a signal as Ctrl-C does, to the whole group, and return the exit code."""
        os.killpg(self.process.pid, number)
        return self.process.wait(30)

    def clean_up(self):
        if self.process and self.process.poll() is None:
            family = [self.process.pid, *self.descendants()]
            for pid in family:
                os.kill(pid, signal.SIGKILL)
            self.process.wait(10)


def wait_until(condition, seconds, installation):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, installation.output
        assert installation.process.poll() is None, installation.output
        time.sleep(0.1)


def process_ids():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def parent_of(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
