"""Worker processes: started by forking from one that has imported everything, killed, stopped."""

import os
import signal
import time
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random

from sessions_app.management.worker_process import COMMAND
from tests.faults.worker import work
from tests.management.installation import parent_of, process_ids

READY = "worker ready"
START_SECONDS = 60
STOP_SECONDS = 30


def embedded_options() -> list[str]:
    """Return the options with which `manage.py up` starts its worker."""
    return list(COMMAND[COMMAND.index("worker") + 1 :])


class Workers:
    """So many workers at a time, all with the same options and one log."""

    def __init__(self, number: int, options: list[str], log: Path) -> None:
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["tests.faults.worker"])
        self._number = number
        self._options = options
        self._log = log
        self._processes: list[BaseProcess] = []
        self._started_at = self._starting = 0
        log.touch()

    def start(self) -> None:
        """Start those that are missing."""
        self._started_at = self._log.stat().st_size
        self._starting = self._number - len(self._processes)
        while len(self._processes) < self._number:
            # A name of its own, since a broker may tell its consumers apart by that.
            name = f"--hostname=worker{time.monotonic_ns()}@localhost"
            process = self._context.Process(target=work, args=([*self._options, name], str(self._log)))
            process.start()
            self._processes.append(process)

    def wait_until_ready(self) -> None:
        """Wait until those that were started last say so."""
        end = time.monotonic() + START_SECONDS
        while self.log[self._started_at :].count(READY) < self._starting:
            if time.monotonic() > end or not all(process.is_alive() for process in self._processes):
                raise RuntimeError(f"The workers do not start:\n{self.log[-4000:]}")
            time.sleep(0.1)

    def kill(self, place: int) -> None:
        """Kill one of them, and what it has forked, with SIGKILL."""
        process = self._processes.pop(place)
        if not process.is_alive():
            raise RuntimeError(f"A worker has ended by itself:\n{self.log[-4000:]}")
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()

    def kill_child(self, place: int, chance: Random) -> None:
        """Kill one of the processes that a worker has forked, with SIGKILL; without any, the worker."""
        worker = self._processes[place].pid
        children = [pid for pid in process_ids() if parent_of(pid) == worker]
        if children:
            os.kill(chance.choice(children), signal.SIGKILL)
        else:
            self.kill(place)

    def stop(self) -> None:
        """Let all finish what they do and leave."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(STOP_SECONDS)
            if process.is_alive():
                raise RuntimeError(f"A worker does not stop. Its stacks:\n{self._stacks(process)}")
        self._processes.clear()

    def _stacks(self, process: BaseProcess) -> str:
        """Return what a worker and all it has forked are doing."""
        said = len(self.log)
        os.killpg(process.pid or 0, signal.SIGUSR2)
        time.sleep(1)
        return self.log[said:]

    def clean_up(self) -> None:
        """Kill all that are left."""
        while self._processes:
            os.killpg(self._processes.pop().pid or 0, signal.SIGKILL)

    @property
    def log(self) -> str:
        """All they have said so far."""
        return self._log.read_text(errors="replace")

    def count(self, text: str) -> int:
        """Return how often they have said a text."""
        return self.log.count(text)
