from fractions import Fraction

import pytest

from sessions_app.domain.language_models import language_model


@pytest.mark.parametrize(
    ("name", "encoding", "window"),
    [
        ("gpt-4.1-mini", "o200k_base", 1_047_576),
        ("gpt-4.1-mini-2025-04-14", "o200k_base", 1_047_576),
        ("gpt-4o", "o200k_base", 128_000),
        ("ft:gpt-4o:acme::abc", "o200k_base", 128_000),
        ("gpt-4", "cl100k_base", 8_192),
        ("gpt-oss-120b", "o200k_harmony", 131_072),
    ],
)
def test_it_counts_models_with_a_public_tokenizer_exactly(name: str, encoding: str, window: int):
    model = language_model(name)
    assert (model.encoding, model.margin, model.window, model.is_known) == (encoding, 1, window, True)


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "gemini-2.5-flash", "llama-3.3-70b-versatile"])
def test_it_counts_other_families_with_a_margin_and_knows_them(name: str):
    model = language_model(name)
    assert (model.encoding, model.margin, model.is_known) == ("o200k_base", Fraction(13, 10), True)


def test_it_counts_an_unknown_model_with_the_same_margin_and_says_that_it_is_unknown():
    model = language_model("someone/unheard-of")
    assert (model.encoding, model.margin) == ("o200k_base", Fraction(13, 10))
    assert (model.window, model.is_known) == (None, False)


def test_it_does_not_ask_for_a_vocabulary_that_would_have_to_be_fetched():
    model = language_model("text-davinci-003")
    assert (model.encoding, model.margin) == ("o200k_base", Fraction(13, 10))


def test_it_goes_through_the_tables_only_once_for_a_name():
    assert language_model("gpt-4o") is language_model("gpt-4o")
