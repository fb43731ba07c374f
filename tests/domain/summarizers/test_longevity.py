"""What is said once is still known many steps later, whether it was said in the beginning or in the middle."""

import json
import random
from collections import defaultdict
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import tiktoken

from sessions_app.domain.openai_messages import conversation
from sessions_app.domain.summaries import SummaryRequest, accepted_text
from sessions_app.domain.summarizers.extractive import summarize
from sessions_app.domain.transcript import Role, Run
from tests.domain.summarizers.long_talk import FACTS, long_talk

REAL = Path(__file__).parents[4] / "shared" / "data" / "airline-support.jsonl"
STEPS, TURNS = 21, 9
ENCODING = tiktoken.get_encoding("o200k_base")


def count(text):
    return len(ENCODING.encode(text, disallowed_special=()))


def summaries(runs):
    """Return the summaries after each step of TURNS turns."""
    texts = [""]
    for first in range(0, len(runs), TURNS):
        request = SummaryRequest(texts[-1], tuple(runs[first : first + TURNS]), 512, count)
        texts.append(accepted_text(summarize(request), request))
        assert count(texts[-1]) <= 512
    return texts[1:]


def places(chance):
    """Return in which turns what is said: five facts in turns 2 to 7, the others later, but not in the last step."""
    turns = chance.sample(range(2, 8), 5) + chance.sample(range(10, TURNS * (STEPS - 1)), len(FACTS) - 5)
    return dict(zip(turns, chance.sample(FACTS, len(FACTS)), strict=True))


def shares_kept(talks):
    """Return which share of the facts is kept, by whether they were said early and after how many steps."""
    kept = defaultdict(list)
    for runs, facts in talks:
        for step, text in enumerate(summaries(runs), 1):
            for turn, (_, words) in facts.items():
                age = step - (turn - 1) // TURNS
                kept[turn < 8, age].append(all(word in text.lower() for word in words))
    return {key: sum(each) / len(each) for key, each in kept.items()}


def test_facts_of_the_beginning_and_later_ones_last():
    planned = [places(random.Random(seed)) for seed in range(4)]
    talks = [
        (long_talk({turn: said for turn, (said, _) in facts.items()}, turns=STEPS * TURNS, seed=seed), facts)
        for seed, facts in enumerate(planned)
    ]
    shares = shares_kept(talks)
    assert min(shares[True, age] for age in range(1, STEPS)) >= 0.9
    assert min(shares[False, age] for age in range(1, 6)) >= 0.9


def real_runs(facts, seed):
    """Return what was really said, one conversation after the other, without tools, with the facts in between."""
    lines = REAL.read_text().splitlines()
    random.Random(seed).shuffle(lines)
    said = (run for line in lines for run in conversation(json.loads(line)["messages"])[1])
    runs = []
    for position, run in enumerate(islice(said, STEPS * TURNS), 1):
        events = [replace(event, parent=None) for event in run.events if event.tool is None]
        asked = next(index for index, event in enumerate(events) if event.role is Role.USER)
        if position in facts:
            text = f"{events[asked].text} {facts[position][0]}"
            events[asked] = replace(events[asked], text=text, content=None)
        runs.append(Run(position, run.status, tuple(events)))
    return runs


@pytest.mark.skipif(not REAL.exists(), reason="airline-support.jsonl does not lie in ../shared/data")
def test_among_what_people_really_say_new_facts_get_in_and_stay_for_a_while():
    planned = [places(random.Random(seed)) for seed in range(4)]
    shares = shares_kept([(real_runs(facts, seed), facts) for seed, facts in enumerate(planned)])
    assert shares[True, 20] >= 0.9
    assert shares[False, 1] >= 0.8
    assert shares[False, 3] >= 0.5
    assert shares[False, 5] >= 0.4


def test_once_there_is_too_much_the_beginning_stands_apart():
    facts = places(random.Random(1))
    texts = summaries(long_talk({turn: said for turn, (said, _) in facts.items()}, turns=3 * TURNS, seed=1))
    assert [text.count("\n\n") for text in texts] == [0, 1, 1]
    beginning, since = texts[1].split("\n\n")
    assert count(beginning) < 0.7 * 512
    assert count(since) > 0.15 * 512
