"""What is measured, along the lengths of one growing session."""

from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

import tiktoken
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks.conversations import MODEL, Length, turns
from benchmarks.packages import timed
from benchmarks.sessions import GrowingSession, new_session
from benchmarks.timing import Row, seconds
from sessions_app.models import Session
from sessions_app.services.prompts import session_plan, session_prompt
from sessions_app.services.replays import replay_session

QUERY = "When will it arrive?"
KEPT_RUNS = 50
GRIPTAPE_RUNS = (100, 1_000, 3_000)
LONGEST_GRIPTAPE_SECONDS = 30.0
CHUK_RUNS = (500, 5_000, 50_000)
CHUK_STRATEGIES = ("minimal", "task", "tool", "conversation", "hierarchical")
SHORT, PREVIEWED, LONG = 1_000, 10_000, 100_000
PREVIEW_GOAL = 0.1
BUFFER = {"strategy": "buffer", "model": MODEL}


def rows() -> Iterator[Row]:
    """Measure at each length what is asked there."""
    growing = new_session("long")
    griptape = Griptape()
    for length in sorted({*GRIPTAPE_RUNS, *CHUK_RUNS, PREVIEWED, LONG}):
        session = growing.grow(length)
        if length in GRIPTAPE_RUNS:
            yield griptape.row(growing)
        if length in CHUK_RUNS:
            yield from chuk_rows(growing)
        if length == PREVIEWED:
            yield from replay_rows(growing)
            yield from preview_rows(session, new_session("hundred").grow(100))
        if length == LONG:
            yield from growth_rows(session, new_session("short").grow(SHORT))


class Griptape:
    """Its time grows with the square of the length; beyond a minute it is worked out from the length before."""

    def __init__(self) -> None:
        self._length, self._seconds = 0, 0.0

    def row(self, growing: GrowingSession) -> Row:
        """Compare building a prompt in which fifty runs fit."""
        length, budget = growing.session.last_position, budget_for(growing.session, format="text")
        ours = build_seconds(growing.session, BUFFER | {"format": "text", "max_input_tokens": budget})
        theirs, note = self._measured(length, budget)
        note += f"writing a run: ours {growing.write_seconds * 1000:.2g} ms into the database"
        return Row(f"Griptape 1.8.13, add_to_prompt_stack, {length:,} runs, {KEPT_RUNS} fit", ours, theirs, note)

    def _measured(self, length: int, budget: int) -> tuple[float, str]:
        foreseen = self._seconds * (length / self._length) ** 2 if self._length else 0.0
        if foreseen > LONGEST_GRIPTAPE_SECONDS:
            return foreseen, f"theirs extrapolated from {self._length:,} runs by the square; "
        # Its prompt has to leave one token of the limit free.
        asked: dict[str, Any] = {"turns": turns(length), "query": QUERY, "model": MODEL, "limit": budget + 1}
        answer = timed("griptape_peer.py", **asked, rounds=3 if foreseen < 1 else 1)
        if answer["kept"] != KEPT_RUNS:
            raise RuntimeError(f"Griptape keeps {answer['kept']} runs, not {KEPT_RUNS}")
        self._length, self._seconds = length, answer["seconds"]
        return answer["seconds"], f"theirs writes a run in {answer['write'] * 1000:.2g} ms into memory; "


def chuk_rows(growing: GrowingSession) -> Iterator[Row]:
    """Compare the five strategies in the format of the package."""
    length = growing.session.last_position
    answer = timed("chuk_peer.py", turns=turns(length), model=MODEL, strategies=CHUK_STRATEGIES)
    for strategy in CHUK_STRATEGIES:
        ours = build_seconds(growing.session, {"strategy": strategy, "format": "seed", "model": MODEL}, query=None)
        note = f"writing a run: ours {growing.write_seconds * 1000:.2g} ms, theirs {answer['write'] * 1000:.2g} ms"
        name = f"chuk-ai-session-manager 0.1.1, {strategy}, {2 * length:,} events"
        yield Row(name, ours, answer["seconds"][strategy], note if strategy == CHUK_STRATEGIES[0] else "")


