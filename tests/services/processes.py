"""Requests from several processes at once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from django.db import connection

ROOT = Path(__file__).parents[2]


def send_in_parallel(groups):
    """Let a process for each group send its clients' requests, all at the same time; return their answers."""
    peers = [_peer() for _ in groups]
    for peer, clients in zip(peers, groups, strict=True):
        _write(peer, json.dumps(clients))
    for peer in peers:
        assert peer.stdout.readline() == "ready\n"
    for peer in peers:
        _write(peer, "go")
    answers = [peer.communicate(timeout=120)[0] for peer in peers]
    assert [peer.returncode for peer in peers] == [0] * len(peers)
    return [client for group in answers for client in json.loads(group)]


def _peer():
    environment = {
        **os.environ,
        "DATABASE_URL": _test_database_url(),
        "PYTHONPATH": str(ROOT),
        "CONVOWEB_LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, str(Path(__file__).with_name("parallel_peer.py"))]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    )


def _write(peer, line):
    peer.stdin.write(line + "\n")
    peer.stdin.flush()


def _test_database_url():
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{quote(name)}"
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))
