"""The difference of two texts shows what a reader would mark, gives back both texts, and takes no long time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain.text_differences import Change, TextDifference, difference

WORDS = st.lists(st.sampled_from(["a", "b", "the", "knee", "x.", ",", "我", "\n", " "]), max_size=60).map(" ".join)


def marked(before, after):
    """Write removals as [-...-] and additions as {+...+}."""
    signs = {Change.SAME: "{}", Change.REMOVED: "[-{}-]", Change.ADDED: "{{+{}+}}"}
    return "".join(signs[piece.change].format(piece.text) for piece in difference(before, after).pieces)


def only(change, found):
    return "".join(piece.text for piece in found.pieces if piece.change in {Change.SAME, change})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("", "new text", "{+new text+}"),
        ("old text", "", "[-old text-]"),
        ("the same", "the same", "the same"),
        ("the old text here", "the new text here", "the [-old -]{+new +}text here"),
        (
            "The user's mother, who wears a knee brace, flies.",
            "The user's mother flies.",
            "The user's mother[-, who wears a knee brace, -]{+ +}flies.",
        ),
        (
            "The hotel near the old town is booked, breakfast included.",
            "The hotel near the old town expects them at 20:00.",
            "The hotel near the old town [-is booked, breakfast included-]{+expects them at 20:00+}.",
        ),
        (
            "one booking together.",
            "one booking together. Seat fees: 96 EUR.",
            "one booking together.{+ Seat fees: 96 EUR.+}",
        ),
        ("one\n\ntwo", "one\ntwo", "one[-\n\n-]{+\n+}two"),
        ("  indented", "indented", "[-  -]indented"),
        ("用户的妈妈戴护膝。", "用户的爸爸戴护膝。", "用户的[-妈妈-]{+爸爸+}戴护膝。"),
        ("a b c d e", "c d e a b", "[-a b -]c d e{+ a b+}"),
    ],
)
def test_it_marks_what_changed(before, after, expected):
    assert marked(before, after) == expected


def test_it_counts_words_without_marks_and_spaces_and_characters_where_there_are_no_words():
    found = difference("Mother: knee brace, aisle seat.", "Mother: aisle seat. Fees paid: 96 EUR!")
    assert (found.added, found.removed) == (4, 2)
    found = difference("用户的妈妈", "用户的爸爸们")
    assert (found.added, found.removed) == (3, 2)


def test_a_word_that_stays_by_chance_amid_a_rewritten_sentence_is_marked_too():
    assert marked("They want the seats together now", "Fees paid for the baggage of everyone") == (
        "[-They want the seats together now-]{+Fees paid for the baggage of everyone+}"
    )


def test_nothing_changed_is_one_piece():
    found = difference("a b\nc", "a b\nc")
    assert [piece.text for piece in found.pieces] == ["a b\nc"]
    assert difference("", "") == TextDifference((), 0, 0)


@given(st.one_of(st.text(), WORDS), st.one_of(st.text(), WORDS))
def test_both_texts_can_be_put_together_from_the_pieces(before, after):
    found = difference(before, after)
    assert only(Change.REMOVED, found) == before
    assert only(Change.ADDED, found) == after
    assert all(piece.text for piece in found.pieces)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 20_000, "a b " * 10_000),
        ("a b c d " * 5_000, "d c b a " * 5_000),
        (" ".join(map(str, range(20_000))), " ".join(map(str, reversed(range(20_000))))),
        (" ".join(str(n * n % 997) for n in range(20_000)), " ".join(str(n * n % 991) for n in range(20_000))),
        (" ".join(map(str, range(20_000))), " ".join(str(n) for n in range(20_000) if n % 3)),
        ("我们他" * 7_000, "他我们们" * 5_000),
        tuple(
            " ".join(f"m{n} " + " ".join(str(i * i * n % factor) for i in range(310)) for n in range(65))
            for factor in (11, 13)
        ),
    ],
)
def test_texts_of_20_000_words_take_no_long_time(before, after):
    start = time.process_time()
    found = difference(before, after)
    assert time.process_time() - start < 5
    assert only(Change.REMOVED, found) == before
    assert only(Change.ADDED, found) == after
