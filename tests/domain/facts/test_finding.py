"""The facts found are those that a person would note down, in any language, and little else."""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain.facts.finding import facts_of
from sessions_app.domain.facts.values import FactKind
from sessions_app.domain.openai_messages import conversation
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus, ToolCall

REAL = Path(__file__).parents[4] / "shared" / "data" / "airline-support.jsonl"
FIRST_PERSON, NAME, NUMBER, DATE = FactKind


def turn(said, answer="", position=1, *others):
    events = (Event(EventKind.MESSAGE, said, Role.USER), *others, Event(EventKind.MESSAGE, answer, Role.ASSISTANT))
    return Run(position, RunStatus.COMPLETED, events)


def found(said, answer="", *others):
    return [(fact.kind, fact.text) for fact in facts_of([turn(said, answer, 1, *others)])]


def test_it_finds_what_the_first_turn_of_a_journey_says():
    assert found(
        "My mother wears a knee brace, so we need an aisle seat. There are four travelers, one child of 6. "
        "We fly HX 412 from Hamburg on 29 November at 16:20.",
        "The seat fees are 96 EUR. Baggage allowance is 23 kg each. The hotel expects you at 20:00. "
        "Ask for Doctor Ferreira at the desk.",
    ) == [
        (FIRST_PERSON, "My mother wears a knee brace"),
        (FIRST_PERSON, "we need an aisle seat"),
        (NUMBER, "four travelers"),
        (NUMBER, "child of 6"),
        (NUMBER, "fly HX 412"),
        (NAME, "Hamburg"),
        (DATE, "Hamburg on 29 November at 16:20"),
        (NUMBER, "seat fees are 96 EUR"),
        (NUMBER, "Baggage allowance is 23 kg each"),
        (DATE, "hotel expects you at 20:00"),
        (NAME, "Doctor Ferreira"),
    ]


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        (
            "Guten Tag, ich heiße Mira Schulz. Meine Mutter trägt eine Knieorthese. "
            "Wir fliegen am 29.11. um 16.20 Uhr nach Lissabon mit Flug HX 412. Ich möchte bitte zwei Kindersitze.",
            [
                (FIRST_PERSON, "ich heiße Mira Schulz"),
                (FIRST_PERSON, "Meine Mutter trägt eine Knieorthese"),
                (DATE, "fliegen am 29.11. um 16.20 Uhr"),
                (NAME, "Lissabon"),
                (NUMBER, "Flug HX 412"),
                (NUMBER, "zwei Kindersitze"),
            ],
        ),
        (
            "我妈妈戴着护膝，需要靠过道的座位。11月29日下午4点20分出发，航班HX412。请联系王先生。我想改签，可以吗？",
            [
                (FIRST_PERSON, "我妈妈戴着护膝"),
                (DATE, "11月29日下午4点20分"),
                (NUMBER, "航班HX412"),
                (NAME, "王先生"),
            ],
        ),
        (
            "私はナッツアレルギーがあります。母は膝にサポーターをつけています。出発は11月29日16時20分です。",
            [
                (FIRST_PERSON, "私はナッツアレルギーがあります"),
                (FIRST_PERSON, "母は膝にサポーターをつけています"),
                (DATE, "出発は11月29日16時20分"),
            ],
        ),
        (
            "Hola. Soy Ana y mi madre lleva una rodillera. "
            "Volamos a Lisboa el 29 de noviembre a las 16:20 con dos niños.",
            [
                (FIRST_PERSON, "mi madre lleva una rodillera"),
                (NAME, "Ana"),
                (NAME, "Lisboa"),
                (DATE, "Volamos a Lisboa el 29 de noviembre a las 16:20"),
                (NUMBER, "dos niños"),
            ],
        ),
        (
            "Bonjour, je suis allergique aux arachides. Le prix était de 1.500,50 € ?",
            [(FIRST_PERSON, "je suis allergique aux arachides"), (NUMBER, "prix était de 1.500,50 €")],
        ),
        ("저는 땅콩 알레르기가 있어요.", [(FIRST_PERSON, "저는 땅콩 알레르기가 있어요")]),
        ("Меня зовут Анна, у меня аллергия на орехи.", [(FIRST_PERSON, "Меня зовут Анна, у меня аллергия на орехи")]),
    ],
)
def test_it_reads_other_languages(said, facts):
    assert found(said) == facts


@pytest.mark.parametrize(
    "said",
    [
        "I'd like to cancel my flight, please.",
        "Can you help me with that? I'm looking for a hotel. I'm not sure. I have a question. I think so.",
        "If I have a dog, what then? I was wondering whether my mother can come.",
        "Thank you so much! Yes, please go ahead. I'll take the first option. I have to go now.",
        "Ich möchte das bitte ändern. Kann ich das? Ich hoffe, das geht.",
        "我想改签机票，可以吗？",
        "Quiero cambiar el asiento. ¿Puedo?",
        "The Best Thing About Title Case Is Nothing At All. the best thing about title case is nothing at all.",
        "1. One way\n2. Economy\n3. Just me",
        "We had a long discussion about it. My sister said exactly the same thing.",
        "Wir haben lange darüber geredet. Ich sitze gerade im Bus.",
        "我现在在公交车上。",
        "```\nx = 4200\nname = 'Hello World'\n```",
        "",
    ],
)
def test_what_passes_with_the_turn_is_no_fact(said):
    assert found(said) == []


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        (
            "He had fits when he was small, and since then calming drops are out of the question for him.",
            ["He had fits when he was small", "calming drops are out of the question for him"],
        ),
        ("The window must never stand open at night.", ["The window must never stand open at night"]),
        ("Our neighbour is nice. She cannot climb stairs.", ["Our neighbour is nice", "She cannot climb stairs"]),
        ("The boy is allergic to nuts.", ["The boy is allergic to nuts"]),
        ("Beruhigungstropfen kommen nicht in Frage.", ["Beruhigungstropfen kommen nicht in Frage"]),
        ("Les noix sont hors de question.", ["Les noix sont hors de question"]),
        ("El niño no puede comer cacahuetes.", ["El niño no puede comer cacahuetes"]),
    ],
)
def test_what_must_not_be_and_what_is_the_matter_with_somebody_is_a_fact(said, facts):
    assert [text for kind, text in found(said) if kind is FIRST_PERSON] == facts


