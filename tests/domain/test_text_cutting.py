import pytest

from sessions_app.domain.text_cutting import cut_at_sentence


def cut(text: str, longest: int) -> str | None:
    return cut_at_sentence(text, fits=lambda candidate: len(candidate) <= longest)


def test_it_returns_what_fits_as_it_is():
    assert cut("One. Two.  ", 11) == "One. Two.  "


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("One. Two is longer. Three.", 20, "One. [shortened]"),
        ("One! Two? Three is the longest of them.", 21, "One! Two? [shortened]"),
        ("first line\nsecond line\nthird line", 23, "first line [shortened]"),
        (
            "灯台です。毎朝、雨水を集めます。" + "青い布の下に置きます。" * 3,
            28,
            "灯台です。毎朝、雨水を集めます。 [shortened]",
        ),
        ("Version 1.2.3 is out. It is long enough.", 33, "Version 1.2.3 is out. [shortened]"),
    ],
)
def test_it_cuts_at_the_end_of_the_last_sentence_that_fits_and_marks_it(text: str, longest: int, expected: str):
    assert cut(text, longest) == expected


def test_it_cuts_at_a_word_when_the_first_sentence_does_not_fit():
    assert cut("One very long sentence without an end", 25) == "One very long [shortened]"


def test_it_gives_up_when_not_even_a_word_fits():
    assert cut("Incomprehensibilities abound.", 12) is None


def test_it_finds_the_longest_beginning_whatever_the_room():
    text = " ".join(f"Sentence {number}." for number in range(100))
    ends = [position + 1 for position, character in enumerate(text) if character == "."]
    for longest in range(24, 600):
        fitting = [end for end in ends if end + len(" [shortened]") <= longest]
        assert cut(text, longest) == text[: fitting[-1]] + " [shortened]"


def test_it_does_not_read_a_long_text_to_its_end_again_and_again():
    text = "A sentence. " * 100_000
    tried: list[int] = []

    def fits(candidate: str) -> bool:
        tried.append(len(candidate))
        return len(candidate) <= 500

    cut_at_sentence(text, fits=fits)
    assert sum(tried[1:]) < 20_000
