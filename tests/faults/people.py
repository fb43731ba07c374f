"""What people and bots do over the API while the workers are killed: all that a ledger of summaries has to bear."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from random import Random
from typing import Any

from django.db import connections
from django.test import Client

from tests.faults.marks import mark, marks_in

REFUSALS = (404, 409, 422)
LONGEST_SESSION = 60
LONGEST_PAUSE = 0.25
# Each replaces all that stood there before; null is the project's.
KINDS_OF_SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"offset": 0},
    {"offset": 8},
    {"summarize_at": 0.6, "summarize_to": 0.3, "max_input_tokens": 6000},
    {"summarize_at": 0.75, "max_runs": 10},
    {"strategy": "buffer"},
)
NAMES = sorted({name for kind in KINDS_OF_SETTINGS for name in kind})


class People:
    """Acts at random, in a thread of its own; `edits` are the texts they wrote, with the text each was written over.

    `answers` counts what was asked by its status. Whoever holds `quiet` knows that nobody acts meanwhile.
    """

    def __init__(self, *, key: str, seed: str, sessions: int) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.edits: dict[str, str] = {}
        self.faults: list[str] = []
        self.quiet = threading.Lock()
        self.names: list[str] = []
        self._lengths: dict[str, int] = {}
        self._open: dict[str, str] = {}
        self._wanted = sessions
        self._chance = Random(f"{seed} people")
        self._numbers = count(1)
        self._headers = {"Authorization": f"Bearer {key}"}
        self._counting = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._live, name="people", daemon=True)
        self._actions: dict[Callable[[], None], float] = {
            self.append: 12,
            self.finish: 3,
            self.summarize_now: 2,
            self.cancel: 1,
            self.retry: 1,
            self.edit: 1,
            self.roll_back: 0.7,
            self.resume: 1.5,
            self.change_settings: 1,
            self.delete: 0.4,
        }

    def settle_in(self) -> None:
        """Create the sessions, some as forks and children of others, and the first runs of each."""
        while len(self.names) < self._wanted:
            self.create()

    def start(self) -> None:
        """Begin to act."""
        self._thread.start()

    def stop(self) -> None:
        """Act no more."""
        self._stopping.set()
        self._thread.join()

    def _live(self) -> None:
        while not self._stopping.wait(self._chance.uniform(0, LONGEST_PAUSE)):
            with self.quiet:
                self.settle_in()
                (act,) = self._chance.choices(list(self._actions), list(self._actions.values()))
                act()
        connections.close_all()

    def call(self, what: str, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Ask the API; return its answer, or None if it was refused. Whatever is neither is a fault."""
        data = b"" if body is None else json.dumps(body).encode()
        client = Client(raise_request_exception=False, SERVER_NAME="localhost")
        answer = client.generic(method, f"/api/v1{path}", data, content_type="application/json", headers=self._headers)
        with self._counting:
            self.answers[what, answer.status_code] += 1
        if answer.status_code in REFUSALS:
            return None
        if answer.status_code >= 300:
            self.faults.append(f"{method} {path} was answered {answer.status_code}: {answer.content[:300]!r}")
            return None
        return answer.json() if answer.content else {}

    def crowd(self, turns: int) -> None:
        """Let a bot for each session append to it, all at the same time, so many runs."""
        with ThreadPoolExecutor(len(self.names)) as pool:
            list(pool.map(self._append_again_and_again, list(self.names), [turns] * len(self.names)))

    def _append_again_and_again(self, name: str, turns: int) -> None:
        for _ in range(turns):
            self.call("append at once", "POST", f"/sessions/{name}/runs", self._run(name))
        connections.close_all()

    def create(self) -> None:
        """Create a root, a fork or a child."""
        name = f"s{next(self._numbers)}"
        parent = self._chance.choice([None, None, *self._chance.sample(self.names, min(2, len(self.names)))])
        made = None
        if parent is None:
            made = self.call("create", "POST", "/sessions", {"id": name, "settings": self._settings()})
        elif self._chance.random() < 0.7:
            at = self._chance.randint(0, self._lengths[parent])
            made = self.call("fork", "POST", f"/sessions/{parent}/fork", {"id": name, "at": at})
        else:
            settings = self._settings() | {"include_parent_context": True}
            made = self.call("child", "POST", "/sessions", {"id": name, "parent_id": parent, "settings": settings})
        if made:
            self.names.append(name)
            self._lengths[name] = made["run_count"]
            self._append_to(name, self._chance.randint(1, 15))

    def append(self) -> None:
        """Append one run, open or not, or several."""
        short = [name for name in self.names if self._lengths[name] < LONGEST_SESSION]
        if short:
            self._append_to(self._chance.choice(short), self._chance.choice([1, 1, 1, 1, 4]))

    def finish(self) -> None:
        """End an open run in one of the ways a run ends."""
        if self._open:
            run = self._open.pop(self._chance.choice(list(self._open)))
            changes = [{"output": "Done, at last."}, {"error": "The model failed."}, {"status": "cancelled"}]
            self.call("finish", "PATCH", f"/runs/{run}", self._chance.choice(changes))

    def summarize_now(self) -> None:
        """Ask for a summary."""
        self.call("summarize now", "POST", f"/sessions/{self._anybody()}/summaries")

    def cancel(self) -> None:
        """Stop an entry that waits or runs."""
        for entry in self._entries("pending", "running"):
            self.call("cancel", "POST", f"/summaries/{entry['id']}/cancel")

    def retry(self) -> None:
        """Try a failed entry again."""
        for entry in self._entries("failed", "cancelled")[:1]:
            self.call("retry", "POST", f"/summaries/{entry['id']}/retry")

    def edit(self) -> None:
        """Write another text over that of the entry in use, which names the same runs."""
        for entry in [entry for entry in self._entries("completed") if entry["in_use"]][:1]:
            text = f"Edit {len(self.edits)}: {' '.join(marks_in(entry['text']))}"
            self.edits[text] = entry["text"]
            self.call("edit", "PUT", f"/summaries/{entry['id']}/text", {"text": text})

    def roll_back(self) -> None:
        """Go back to an earlier entry, or to one that was rolled back."""
        name = self._anybody()
        entries = self._entries("completed", of=name)
        if entries:
            to = self._chance.choice(entries)["id"]
            self.call("roll back", "POST", f"/sessions/{name}/summaries/rollback", {"to": to})

    def resume(self) -> None:
        """End a rest, if it is one."""
        self.call("resume", "POST", f"/sessions/{self._anybody()}/summaries/resume")

    def change_settings(self) -> None:
        """Put other settings in place of a session's."""
        settings = dict.fromkeys(NAMES) | self._settings()
        self.call("settings", "PATCH", f"/sessions/{self._anybody()}", {"settings": settings})

    def delete(self) -> None:
        """Delete a session, or with it all below."""
        name, children = self._anybody(), self._chance.choice(["delete", "reparent", "refuse"])
        self.call("delete", "DELETE", f"/sessions/{name}?children={children}")
        self.names = [each for each in self.names if self.call("look", "GET", f"/sessions/{each}")]
        self._open = {each: run for each, run in self._open.items() if each in self.names}

    def wake_all(self) -> None:
        """Let nothing rest any more: neither since a rollback nor since a cancellation."""
        for name in self.names:
            self.call("resume", "POST", f"/sessions/{name}/summaries/resume")
            if self._entries("cancelled", of=name, newest=1):
                self.call("summarize now", "POST", f"/sessions/{name}/summaries")

    def _append_to(self, name: str, number: int) -> None:
        runs: list[dict[str, Any]] = [self._run(name) for _ in range(number)]
        if number > 1:
            made = self.call("append many", "POST", f"/sessions/{name}/runs/batch", {"runs": runs})
            self._lengths[name] += number if made else 0
            return
        if self._chance.random() < 0.2:
            runs[0] |= {"status": "running", "output": None}
        if made := self.call("append", "POST", f"/sessions/{name}/runs", runs[0]):
            self._lengths[name] = made["position"]
            if made["status"] == "running":
                self._open[name] = made["id"]

    def _run(self, name: str) -> dict[str, Any]:
        words = "and so on, as before, " * self._chance.choice([1, 2, 5, 100])
        return {"input": f"{mark(name, next(self._numbers))} What of this? {words}", "output": "It is done."}

    def _settings(self) -> dict[str, Any]:
        return self._chance.choice(KINDS_OF_SETTINGS)

    def _anybody(self) -> str:
        return self._chance.choice(self.names)

    def _entries(self, *states: str, of: str = "", newest: int = 10) -> list[dict[str, Any]]:
        ledger = self.call("look", "GET", f"/sessions/{of or self._anybody()}/summaries?limit={newest}")
        return [entry for entry in (ledger or {"items": []})["items"] if entry["status"] in states]
