"""A fact stands in a text whatever its wording, and not because of words that happen to be there too."""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import pytest

from sessions_app.domain.facts.matching import TextIndex
from sessions_app.domain.facts.values import Fact, FactKind
from sessions_app.domain.transcript import Role

FIRST_PERSON, NAME, NUMBER, DATE = FactKind


def says(text, kind, fact):
    return TextIndex(text).says(Fact(kind, fact, 1, Role.USER))


@pytest.mark.parametrize(
    ("kind", "fact", "text"),
    [
        (FIRST_PERSON, "my mother wears a knee brace", "The user's mother, wearing a knee brace, needs an aisle seat."),
        (FIRST_PERSON, "I am allergic to nuts", "User has a nut allergy."),
        (FIRST_PERSON, "I am allergic to nuts", "ALLERGIC TO: NUTS!"),
        (FIRST_PERSON, "I don’t eat meat", "Does not eat any meat."),
        (FIRST_PERSON, "my user ID is mia_li_3668", "Goal: fly. ID mia_li_3668."),
        (FIRST_PERSON, "Ich vertrage keine Erdnüsse", "Der Nutzer verträgt keine Erdnuss."),
        (FIRST_PERSON, "我妈妈戴着护膝", "用户的妈妈戴护膝。"),
        (FIRST_PERSON, "私はナッツアレルギーがあります", "ユーザーはナッツのアレルギーを持つ。"),
        (FIRST_PERSON, "soy alérgica a los frutos secos", "La usuaria es alergica a frutos secos."),
        (NAME, "New York", "From new york to Seattle"),
        (NAME, "Doctor Ferreira", "ask for doctor Ferreira’s desk"),
        (NAME, "田中さん", "田中様に連絡"),
        (NUMBER, "seat fees 1,500 EUR", "Paid €1500."),
        (NUMBER, "seat fees 1.500,50 €", "1,500.5 euros"),
        (NUMBER, "four travelers", "4 travellers on one booking"),
        (NUMBER, "4 travelers", "The four of them: traveler Ana and others"),
        (NUMBER, "child of 6", "two adults and a child (6)"),
        (NUMBER, "HX 412", "flight hx412"),
        (NUMBER, "HX412", "flight HX-412"),
        (NUMBER, "23公斤", "行李 23 kg"),
        (DATE, "fly on 29 November at 16:20", "at 4:20 pm on Nov 29th"),
        (DATE, "2026-11-29", "am 29.11.2026"),
        (DATE, "am 29.11. um 16.20 Uhr", "29 November 2026, 16:20"),
        (DATE, "11月29日下午4点", "November 29, 16:00"),
        (DATE, "el 29 de noviembre a las 16:20", "le 29 novembre à 16h20"),
        (DATE, "05/06/2026", "on 6 May"),
        (DATE, "05/06/2026", "on 5 June"),
        (DATE, "next Monday", "Montag"),
    ],
)
def test_a_fact_in_other_words_is_there(kind, fact, text):
    assert says(text, kind, fact)


@pytest.mark.parametrize(
    ("kind", "fact", "text"),
    [
        (FIRST_PERSON, "my mother wears a knee brace", "The user's mother needs an aisle seat."),
        (FIRST_PERSON, "I am allergic to nuts", "The user is allergic to milk."),
        (FIRST_PERSON, "my user ID is mia_li_3668", "The user gave a user ID."),
        (FIRST_PERSON, "我妈妈戴着护膝", "用户的妈妈需要座位。"),
        (FIRST_PERSON, "I live in Lisbon since 2019", "The booking was made in 2019."),
        (FIRST_PERSON, "my budget is $150", "The seat costs $150."),
        (NAME, "New York", "A new flight"),
        (NAME, "Mia Li", "Mia"),
        (NUMBER, "seat fees 96 EUR", "seat fees 196 EUR"),
        (NUMBER, "checked bag costs £83", "City pass for 64 hours, £83"),
        (NUMBER, "four travelers", "4 options for seats" + " and more words" * 12 + " travelers"),
        (NUMBER, "child of 6", "gate 6"),
        (NUMBER, "HX 412", "HX 413"),
        (NUMBER, "1,500 EUR", "15 EUR or 500 EUR"),
        (DATE, "29 November at 16:20", "29 November at 18:20"),
        (DATE, "29 November", "28 November and 29 December"),
        (DATE, "4:20 am", "16:20"),
    ],
)
def test_something_like_a_fact_is_not_the_fact(kind, fact, text):
    assert not says(text, kind, fact)


def test_words_that_are_far_apart_are_no_statement():
    far = " other talk about seats and times" * 20
    assert not says(
        f"The mother books. {far} A knee hurts. {far} The brace is new.", FIRST_PERSON, "my mother wears a knee brace"
    )


def test_an_empty_text_says_nothing():
    assert not says("", NUMBER, "96 EUR")