def growth_rows(long: Session, short: Session) -> Iterator[Row]:
    """Compare a long session with a short one under the same budget, in which fifty runs of both fit."""
    overrides = BUFFER | {"max_input_tokens": budget_for(long, format="openai")}
    for name, work in (("prompt", session_prompt), ("plan", session_plan)):
        works = [partial(work, session=each, overrides=overrides, query=QUERY) for each in (long, short)]
        ours, theirs = seconds(*works)
        yield Row(f"{name} of {LONG:,} runs against one of {SHORT:,}, one budget", ours, theirs, at_most=1.2)


def replay_rows(short: GrowingSession) -> Iterator[Row]:
    """Compare replaying a whole conversation under two settings with counting its texts once, and nothing else."""
    real = new_session("real", Length.LONG)
    real.grow(short.session.last_position)
    yield replay_row(real, at_most=1)
    yield replay_row(short)


def replay_row(growing: GrowingSession, at_most: float | None = None) -> Row:
    """Compare one conversation."""
    session, encoding = growing.session, tiktoken.get_encoding("o200k_base")
    texts = [text for pair in turns(session.last_position, growing.length) for text in pair]
    per_turn = session.tokens_o200k // session.last_position
    under: dict[str, dict[str, Any]] = {
        "/a": BUFFER | {"max_input_tokens": budget_for(session, format="openai")},
        "/b": {"strategy": "summary", "model": MODEL, "max_input_tokens": 4_000},
    }
    ours, theirs = seconds(
        partial(replay_session, session=session, settings=under, now=timezone.now()),
        lambda: [len(encoding.encode_ordinary(text)) for text in texts],
    )
    name = f"replay of {session.last_position:,} turns of {per_turn} tokens, two settings, against tokenizing them once"
    return Row(name, ours, theirs, at_most=at_most)


def preview_rows(long: Session, short: Session) -> Iterator[Row]:
    """Compare what the server needs to answer a slider's move on the tune page: with a short session, with nothing."""
    browser = Client(headers={"HX-Request": "true", "HX-Target": "result"}, SERVER_NAME="localhost")
    user = get_user_model().objects.create_superuser("bench")
    browser.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[-1])

    def move(session: Session) -> None:
        path = reverse("tune", args=[session.project.slug, session.public_id])
        _answered(browser.get(path, {"max_input_tokens": "4000", "strategy": "buffer"}))

    def nothing() -> None:
        _answered(browser.get("/api/v1/health/live"))

    ours, theirs, floor = seconds(partial(move, long), partial(move, short), nothing)
    yield Row(f"preview after a slider's move, {PREVIEWED:,} runs against 100", ours, theirs, at_most=1.5)
    goal = f"the goal of {PREVIEW_GOAL * 1000:g} ms is {'met' if ours <= PREVIEW_GOAL else 'not met'}"
    yield Row(f"the same against an answer that needs nothing, {PREVIEWED:,} runs", ours, floor, goal)


def _answered(answer: Any) -> None:
    if answer.status_code != HTTPStatus.OK:
        raise RuntimeError(f"The server answers {answer.status_code}")


def budget_for(session: Session, **overrides: Any) -> int:
    """Return the tokens that a prompt with the newest fifty runs needs."""
    prompt = session_prompt(session=session, overrides=BUFFER | {"last_n": KEPT_RUNS} | overrides, query=QUERY)
    return prompt.tokens.total


def build_seconds(session: Session, overrides: dict[str, Any], *, query: str | None = QUERY) -> float:
    """Return what building a prompt takes, the session and all that it needs read from the database."""
    return seconds(partial(session_prompt, session=session, overrides=overrides, query=query))[0]
