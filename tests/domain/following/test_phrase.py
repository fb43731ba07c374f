import re

import pytest

from sessions_app.domain.following.phrase import read_phrase
from tests.domain.fakes.phrases import phrase


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("knee brace", "She wears a Knee  Brace."),
        ("knee brace", "a knee\n\tbrace"),
        ("  knee   brace ", "knee brace"),
        ("KNEE", "kneecap"),
        ("caf\u00e9", "Cafe\u0301 at noon"),
        ("cafe\u0301", "CAF\u00c9"),
        ("stra\u00dfe", "Hauptstrasse 5"),
        ("I'm 80", "I\u2019m 80 years old"),
        ('"yes"', "She said \u201cyes\u201d."),
        ("2-3", "2\u20133 bags"),
        ("予約番号", "ご予約番号はQX7です"),
        ("رقم الحجز", "ما هو رقم  الحجز؟"),
        ("a.b*c(d", "say a.b*c(d now"),
        ("👩‍👧 trip", "our 👩‍👧 trip"),
    ],
)
def test_it_finds_words_whatever_their_case_spaces_marks_and_composition(words, text):
    assert phrase(words).is_in(text)


@pytest.mark.parametrize(
    ("words", "text"), [("knee brace", "kneebrace"), ("a.c", "abc"), ("caf\u00e9", "cafe"), ("x", "")]
)
def test_it_finds_nothing_else(words, text):
    assert not phrase(words).is_in(text)


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u00a0"])
def test_blank_words_are_none(blank):
    assert read_phrase(blank) is None


def test_only_the_first_200_characters_count():
    assert phrase("a" * 500).words == "a" * 200


def test_pieces_are_the_text_with_its_hits_by_themselves():
    pieces = list(phrase("red").pieces("A red Red. fred"))
    assert "".join(piece.text for piece in pieces) == "A red Red. fred"
    assert [piece.text for piece in pieces if piece.hit] == ["red", "Red", "red"]


def test_an_excerpt_shows_the_first_hit_however_late_it_comes():
    sought = phrase("needle")
    text = "hay " * 1_000 + "needle" + " hay" * 1_000
    shown = sought.excerpt(text, 200)
    assert [piece.text for piece in shown if piece.hit] == ["needle"]
    whole = "".join(piece.text for piece in shown)
    assert whole.startswith("…hay")
    assert whole.endswith("…")
    assert len(whole) <= 210


def test_an_excerpt_without_a_hit_is_the_beginning():
    assert "".join(piece.text for piece in phrase("x").excerpt("abc def", 3)) == "abc…"


def test_no_words_make_the_search_slow():
    sought = phrase("a " * 100)
    assert not sought.is_in("a  " * 50 + "b" * 100_000)
    assert isinstance(sought.pattern, re.Pattern)
