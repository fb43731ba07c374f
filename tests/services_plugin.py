"""A pytest plugin: the database of a run (`--db`), other real servers, and what was not run and why.

What is not installed is skipped and told at the end as NOT RUN. With CI=true that is an error, and so is every other
skip that nobody expects.
"""

import atexit
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import servers

# What the developer's own installation may be set to, and the tests must not touch.
FOREIGN_VARIABLES = ("DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL", "CONVOWEB_API_RATE", "CONVOWEB_HTTPS")
EXPECTED_SKIPS = ("../shared", "only on ", "make conformance")
CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}

_notes: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--db", default="sqlite", choices=["sqlite", "postgres"], help="the database to run on")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Prepare the environment before Django's settings read it."""
    for name in FOREIGN_VARIABLES:
        os.environ.pop(name, None)
    os.environ["CONVOWEB_TIME_ZONE"] = "UTC"
    os.environ["CONVOWEB_DATA_DIR"] = tempfile.mkdtemp(prefix="convoweb-tests-")
    atexit.register(shutil.rmtree, os.environ["CONVOWEB_DATA_DIR"], ignore_errors=True)
    Path(os.environ["CONVOWEB_DATA_DIR"], "static").mkdir()
    # Playwright's loop runs in the thread of the tests.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    database = early_config.known_args_namespace.db
    if database == "postgres":
        os.environ["DATABASE_URL"] = _postgres()
    _notes.append(f"database: {database}")
    return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run only what touches the database on any but the first of them."""
    if config.option.db != "sqlite":
        others = [item for item in items if not _touches_database(item)]
        items[:] = [item for item in items if _touches_database(item)]
        config.hook.pytest_deselected(items=others)


def pytest_report_header() -> list[str]:
    return _notes


@pytest.fixture(scope="session")
def redis_url() -> str:
    """Return the address of a Redis that is running for the tests."""
    return _start_or_skip(servers.start_redis)


@pytest.fixture(scope="session")
def rabbitmq_url() -> str:
    """Return the address of a RabbitMQ that is running for the tests."""
    return _start_or_skip(servers.start_rabbitmq)


@pytest.fixture
def postgres_url() -> str:
    """Return the address of an empty PostgreSQL of a test's own, whatever database the others run on."""
    return _start_or_skip(servers.start_postgres)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Let Playwright use the Chromium of the system."""
    # Chromium refuses to run as root inside its sandbox.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {**browser_type_launch_args, "executable_path": _start_or_skip(servers.find_chromium), "args": flags}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for note in _notes:
        terminalreporter.write_line(note)
    for reason, count in Counter(map(_reason, terminalreporter.stats.get("skipped", []))).items():
        terminalreporter.write_line(f"NOT RUN: {count} tests: {reason}", yellow=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    reasons = {_reason(report) for report in reporter.stats.get("skipped", [])}
    unexpected = [reason for reason in reasons if not any(word in reason for word in EXPECTED_SKIPS)]
    if CI and unexpected:
        _notes.append(f"ERROR: with CI=true these may not be skipped: {unexpected}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _touches_database(item: pytest.Item) -> bool:
    if item.get_closest_marker("any_database"):
        return False
    fixtures = {"db", "transactional_db", "live_server"} & set(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


def _postgres() -> str:
    try:
        return os.environ.get("TEST_DATABASE_URL") or servers.start_postgres()
    except servers.NotInstalled as error:
        raise SystemExit(_not_run(f"the tests on PostgreSQL: {error}")) from error


def _start_or_skip(start: Callable[[], str]) -> str:
    try:
        return start()
    except servers.NotInstalled as error:
        if CI:
            pytest.fail(str(error))
        pytest.skip(str(error))


def _not_run(what: str) -> str | int:
    """Return an exit code that lets a developer go on, or with CI=true an error message."""
    if CI:
        return f"NOT RUN: {what}"
    print(f"NOT RUN: {what}")
    return 0


def _reason(report: Any) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return str(text).removeprefix("Skipped: ").removeprefix("NOT RUN: ")
