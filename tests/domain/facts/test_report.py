"""The report of a summary tells what left the memory, step by step along the chain."""

import json

from sessions_app.domain.facts.report import KeptReport, from_stored, kept, to_stored
from sessions_app.domain.facts.values import FactState
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus


def turn(position, said):
    return Run(position, RunStatus.COMPLETED, (Event(EventKind.MESSAGE, said, Role.USER),))


def rows(report):
    return [(row.state.label, row.fact.text, row.fact.position) for row in report.rows]


def chain():
    first = kept(
        previous=None,
        runs=[turn(1, "My mother wears a knee brace."), turn(2, "We fly HX 412, four travelers. I own a Volvo.")],
        text="Mother has a knee brace. Four travelers, flight HX 412.",
    )
    second = kept(
        previous=first,
        runs=[turn(3, "The seat fees are 96 EUR."), turn(4, "HX 412 is fine. I am allergic to nuts.")],
        text="4 travelers on HX412, seat fees €96.",
    )
    return first, second


def test_it_tells_what_is_kept_what_is_new_what_is_gone_and_what_never_got_in():
    first, second = chain()
    assert rows(first) == [
        ("never in", "I own a Volvo", 2),
        ("kept, new", "My mother wears a knee brace", 1),
        ("kept, new", "fly HX 412", 2),
        ("kept, new", "four travelers", 2),
    ]
    assert rows(second) == [
        ("gone", "My mother wears a knee brace", 1),
        ("never in", "I am allergic to nuts", 4),
        ("kept", "fly HX 412", 2),
        ("kept", "four travelers", 2),
        ("kept, new", "seat fees are 96 EUR", 3),
    ]


def test_it_counts():
    _, second = chain()
    assert (second.kept, second.new, second.gone, second.missed) == (3, 1, 1, 1)


def test_what_is_gone_is_not_asked_for_again_but_may_be_said_anew():
    _, second = chain()
    third = kept(previous=second, runs=[turn(9, "My mother wears a knee brace.")], text="A knee brace for the mother.")
    assert rows(third) == [
        ("gone", "fly HX 412", 2),
        ("gone", "four travelers", 2),
        ("gone", "seat fees are 96 EUR", 3),
        ("kept, new", "My mother wears a knee brace", 9),
    ]


def test_a_person_s_edit_covers_no_new_runs():
    first, _ = chain()
    edited = kept(previous=first, runs=(), text="Four travelers, flight HX 412.")
    assert rows(edited) == [
        ("gone", "My mother wears a knee brace", 1),
        ("kept", "fly HX 412", 2),
        ("kept", "four travelers", 2),
    ]


def test_a_report_comes_back_from_json_as_it_was_stored():
    for report in (*chain(), KeptReport()):
        assert from_stored(json.loads(json.dumps(to_stored(report)))) == report
    assert from_stored(None) is None


def test_it_lists_200_facts_at_most_and_counts_the_others():
    runs = [turn(position, f"My code is QX{position:04}. I take train ZX{position:04}.") for position in range(1, 301)]
    report = kept(previous=None, runs=runs, text=" ".join(f"QX{position:04}" for position in range(1, 251)))
    assert len(report.rows) == 200
    assert (report.kept, report.missed) == (250, 350)
    assert report.left_out == {FactState.KEPT_NEW: 50, FactState.MISSED: 350}
    assert {row.fact.position for row in report.rows} == set(range(51, 251))
    assert from_stored(json.loads(json.dumps(to_stored(report)))) == report


def test_no_runs_and_no_predecessor_are_an_empty_report():
    assert kept(previous=None, runs=(), text="Anything at 16:20.") == KeptReport()
