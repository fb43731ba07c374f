"""The strategies: one file each, and the table that names them."""

from collections.abc import Mapping
from typing import Final

from sessions_app.domain.candidates import Rule
from sessions_app.domain.memory_settings import Strategy
from sessions_app.domain.strategies import buffer, summary

STRATEGIES: Final[Mapping[Strategy, Rule]] = {
    Strategy.BUFFER: buffer.candidates,
    Strategy.SUMMARY: summary.candidates,
}
