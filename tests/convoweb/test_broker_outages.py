"""A broker that stops and comes back is noticed by nobody who appends, and nothing stays undone."""

import http.client
import json
import os
import signal
import time
from statistics import median

import pytest

from tests import servers
from tests.management.installation import Installation

APPENDS = 100
STOPPED_AT, STARTED_AT = 30, 70
SWEEP_SECONDS = 3
OFFSET = 2


class EmbeddedBroker:
    """The file of the embedded broker, which is lost together with all it holds, and the worker with it."""

    url = ""

    def __init__(self, installation):
        self.installation = installation

    def stop(self):
        for path in (self.installation.folder / "data").glob("queue.sqlite3*"):
            path.unlink()
        for pid, command in self.installation.descendants().items():
            if " worker " in command:
                os.kill(pid, signal.SIGKILL)

    def start_again(self):
        """The supervisor starts a worker, and that a new file."""


class RealBroker:
    def __init__(self, url):
        self.url = url

    def stop(self):
        servers.stop_broker(self.url)

    def start_again(self):
        servers.start_broker_again(self.url)


@pytest.fixture(params=["embedded", "redis", "rabbitmq"])
def outage(request, tmp_path):
    """An installation that is running and the broker it uses."""
    variables = {"CONVOWEB_SWEEP_INTERVAL": str(SWEEP_SECONDS)}
    if request.param != "embedded":
        variables["CELERY_BROKER_URL"] = request.getfixturevalue(f"{request.param}_url")
    installation = Installation(tmp_path, variables=variables)
    broker = RealBroker(variables["CELERY_BROKER_URL"]) if request.param != "embedded" else EmbeddedBroker(installation)
    try:
        yield installation.start_and_wait(), broker
    finally:
        installation.clean_up()


class Bot:
    """Talks over one connection."""

    def __init__(self, installation):
        installation.manage("create_project", "p")
        arguments = ("--project", "p", "--name", "bot", "--scopes", "read,write")
        self.key = installation.manage("create_api_key", *arguments).strip()
        self.connection = http.client.HTTPConnection("127.0.0.1", installation.port, timeout=60)

    def call(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        # A body that a GET does not need may come after the answer, and then the server ends the connection.
        self.connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text
        return json.loads(text)

    def append(self, number):
        """Return how long it took."""
        started = time.monotonic()
        self.call("POST", "/sessions/s/runs", {"input": f"question {number}", "output": f"answer {number}"})
        return time.monotonic() - started

    def seconds_until_summarized(self):
        started = time.monotonic()
        while True:
            session = self.call("GET", "/sessions/s")
            if session["summary"] and session["summary"]["covers_through"] == session["run_count"] - OFFSET:
                return time.monotonic() - started
            assert time.monotonic() - started < 60, session
            time.sleep(0.2)


def test_appends_go_on_as_fast_and_all_is_summarized_after_an_outage(outage):
    installation, broker = outage
    bot = Bot(installation)
    bot.call("POST", "/sessions", {"id": "s", "settings": {"summarize_at": 0, "offset": OFFSET}})
    took = []
    for number in range(1, APPENDS + 1):
        if number == STOPPED_AT:
            broker.stop()
        if number == STARTED_AT:
            broker.start_again()
        took.append(bot.append(number))
    before, during = median(took[10 : STOPPED_AT - 1]), median(took[STOPPED_AT - 1 : STARTED_AT - 1])
    seconds = bot.seconds_until_summarized()
    ratio = during / before
    print(f"{1000 * before:.0f} ms before, {1000 * during:.0f} ms during the outage, slowest {max(took):.2f} s")
    print(f"all summarized {seconds:.1f} s after the last")
    # No measurement, on a machine that does other things: waiting for a broker would take many times as long.
    assert ratio < 4
    assert bot.call("GET", "/sessions/s")["run_count"] == APPENDS
