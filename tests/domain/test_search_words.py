import time

import pytest

from sessions_app.domain.search_words import Piece, Term, excerpt, marked, read_query, words_of


def hits(text, query):
    return [piece.text for piece in excerpt([text], read_query(query)) if piece.hit]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Lost BAG, claim #7731!", ["lost", "bag", "claim", "7731"]),
        ("get_user_details(user-id)", ["get", "user", "details", "user", "id"]),
        ("Zürich, CAFÉ, cafe\N{COMBINING ACUTE ACCENT}s", ["zurich", "cafe", "cafes"]),
        ("Straße İstanbul", ["strasse", "istanbul"]),
        ("行李超重", ["行", "李", "超", "重"]),
        ("座席をA12に", ["座", "席", "を", "a12", "に"]),
        ("กระเป๋า", ["ก", "ร", "ะ", "เ", "ป๋", "า"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ok 👍 done", ["ok", "👍", "done"]),
        ("fifty ½", ["fifty", "1", "2"]),
        ("\0\x1f\N{REPLACEMENT CHARACTER} -- !!", []),
        ("", []),
    ],
)
def test_it_finds_the_words_of_a_text_in_any_script(text, words):
    assert words_of([text]) == words


def test_long_words_are_cut_and_long_texts_are_read_as_far_as_is_said():
    assert words_of(["x" * 1000]) == ["x" * 64]
    assert len(words_of(["word " * 20_000])) == 16_000
    longest = words_of([" ".join(f"{n:064}" for n in range(16_000))])
    assert 190_000 < sum(len(word) + 1 for word in longest) <= 200_000


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("lost bag", [Term(("lost",), open=True), Term(("bag",), open=True)]),
        ('"lost bag" a', [Term(("lost", "bag"), open=False), Term(("a",), open=False)]),
        ("“lost bag”", [Term(("lost", "bag"), open=False)]),
        ('"lost ba', [Term(("lost",), open=True), Term(("ba",), open=True)]),
        ("airline-0042", [Term(("airline", "0042"), open=True)]),
        ("bag Bag BAG", [Term(("bag",), open=True)]),
        ("行李", [Term(("行", "李"), open=False)]),
        ("*", []),
        ('""', []),
        ("'; DROP TABLE x --", [Term(("drop",), open=True), Term(("table",), open=True), Term(("x",), open=False)]),
        ("a\0b", [Term(("a", "b"), open=False)]),
    ],
)
def test_a_query_is_read_as_terms(query, terms):
    assert list(read_query(query).terms) == terms


def test_only_the_first_words_of_a_long_query_count():
    sought = read_query(" ".join(f"word{n}" for n in range(2000)))
    assert [term.words[0] for term in sought.terms] == [f"word{n}" for n in range(32)]


@pytest.mark.parametrize(
    ("text", "query", "marked_words"),
    [
        ("Two free bags each", "bag", ["bags"]),
        ("Two free bags each", '"bag"', []),
        ("My lost bag is a lost cause", '"lost bag"', ["lost bag"]),
        ("Der Flug nach ZÜRICH", "zurich", ["ZÜRICH"]),
        ("我的行李丢了 行李", "行李", ["行李", "行李"]),
        ("flight HAT-271 late", "hat-27", ["HAT-271"]),
        ("nothing of it", "bag", []),
        ("anything", "", []),
    ],
)
def test_an_excerpt_marks_what_was_searched_for(text, query, marked_words):
    assert hits(text, query) == marked_words


def test_an_excerpt_shows_where_most_terms_stand_together():
    text = "The bag. " + "Something else is said here. " * 40 + "A free checked bag for gold members. " + "End. " * 50
    pieces = excerpt(["free parking", text], read_query("free bag gold"))
    assert [piece.text for piece in pieces if piece.hit] == ["free", "bag", "gold"]
    assert (pieces[0].text, pieces[-1].text) == ("…", "…")
    assert len("".join(piece.text for piece in pieces)) <= 162


def test_a_text_in_pieces_is_the_text():
    assert list(marked("a bag of bags", read_query("bag"))) == [
        Piece("a ", hit=False),
        Piece("bag", hit=True),
        Piece(" of ", hit=False),
        Piece("bags", hit=True),
        Piece("", hit=False),
    ]


def test_no_text_and_no_query_takes_long():
    text, query = "a a1 b é " * 50_000, "a a1 b é " * 1000
    started = time.process_time()
    assert excerpt([text], read_query(query))
    assert time.process_time() - started < 2
