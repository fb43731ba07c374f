"""The model endpoint of the harness: its summaries name the runs it was given, and it fails in every way there is."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from sessions_app.domain.summarizers.openai import NO_SUMMARY
from tests.faults.marks import marks_in
from tests.scripted_endpoint import TEN_MEGABYTES, Answer, Asked, Half, Nothing, Raw, ScriptedEndpoint, Status, Text

BEFORE, NEW = "Before:\n", "\nNew:\n"
REQUEST_TEMPLATE = f"{BEFORE}{{summary}}{NEW}{{runs}}"
SLOWEST_SECONDS = 0.6
FAILURES: dict[str, Answer] = {
    "500": Status(500),
    "503": Status(503, retry_after="soon"),
    "429 with Retry-After": Status(429, retry_after=1),
    "an empty text": Text(" \n"),
    "no text": Text(None),
    "10 MB": TEN_MEGABYTES,
    "half a response": Half(),
    "no JSON": Raw(b"<html>Bad gateway</html>", "text/html"),
    "a closed connection": Nothing(closes=True),
    "nothing at all": Nothing(),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was answered with a summary: the text before, the marks of the runs given with it, and the answer."""

    previous: str
    given: tuple[str, ...]
    text: str


@dataclass
class Endpoint:
    """Answers by chance; `calls` are its summaries by their text, `answers` counts what it gave by kind."""

    seed: str
    failing: float
    slowest: float = SLOWEST_SECONDS
    calls: dict[str, Call] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._chance = Random(f"{self.seed} endpoint")
        self._lock = threading.Lock()
        self.server = ScriptedEndpoint(otherwise=self._answer)

    def _answer(self, asked: Asked) -> Answer:
        with self._lock:
            fails = self._chance.random() < self.failing
            kind = self._chance.choice(list(FAILURES)) if fails else "a summary"
            self.answers[kind] += 1
            return FAILURES[kind] if fails else self._summary(asked)

    def _summary(self, asked: Asked) -> Text:
        before, _, new = asked.text.removeprefix(BEFORE).partition(NEW)
        given = tuple(marks_in(new))
        text = f"Call {sum(self.answers.values())}: {' '.join([*marks_in(before), *given])}"
        self.calls[text] = Call("" if before == NO_SUMMARY else before.strip(), given, text)
        return Text(text, usage=(100, 10), after=self._chance.uniform(0, self.slowest))
