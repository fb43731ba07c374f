"""The property run: random conversations, random requests, each answer judged and counted."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count, product
from random import Random
from typing import Any

from tests.properties.conversations import conversation
from tests.properties.engine import Engine, engine_over, in_memory, remembered_counts
from tests.properties.features import features_of, run_features
from tests.properties.judge import faults
from tests.properties.requests import FORMATS, STRATEGIES, request, with_cut
from tests.properties.tally import Tally

Plain = dict[str, Any]
REQUESTS = 8
CUTS = 3
CELLS = list(product(STRATEGIES, FORMATS))


def over_memory(given: Mapping[str, Any]) -> Engine:
    """Return the engine over a conversation that is all in memory."""
    return engine_over(in_memory(given))


def run(seed: str, prompts: int, engine_of: Callable[[Mapping[str, Any]], Engine] = over_memory) -> Tally:
    """Build and judge so many prompts; the same seed gives the same."""
    tally, numbers = Tally(), count()
    with remembered_counts():
        while tally.built < prompts:
            _judge_conversation(tally, seed, next(numbers), engine_of)
    return tally


def _judge_conversation(tally: Tally, seed: str, number: int, engine_of: Callable[[Mapping[str, Any]], Engine]) -> None:
    chance = Random(f"{seed} {number}")
    given = conversation(chance)
    engine, features = engine_of(given), features_of(given)
    by_run = [run_features(each) for each in given["runs"]]
    for turn in range(REQUESTS):
        cell = CELLS[(number * REQUESTS + turn) % len(CELLS)]
        for place, asked in enumerate(_requests(chance, given, cell, engine)):
            answer = _answered(engine, asked)
            tally.add(asked, answer, features, _sent(given, answer, by_run))
            where = f"seed {seed!r}, conversation {number}, request {turn}.{place}, {asked['settings']}"
            tally.blame(judged(given, asked, answer, engine), where)


def _requests(chance: Random, given: Mapping[str, Any], cell: tuple[str, str], engine: Engine) -> Iterator[Plain]:
    """Yield a request with all the room there is, then under limits that should end inside the history."""
    asked = request(chance, given, *cell)
    yield asked
    answer = _answered(engine, asked)
    if not answer["refusal"]:
        yield from (with_cut(chance, asked, answer) for _ in range(CUTS))


def _answered(engine: Engine, asked: Mapping[str, Any]) -> Plain:
    try:
        return engine(asked)
    # The tokenizer panics past Exception.
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"refusal": f"exception {type(error).__name__}", "detail": str(error), "pointers": [], "needs": {}}


def judged(given: Mapping[str, Any], asked: Mapping[str, Any], answer: Mapping[str, Any], engine: Engine) -> list[str]:
    """Return what is wrong with an answer, an exception among it."""
    if answer["refusal"] and answer["refusal"].startswith("exception"):
        return [f"exception: {answer['refusal']}: {answer['detail'][:200]}"]
    try:
        return faults(given, asked, answer, engine)
    # What the judge asks the engine again may fail, and what it is answered may be past judging.
    except Exception as error:  # noqa: BLE001
        return [f"exception: {error!r} while judging"]


def _sent(given: Mapping[str, Any], answer: Mapping[str, Any], by_run: list[set[str]]) -> set[str]:
    """Return the features of what is sent."""
    kept = [each for each in answer.get("fates", ()) if each["fate"] == "kept"]
    positions = [position for each in kept for position in range(each["first"], each["last"] + 1)]
    found = set[str]().union(*(by_run[position - 1] for position in positions))
    found |= {"summaries"} if answer.get("covers_through") else set()
    return found | ({"forks"} if any(position <= (given["shared"] or 0) for position in positions) else set())
