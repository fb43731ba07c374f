"""The strategies: a file each, named as in the settings, that says what it sends and finds the candidates."""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from sessions_app.domain.candidates import Rule
from sessions_app.domain.memory_settings import Strategy


def _rule(strategy: Strategy) -> Rule:
    rule: Rule = import_module(f"{__name__}.{strategy}")
    return rule


STRATEGIES: Final[Mapping[Strategy, Rule]] = {strategy: _rule(strategy) for strategy in Strategy}
