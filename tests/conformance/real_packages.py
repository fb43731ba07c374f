"""The real packages, asked in environments of their own over lines of JSON, and what comparing with them has found."""

import json
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PEERS = Path(__file__).parent / "peers"
ENVIRONMENTS = {
    "griptape 1.8.13": ".venv-oracle",
    "griptape 1.13.0": ".venv-oracle-newest",
    "chuk 0.1.1": ".venv-oracle",
}
# Whoever says how many wants them compared, so there a package that is not installed is an error.
ASKED_FOR = os.environ.get("CONFORMANCE_CASES")
CASES = int(ASKED_FOR or "300")
SEED = os.environ.get("CONFORMANCE_SEED", "1")
MOST_LEFT_OUT = 0.05

tallies: list["Tally"] = []


class Peer:
    """A process that answers each line it gets with one."""

    def __init__(self, package: str, script: str) -> None:
        self.package = package
        command = [str(interpreter(package)), str(PEERS / script)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, asked: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers, each {"answer": ...} or {"error": ...}; asking does not wait for answers."""
        writer = threading.Thread(target=self._write, args=[asked])
        writer.start()
        assert self._process.stdout is not None
        answers = [json.loads(self._process.stdout.readline()) for _ in asked]
        writer.join()
        return answers

    def _write(self, asked: Sequence[dict[str, Any]]) -> None:
        assert self._process.stdin is not None
        for each in asked:
            self._process.stdin.write(json.dumps(each) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def interpreter(package: str, *, root: Path = ROOT, asked_for: bool = bool(ASKED_FOR)) -> Path:
    """Return the Python that has a package; where there is none, the test is not run, or fails if it was asked for."""
    python = root / ENVIRONMENTS[package] / "bin" / "python"
    if not python.exists():
        reason = f"{package} is not installed in {ENVIRONMENTS[package]}; make conformance does it and compares"
        if asked_for:
            pytest.fail(reason)
        pytest.skip(reason)
    return python


@dataclass
class Tally:
    """How many comparisons there were, which differed, and how many were left out by the name of a known defect."""

    name: str
    compared: int = 0
    differences: list[Any] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def compare(self, ours: Any, theirs: Any, case: Any) -> None:
        self.compared += 1
        if ours != theirs:
            self.differences.append({"ours": ours, "theirs": theirs, "case": case})

    def leave_out(self, defect: str) -> None:
        self.left_out[defect] += 1

    def settle(self) -> None:
        """Fail if anything differed, or if a defect took more than its share."""
        tallies.append(self)
        assert not self.differences, f"{len(self.differences)} differences, the first: {self.differences[0]}"
        total = self.compared + self.left_out.total()
        too_many = {name: count for name, count in self.left_out.items() if count > MOST_LEFT_OUT * total}
        assert self.compared, "nothing was compared"
        assert not too_many, f"more than one in twenty of {total:,}"

    def __str__(self) -> str:
        left = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in sorted(self.left_out.items()))
        found = f"{self.compared:,} compared, {len(self.differences)} differences"
        return f"{self.name}: {found}; left out: {left or 'none'}"
