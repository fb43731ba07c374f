"""What a setting accepts, whichever door it comes through."""

import pytest

from sessions_app.domain.errors import InvalidSettings
from sessions_app.domain.setting_values import check_settings


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\x7f", "a\x85", "\ud800", "a\ufffdb"])
def test_a_name_holds_no_characters_that_cannot_be_stored_or_seen(name):
    with pytest.raises(InvalidSettings, match="none of them a control character"):
        check_settings({"model": name})


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "ollama/llama 3:8b", "modèle", "模型"])
def test_a_name_may_be_in_any_language(name):
    assert check_settings({"model": name}) == {"model": name}
