"""The judgement sees what it is there for: every kind of broken row is planted once and found."""

from dataclasses import replace
from typing import Any

import pytest

from tests.faults.endpoint import Call
from tests.faults.invariants import Judge, not_summarized, unsettled
from tests.faults.marks import mark, marks_in
from tests.faults.prompts import prompt_faults
from tests.faults.rows import EntryRow, Rows, RunRow, SessionRow

DEFAULTS = {"strategy": "summary", "summarize_at": 0, "offset": 2}
MARKS = [mark("s1", number) for number in range(1, 8)]
FIRST = Call("", tuple(MARKS[:3]), f"Call 1: {' '.join(MARKS[:3])}")
SECOND = Call(FIRST.text, tuple(MARKS[3:5]), f"Call 2: {' '.join(MARKS[:5])}")
EDITED = f"Edit 0: {' '.join(MARKS[:5])}"


def entry(number, text="", **fields):
    known: dict[str, Any] = {
        "status": "completed",
        "origin": "summarizer",
        "predecessor": number - 1 or None,
        "attempts": 1,
    }
    known |= {"covers_through": len(marks_in(text)) or 5, "retired_at": None, "error": ""}
    return EntryRow(number, 1, number, text=text, **known | fields)


def rows(*entries, head=2, **session):
    runs = tuple(RunRow(1, n, "completed", 10, text) for n, text in enumerate(MARKS, 1))
    known: dict[str, Any] = {"settings": {}, "wanted_at": None, "next_attempt_at": None, "rests_since": None}
    return Rows((SessionRow(1, "s1", None, None, 7, head, **known | session),), runs, entries)


def sound():
    return rows(entry(1, FIRST.text), entry(2, SECOND.text))


def found(given, calls=(FIRST, SECOND)):
    return list(Judge({call.text: call for call in calls}, {EDITED: SECOND.text}).faults(given))


def test_sound_rows_have_no_fault():
    assert found(sound()) == []
    assert found(rows(*sound().entries, entry(3, EDITED, origin="edited"), head=3)) == []
    assert unsettled(sound()) == []
    assert list(not_summarized(sound(), DEFAULTS)) == []


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (rows(entry(1, FIRST.text), entry(2, SECOND.text, covers_through=6)), "covers"),
        (rows(entry(1, FIRST.text), entry(2, SECOND.text, covers_through=4)), "covers"),
        (rows(entry(1, FIRST.text), entry(2, SECOND.text, predecessor=None)), "the chain is [2]"),
        (rows(entry(1, FIRST.text), entry(2, SECOND.text), head=1), "the chain is [1]"),
        (rows(entry(1, FIRST.text), entry(2, SECOND.text, retired_at="now")), "the chain is [2, 1]"),
        (rows(entry(1, FIRST.text), entry(2, " ", covers_through=5)), "completed without a text"),
        (rows(entry(1, FIRST.text), entry(2, "Call 9: [s1.1]", covers_through=5)), "nobody wrote"),
        (rows(*sound().entries, entry(3, status="running"), entry(4, status="pending")), "2 unfinished entries"),
        (rows(entry(1, FIRST.text), entry(3, SECOND.text, predecessor=1), head=3), "numbered [1, 3]"),
        (replace(sound(), runs=sound().runs[:-1]), "last position is 7"),
    ],
)
def test_a_broken_row_is_found(broken, fault):
    assert any(fault in each for each in found(broken)), found(broken)


def test_a_run_that_was_given_twice_is_found():
    twice = Call(FIRST.text, tuple(MARKS[2:5]), SECOND.text)
    assert any("summarizers were given" in each for each in found(sound(), (FIRST, twice)))


def test_a_text_that_was_not_made_from_its_predecessor_is_found():
    anew = Call("", tuple(MARKS[:5]), SECOND.text)
    assert found(sound(), (FIRST, anew)) == ["s1: #2 was not made from its predecessor #1"]


def test_a_completed_entry_that_changes_is_found():
    judge = Judge({call.text: call for call in (FIRST, SECOND)}, {EDITED: SECOND.text})
    assert list(judge.faults(sound())) == []
    assert any("has changed since" in each for each in judge.faults(rows(entry(1, FIRST.text), entry(2, EDITED))))


def test_what_is_still_to_be_done_is_found():
    assert unsettled(rows(wanted_at="now", head=None)) == ["s1 waits"]
    assert unsettled(rows(next_attempt_at="soon", head=None)) == ["s1 waits"]
    assert unsettled(rows(entry(1, status="pending"), head=None)) == ["s1: #1 is pending"]


@pytest.mark.parametrize(
    ("chosen", "is_found"),
    [
        ({}, True),
        ({"offset": 4}, False),
        ({"strategy": "buffer"}, False),
        ({"summarize_at": 0.5}, False),
        ({"summarize_at": 0.5, "max_runs": 3}, True),
        ({"summarize_at": 0.5, "max_input_tokens": 60}, True),
        ({"summarize_at": 0.5, "max_input_tokens": 80}, False),
    ],
)
def test_runs_that_should_be_summarized_are_found(chosen, is_found):
    """Covered are 3 of 7 runs, so 4 wait word for word: 40 tokens."""
    given = rows(entry(1, FIRST.text), head=1, settings=chosen)
    assert bool(list(not_summarized(given, DEFAULTS))) == is_found


def answer(*texts, fates=((1, 5, "summarized"), (6, 7, "kept"))):
    system, *others = [{"role": role, "content": text} for role, text in zip(("system", "user"), texts, strict=True)]
    told = [{"first": first, "last": last, "fate": fate} for first, last, fate in fates]
    return {"messages": [system, *others], "fates": told}


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (answer(SECOND.text, " ".join(MARKS[5:])), None),
        (answer(SECOND.text, " ".join(MARKS[4:])), "[s1.5] 2 times"),
        (answer(FIRST.text, " ".join(MARKS[5:])), "[s1.4] 0 times"),
        (answer(SECOND.text, " ".join(MARKS[5:]), fates=((1, 5, "summarized"), (6, 6, "kept"))), "tells a fate of"),
        (answer(" ".join(MARKS[:6]), MARKS[6]), "word for word and tells of"),
        (None, "no prompt"),
    ],
)
def test_a_prompt_with_a_run_twice_or_nowhere_is_found(given, fault):
    faults = list(prompt_faults(sound(), sound().sessions[0], lambda name, settings: given))
    assert any(fault in each for each in faults) if fault else faults == []
