from typing import Any

import pytest

from sessions_app.domain.budget import Budget, budget_of
from sessions_app.domain.errors import WindowUnknown
from sessions_app.domain.language_models import language_model
from tests.domain.fakes.transcripts import settings


def budget(**overrides: Any) -> Budget:
    values = settings(**overrides).values
    return budget_of(values, language_model(values.model))


def test_without_a_limit_it_is_the_window_less_the_reserve():
    assert budget(model="gpt-4").tokens == 8_192 - 1_024
    assert budget(model="gpt-4").limit == "window 8,192 less 1,024 reserved"
    assert budget(model="gpt-4").reserve == 1_024


def test_the_reserve_is_never_taken_from_the_limit():
    assert budget(model="gpt-4", max_input_tokens=4_000, reserve_output_tokens=4_000).tokens == 4_000
    assert budget(model="gpt-4", max_input_tokens=4_000).limit == "max_input_tokens 4,000"
    assert budget(model="gpt-4", max_input_tokens=8_192 - 1_024).reserve is None


def test_the_window_binds_where_it_is_smaller():
    assert budget(model="gpt-4", max_input_tokens=8_000).tokens == 8_192 - 1_024
    assert budget(model="gpt-4", max_input_tokens=9_000, reserve_output_tokens=9_000).tokens == 0
    assert budget(model="gpt-4", max_input_tokens=8_192 - 1_023).reserve == 1_024
    assert budget(model="gpt-4", reserve_output_tokens=0).reserve == 0


def test_an_unknown_window_without_a_limit_is_refused_naming_the_limit():
    with pytest.raises(WindowUnknown, match="max_input_tokens"):
        budget(model="someone/unheard-of")
    assert budget(model="someone/unheard-of", max_input_tokens=500).tokens == 500
