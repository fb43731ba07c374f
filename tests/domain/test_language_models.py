from decimal import Decimal
from fractions import Fraction

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.language_models import ModelFacts, check_name, language_model, listed_names


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


def test_a_window_of_the_project_wins_and_nothing_else_changes():
    model = language_model("gpt-4.1-mini").with_facts(ModelFacts(context_window=20_000))
    assert (model.window, model.encoding, model.is_known) == (20_000, "o200k_base", True)
    assert language_model("gpt-4.1-mini").window == 1_047_576


def test_without_a_window_of_the_project_that_of_the_tables_stays():
    assert language_model("gpt-4").with_facts(ModelFacts(input_price=Decimal(1))).window == 8_192


def test_the_listed_names_are_in_order_and_known_but_for_a_few_of_whole_families():
    names = listed_names()
    assert list(names) == sorted(set(names))
    assert {"gpt-4.1-mini", "gpt-35-turbo", "claude-sonnet-4-5", "openai/gpt-4o"} <= set(names)
    sample = names[::20]
    assert sum(language_model(name).is_known for name in sample) >= 0.95 * len(sample)


@pytest.mark.parametrize(
    "name", ["gpt-4o", "ft:gpt-4o:acme::abc", "org/model:tag", ".hidden", "a b", "модель", "x" * 200]
)
def test_a_name_that_can_stand_in_an_address_is_legal(name: str):
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name", ["", " gpt-4o", "gpt-4o ", "a\nb", "\0", "\ud800", ".", "a/../b", "./a", "/a", "a/", "a//b", "x" * 201]
)
def test_another_is_refused_with_the_rule(name: str):
    with pytest.raises(InvalidInput, match="The name of a model is"):
        check_name(name)
