"""The measurement of what summaries keep: that its conversations are what it says, and that it counts right."""

import json
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from benchmarks.planted_facts.__main__ import BASELINE, OURS, promise_holds
from benchmarks.planted_facts.conversations import PLANTED_WITHIN, TURNS, Conversation, Planted, conversations
from benchmarks.planted_facts.drawing import drawing
from benchmarks.planted_facts.first_sentences import first_sentence
from benchmarks.planted_facts.first_sentences import summarize as first_sentences
from benchmarks.planted_facts.rolling import SETTINGS, steps_of, texts_after
from benchmarks.planted_facts.scripts import Fact, Kind, Speaker
from benchmarks.planted_facts.survival import STEPS, Fate, curve, fates, table
from sessions_app.domain.in_memory import InMemoryTranscript
from sessions_app.domain.summaries import SummaryRequest

RED = Fact(Kind.DECISION, "We decided against red.", ("against", "red"))


@pytest.fixture(scope="module")
def made():
    return list(conversations())


@pytest.fixture(scope="module")
def transcript(made):
    return InMemoryTranscript.of_messages(made[0].messages)


def said(message):
    """All that a message says, arguments of calls too."""
    calls = message.get("tool_calls", ())
    return " ".join([message["content"] or "", *(call["function"]["arguments"] for call in calls)])


def test_forty_conversations_are_made_and_ten_are_not_in_english(made):
    assert len({each.name for each in made}) == len(made) == 40
    assert Counter(each.language for each in made) == {"en": 30, "de": 2, "es": 2, "fr": 2, "zh": 2, "ja": 2}


def test_they_are_the_same_each_time(made):
    assert list(conversations()) == made


def test_each_holds_one_fact_of_each_kind(made):
    for each in made:
        assert {planted.fact.kind for planted in each.planted} == set(Kind)
        assert len(each.planted) == len(Kind)


def test_each_fact_is_said_once_by_whom_it_names_in_one_of_the_first_turns(made):
    roles = {Speaker.USER: "user", Speaker.ASSISTANT: "assistant", Speaker.TOOL: "tool"}
    for each in made:
        for planted in each.planted:
            telling = [message for message in each.messages if planted.fact.says in said(message)]
            assert [message["role"] for message in telling] == [roles[planted.fact.by]], planted
            before = each.messages[: each.messages.index(telling[0]) + 1]
            assert sum(message["role"] == "user" for message in before) == planted.turn <= PLANTED_WITHIN


def test_each_key_has_words_that_are_nowhere_else_in_the_conversation(made):
    for each in made:
        text = " ".join(" ".join(map(said, each.messages)).casefold().split())
        for planted in each.planted:
            assert min(text.count(words.casefold()) for words in planted.fact.key) == 1, (each.name, planted.fact.key)


def test_each_key_is_in_what_is_said(made):
    for each in made:
        assert all(planted.fact.is_in(planted.fact.says) for planted in each.planted)


def test_facts_stand_at_the_beginning_in_the_middle_and_at_the_end_of_messages(made):
    places: Counter[str] = Counter()
    for each in made:
        for planted in each.planted:
            if planted.fact.by is Speaker.USER:
                text = next(said(message) for message in each.messages if planted.fact.says in said(message))
                before, after = text.split(planted.fact.says)
                places["beginning" if not before else "middle" if after else "end"] += 1

    assert min(places[place] for place in ("beginning", "middle", "end")) > 20


def test_every_slot_is_filled(made):
    for each in made:
        assert not [message for message in each.messages if "<" in said(message)]


def test_tool_results_are_json(made):
    results = [message["content"] for each in made for message in each.messages if message["role"] == "tool"]
    assert all(isinstance(json.loads(result), dict) for result in results)


def test_a_fact_is_found_in_any_case_and_order_but_only_whole():
    assert RED.is_in("Red is what they are AGAINST")
    assert not RED.is_in("They are against it")


def test_a_key_may_be_broken_over_lines():
    assert Fact(Kind.NAME, "", ("knee brace",)).is_in("a knee\n  brace")


def test_steps_take_each_run_once_in_order_and_several_at_a_time(transcript):
    steps = list(steps_of(transcript))
    taken = [run.position for runs in steps for run in runs]
    assert taken == list(range(1, len(taken) + 1))
    assert len(taken) <= TURNS - SETTINGS.offset
    assert min(map(len, steps)) > 1
    assert len(steps) > STEPS


def test_each_step_is_given_the_text_of_the_one_before(transcript):
    steps = list(steps_of(transcript))[:3]

    def count(request):
        return f"{request.previous} {len(request.runs)}"

    assert list(texts_after(steps, count))[-1].split() == [str(len(runs)) for runs in steps]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Hello. I have 3.5 apples.", "Hello."),
        ("no full stop\nnext line", "no full stop"),
        ("\u4f60\u597d\u3002\u6211\u6765\u4e86\u3002", "\u4f60\u597d\u3002"),
        ("", ""),
    ],
)
def test_the_first_sentence_ends_with_a_full_stop_or_a_line(text, first):
    assert first_sentence(text) == first


def test_the_baseline_keeps_what_it_had_and_adds_first_sentences_while_there_is_room():
    runs = InMemoryTranscript.of_messages(
        [
            {"role": "user", "content": "One two. Three."},
            {"role": "assistant", "content": "Four five six seven eight. Nine."},
            {"role": "user", "content": "Ten."},
        ]
    ).runs
    request = SummaryRequest("Zero.", tuple(runs), max_tokens=4, count_tokens=lambda text: len(text.split()))

    assert first_sentences(request) == "Zero.\nOne two.\nTen."


def test_a_fact_counts_from_the_step_that_takes_it_on(made):
    name, messages = made[0].name, made[0].messages
    sizes = [len(runs) for runs in steps_of(InMemoryTranscript.of_messages(messages))]
    late = Conversation(name, "de", messages, [Planted(RED, sizes[0] + 1)])

    def forgets_after_three_steps(request):
        age = int(request.previous.split()[-1]) + 1 if request.previous else 1
        return f"{'against red' if 2 <= age < 5 else 'nothing'} {age}"

    found = list(fates([late], {"ours": forgets_after_three_steps}))

    assert curve(found, "ours") == [1.0] * 3 + [0.0] * (STEPS - 3)
    assert (
        next(line for line in table([*found], ["ours"]) if line.startswith("| all"))
        == "| all | 1 | 100 % | 0 % | 0 % |"
    )


@pytest.mark.parametrize(
    ("ours", "baseline", "holds"),
    [
        ([10] * 19 + [8], [7] * 20, True),
        ([10] * 19 + [7], [6] * 20, False),
        ([9, *[10] * 19], [9] * 20, False),
    ],
)
def test_the_promise_is_to_be_ahead_after_every_step_and_to_keep_four_fifths_to_the_end(ours, baseline, holds):
    kept = [{OURS: [n < each for each in ours], BASELINE: [n < each for each in baseline]} for n in range(10)]
    assert promise_holds([Fate(RED, "en", each) for each in kept]) is holds


def test_the_picture_is_an_svg_that_names_both_curves_and_their_ends():
    picture = ET.fromstring(drawing("Kept", {"ours": [1.0, 0.9, 0.8], "theirs": [0.3, 0.2, 0.1]}, (1, 3)))
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert {"ours 80 %", "theirs 10 %", "100 %", "30 %"} <= set(texts)
