"""What a setting accepts, whichever door it comes through."""

import pytest

from sessions_app.domain.errors import InvalidSettings
from sessions_app.domain.memory_settings import settings_hash
from sessions_app.domain.setting_values import check_settings, resolve_settings, setting_from_text


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\x7f", "a\x85", "\ud800", "a\ufffdb"])
def test_a_name_holds_no_characters_that_cannot_be_stored_or_seen(name):
    with pytest.raises(InvalidSettings, match="none of them a control character"):
        check_settings({"model": name})


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "ollama/llama 3:8b", "modèle", "模型"])
def test_a_name_may_be_in_any_language(name):
    assert check_settings({"model": name}) == {"model": name}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_input_tokens", "4,000", 4000),
        ("max_input_tokens", " 1,234,567 ", 1_234_567),
        ("max_input_tokens", "Unlimited", "unlimited"),
        ("max_input_tokens", "4,00", "4,00"),
        ("max_input_tokens", ",400", ",400"),
        ("max_input_tokens", "4.000", "4.000"),
        ("offset", "-1", -1),
        ("offset", "\u0663", "\u0663"),
        ("summarize_at", "0,5", 0.5),
        ("summarize_at", "0.5", 0.5),
        ("summarize_at", "1,000,0", "1,000,0"),
    ],
)
def test_texts_are_read_as_pages_and_people_write_them(name, text, value):
    assert setting_from_text(name, text) == value


def test_an_unknown_setting_is_pointed_to_with_its_slashes_escaped():
    with pytest.raises(InvalidSettings) as refused:
        check_settings({"a/b~c": 1})
    assert [error.pointer for error in refused.value.errors] == ["/a~1b~0c"]


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ({"summarize_at": 1}, {"summarize_at": 1.0}),
        ({"summarize_to": 0}, {"summarize_to": 0.0}),
        ({"summarize_at": -0.0}, {"summarize_at": 0.0}),
        ({"model": " gpt-4.1 "}, {"model": "gpt-4.1"}),
    ],
)
def test_a_value_in_force_is_the_same_however_it_was_written(one, same):
    written = [
        resolve_settings(default_model="gpt-4.1-mini", project={}, session={}, request=check_settings(each)).values
        for each in (one, same)
    ]
    assert settings_hash(written[0]) == settings_hash(written[1])