@pytest.mark.parametrize(
    "said",
    [
        "You must not do that. It must not be late. That is out of the question.",
        "He has to go. She had a question about it. He has been there.",
        "Must he not pay? If he must not eat, what then?",
    ],
)
def test_what_is_forbidden_to_nobody_of_theirs_is_no_fact(said):
    assert found(said) == []


def test_a_question_can_name_things_but_states_nothing():
    assert found("Does my mother have to pay for the flight to Lisbon on 3 May?") == [
        (NAME, "Lisbon"),
        (DATE, "flight to Lisbon on 3 May"),
    ]


def test_a_statement_with_several_numbers_is_several_facts():
    assert found("My email is mira@example.org, phone +49 40 1234567.") == [
        (NUMBER, "email is mira@example.org"),
        (NUMBER, "phone +49 40 1234567"),
    ]


def test_a_fact_is_listed_once_where_it_was_said_first():
    runs = [
        turn("We fly to Lisbon with flight HX 412 for 1,500 EUR.", position=3),
        turn(
            "Is HX412 on time? And is it €1500 to Lisbon?", "Yes, HX-412 to Lisbon is, for 1500.00 euros.", position=4
        ),
    ]
    assert [(fact.text, fact.position) for fact in facts_of(runs)] == [
        ("Lisbon", 3),
        ("flight HX 412", 3),
        ("1,500 EUR", 3),
    ]


def test_a_list_of_alternatives_of_the_assistant_is_left_out():
    answer = (
        "Here are two trains:\n\n1. **Train ICE 71**\n   - Departure: 06:00\n   - Price: $121\n"
        "2. **Train ICE 73**\n   - Departure: 07:00\n   - Price: $100\n\nTotal Price: $55 for the seats"
    )
    texts = [text for _, text in found("Which are there?", answer)]
    assert "Total Price: $55" in texts
    assert not [text for text in texts if "Departure" in text or "$121" in text or "$100" in text]


def test_what_an_assistant_counts_by_the_way_is_no_fact():
    assert found("How long?", "It takes 5 minutes and 2 spoons. The oven has 180 degrees.") == [(NUMBER, "180 degrees")]


def test_it_reads_neither_tool_results_nor_reasoning_nor_system_messages():
    call = Event(EventKind.TOOL_CALL, tool=ToolCall("c", "search", '{"to": "Lisbon"}', "HX 412 costs 96 EUR"))
    thought = Event(EventKind.REASONING, "I am allergic to nuts.", Role.ASSISTANT)
    rules = Event(EventKind.MESSAGE, "We fly to Lisbon for 96 EUR.", Role.SYSTEM)
    assert found("Go on.", "Done.", call, thought, rules) == []


def test_a_fact_is_one_line_of_at_most_80_characters():
    (fact,) = facts_of([turn("I work as a nurse\tat the old   hospital" + " of the town" * 20)])
    assert fact.text.startswith("I work as a nurse at the old hospital of the town")
    assert len(fact.text) <= 80
    assert fact.text.endswith("…")


def test_a_run_gives_twelve_facts_at_most():
    flights = " ".join(f"Take the flight QX {number}." for number in range(100, 400))
    assert len(facts_of([turn(flights, flights), turn(flights, flights, 2)])) == 24


@pytest.mark.parametrize(
    "piece", ["1 ", "1,", "12:00 ", "Ab ", "i have 5 cats, ", "我们4个人", "x: y\n", "A1-", "a.b@", "\ud800"]
)
def test_long_texts_of_one_kind_take_no_long_time(piece):
    text = (piece * 100_000)[:200_000]
    before = time.process_time()
    facts_of([turn(text, text)])
    assert time.process_time() - before < 5


PIECES = st.sampled_from(
    [*"0123456789.:/-+ ,年月日曜周一半点時分Uhr€$ʼ'\n", "May", "am", "pm", "Mr", "my", "I", "ich", "客", "様", "٣", "²"]
)


def test_a_run_of_many_long_messages_takes_no_long_time():
    texts = [Event(EventKind.MESSAGE, "1,1 at 12:00 " * 20_000, Role.ASSISTANT)] * 40
    before = time.process_time()
    facts_of([turn("Go on.", "Done.", 1, *texts)])
    assert time.process_time() - before < 5


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)), st.text())
def test_no_text_makes_it_fail(said, answer):
    for fact in facts_of([turn(said, answer)]):
        assert 0 < len(fact.text) <= 80
        assert "\n" not in fact.text


def test_real_conversations_give_a_readable_number_of_facts_each():
    if not REAL.exists():
        pytest.skip("NOT RUN: shared/data is not here")
    counts = []
    for line in REAL.read_text().splitlines():
        _, new = conversation(json.loads(line)["messages"])
        runs = [Run(position, RunStatus.COMPLETED, run.events) for position, run in enumerate(new, 1)]
        counts.append(len(facts_of(runs)) / len(runs))
    print(f"facts a run: {sum(counts) / len(counts):.1f} on average, {max(counts):.1f} at most")
    assert 0.5 < sum(counts) / len(counts) < 4
