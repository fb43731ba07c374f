"""`make faults`: workers killed at random moments while they summarize, a judgement after each, and counts."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from tests import servers
from tests.faults.endpoint import Endpoint

BROKERS = {"redis": servers.start_redis, "rabbitmq": servers.start_rabbitmq}
DATABASES = {"postgres": servers.start_postgres}
FAILING = 0.3


def main() -> int:
    """Run, print, and return 1 if anything did not hold."""
    # Told to stop, it stops what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    arguments = _arguments()
    endpoint = Endpoint(arguments.seed, failing=FAILING)
    folder = tempfile.mkdtemp(prefix="convoweb-faults-")
    try:
        with endpoint.server as server:
            os.environ |= _environment(arguments, folder, server.url)
            report = _run(arguments, endpoint)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join([*report.lines, *report.faults]))
    return 1 if report.faults else 0


def _environment(arguments: argparse.Namespace, folder: str, endpoint_url: str) -> dict[str, str]:
    """Return what the settings read; nothing of the developer's own installation is touched."""
    return {
        "DJANGO_SETTINGS_MODULE": "convoweb.settings",
        "CONVOWEB_DATA_DIR": folder,
        "CONVOWEB_ENDPOINTS": f"scripted={endpoint_url}",
        "CONVOWEB_SWEEP_INTERVAL": "2",
        "CONVOWEB_LOG_LEVEL": "ERROR",
        "CONVOWEB_API_RATE": "",
        "CONVOWEB_HTTPS": "0",
        "CACHE_URL": "locmemcache://",
        "CELERY_BROKER_URL": _address(arguments.broker, BROKERS, f"sqlite-queue://localhost/{folder}/queue.sqlite3"),
        "DATABASE_URL": _address(arguments.database, DATABASES, f"sqlite:///{folder}/convoweb.sqlite3"),
        "CELERY_SKIP_CHECKS": "true",
    }


def _address(asked: str, servers_by_name: Mapping[str, Callable[[], str]], embedded: str) -> str:
    """Return the address of what was asked for: one that runs, a server that is started now, or what needs none."""
    if "://" in asked:
        return asked
    return servers_by_name[asked]() if asked in servers_by_name else embedded


def _run(arguments: argparse.Namespace, endpoint: Endpoint) -> Any:
    # Only now, since settings, and the database they name, are read once.
    harness = import_module("tests.faults.harness")
    workers = import_module("tests.faults.workers")
    options = (
        workers.embedded_options() if arguments.broker == "embedded" else ["--concurrency", str(arguments.concurrency)]
    )
    plan = harness.Plan(
        kills=arguments.kills,
        sessions=arguments.sessions,
        seed=arguments.seed,
        workers=arguments.workers,
        options=tuple(options),
        failing=FAILING,
        turns=arguments.turns,
    )
    return harness.run(plan, endpoint)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how many times a worker is killed")
    parser.add_argument("--sessions", type=int, default=50, help="how many sessions are summarized at a time")
    parser.add_argument("--seed", default="1", help="the same seed gives the same moments, answers and actions")
    parser.add_argument("--broker", default="embedded", help="embedded, redis, rabbitmq or an address")
    parser.add_argument("--database", default="sqlite", help="sqlite, postgres or an address of an empty one")
    parser.add_argument("--workers", type=int, default=1, help="how many worker processes run at a time")
    parser.add_argument("--concurrency", type=int, default=4, help="processes of each, unless the broker is embedded")
    parser.add_argument(
        "--turns", type=int, default=20, help="without kills: how many runs a bot for each session appends meanwhile"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
