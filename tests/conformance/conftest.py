"""The real packages as fixtures, and the counts of the comparisons at the end."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.real_packages import SEED, Peer, tallies


@pytest.fixture(scope="session", params=["griptape 1.8.13", "griptape 1.13.0"])
def griptape(request: Any) -> Iterator[Peer]:
    peer = Peer(request.param, "griptape_peer.py")
    yield peer
    peer.close()


@pytest.fixture(scope="session")
def chuk() -> Iterator[Peer]:
    peer = Peer("chuk 0.1.1", "chuk_peer.py")
    yield peer
    peer.close()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if tallies:
        terminalreporter.write_line(f"against the real packages, seed {SEED}:")
    for tally in tallies:
        terminalreporter.write_line(f"  {tally}")
