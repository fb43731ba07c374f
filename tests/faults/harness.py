"""The course of a run: an installation, people at work, workers killed again and again, a judgement after each."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import django
from django.core.management import call_command

django.setup()

from sessions_app.models import Project, ProjectSummarizer  # noqa: E402 (models need the setup)
from sessions_app.services.keys import create_api_key  # noqa: E402
from tests.faults.brokers import left_overs, wait_until_empty  # noqa: E402
from tests.faults.endpoint import REQUEST_TEMPLATE, Endpoint  # noqa: E402
from tests.faults.invariants import Judge, not_summarized, unsettled  # noqa: E402
from tests.faults.people import People  # noqa: E402
from tests.faults.prompts import prompt_faults  # noqa: E402
from tests.faults.report import Report  # noqa: E402
from tests.faults.rows import Rows, SessionRow, read_rows  # noqa: E402
from tests.faults.workers import Workers  # noqa: E402

DEFAULTS = {"strategy": "summary", "summarize_at": 0, "offset": 3, "max_summary_tokens": 4000}
LONGEST_LIFE = 2.0
PATIENCE_SECONDS = 180
STARTING_KILLS = 0.1


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run: `failing` is the share of the endpoint's answers that are failures."""

    kills: int
    sessions: int
    seed: str
    workers: int
    options: tuple[str, ...]
    failing: float
    turns: int


class Harness:
    """One run. `people`, `endpoint` and `workers` are the three that make trouble."""

    def __init__(self, plan: Plan, endpoint: Endpoint) -> None:
        self.plan, self.endpoint = plan, endpoint
        self.report = Report()
        self._chance = Random(f"{plan.seed} kills")
        self._seen: dict[int, object] = {}
        folder = Path(os.environ["CONVOWEB_DATA_DIR"])
        self.workers = Workers(plan.workers, list(plan.options), folder / "workers.log")
        self.people = People(key=_installed(), seed=plan.seed, sessions=plan.sessions)
        self.judge = Judge(endpoint.calls, self.people.edits)

    def run(self) -> Report:
        """Go through all of it."""
        began = time.monotonic()
        try:
            self._run()
        finally:
            self.workers.clean_up()
        self._tell(time.monotonic() - began)
        return self.report

    def _run(self) -> None:
        self.people.settle_in()
        self.workers.start()
        self.workers.wait_until_ready()
        self.people.start()
        if self.plan.kills:
            self._kill_again_and_again()
        else:
            self.people.crowd(self.plan.turns)
        self.people.stop()
        self.endpoint.failing = 0
        self._settle("after the last kill")
        self.people.wake_all()
        rows = self._settle("after all was woken")
        self.report.faults += not_summarized(rows, DEFAULTS)
        wait_until_empty()
        self.workers.stop()
        self.report.faults += [f"left behind: {what}" for what in left_overs()]

    def _kill_again_and_again(self) -> None:
        for number in range(1, self.plan.kills + 1):
            if self._chance.random() > STARTING_KILLS:
                self.workers.wait_until_ready()
            time.sleep(self._chance.uniform(0, LONGEST_LIFE))
            with self.people.quiet:
                self._kill(self._chance.randrange(self.plan.workers))
                rows = self._check(f"kill {number}")
            self.report.counts["kills"] += 1
            self.report.counts["kills at work"] += any(e.status == "running" for e in rows.entries)
            self.workers.start()
            if number % 10 == 0:
                print(f"{number} of {self.plan.kills} kills, {len(self.report.faults)} faults", flush=True)

    def _kill(self, place: int) -> None:
        if self._chance.random() < 0.5:
            self.workers.kill(place)
        else:
            self.workers.kill_child(place, self._chance)

    def _settle(self, when: str) -> Rows:
        """Wait until nothing is left to do, and judge what has come of it."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (waiting := unsettled(rows := read_rows())) and time.monotonic() < end:
            time.sleep(0.2)
        self.report.faults += [f"{when}: {each}" for each in waiting]
        self._check(when)
        return rows

    def _check(self, when: str) -> Rows:
        rows = read_rows()
        found = list(self.judge.faults(rows))
        for session in rows.sessions:
            state = _state(rows, session)
            if self._seen.get(session.id) != state:
                self._seen[session.id] = state
                self.report.counts["prompts"] += 1
                found += prompt_faults(rows, session, self._prompt)
        self.report.counts["judgements"] += 1
        self.report.faults += [f"{when}: {fault}" for fault in found]
        return rows

    def _prompt(self, name: str, settings: Any) -> Any:
        return self.people.call("prompt", "POST", f"/sessions/{name}/prompt", {"settings": settings})

    def _tell(self, seconds: float) -> None:
        report = self.report
        report.faults += self.people.faults
        report.tell_kills()
        report.tell_requests(self.people.answers, self.endpoint.answers)
        report.tell_rows(read_rows())
        sweeps, tasks = self.workers.count("sweep began"), self.workers.count("summarize began")
        report.lines += [
            f"workers: {sweeps} sweeps, {tasks} tasks of summarizing",
            f"seed {self.plan.seed}, {seconds:,.0f} s",
            f"faults: {len(report.faults)}",
        ]


def run(plan: Plan, endpoint: Endpoint) -> Report:
    """Run a plan against an endpoint that is started already."""
    return Harness(plan, endpoint).run()


def _installed() -> str:
    """Prepare the database, and a project whose summarizer is the scripted endpoint; return a key to it."""
    call_command("migrate", verbosity=0)
    project = Project.objects.create(slug="faults", name="Faults", settings=DEFAULTS)
    ProjectSummarizer.objects.create(
        project=project,
        name="openai",
        endpoint="scripted",
        model="scripted",
        timeout_seconds=2,
        context_window=12_000,
        request_template=REQUEST_TEMPLATE,
    )
    return create_api_key(project=project, name="people", scopes=["read", "write", "admin"])[1]


def _state(rows: Rows, session: SessionRow) -> object:
    return session.summary, session.settings, [(run.mark, run.status) for run in rows.lineage(session)]
