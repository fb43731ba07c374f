"""Model endpoints as the operator lists them, and asking one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from django.utils.module_loading import import_string
from pydantic import SecretStr

from sessions_app.domain.summarizers.openai import ModelAnswer, ModelRequest


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint: its name in the operator's list, base address and key."""

    name: str
    url: str
    key: SecretStr | None = field(default=None, repr=False)


Ask = Callable[[Endpoint, ModelRequest, float], ModelAnswer]


def ask(endpoint: Endpoint, request: ModelRequest, *, timeout: float) -> ModelAnswer:
    """Ask a model once and return what it answered within so many seconds, or raise SummarizerFailed saying why not."""
    return _asking()(endpoint, request, timeout)


def prepare() -> None:
    """Load what asking needs, so that the first call takes no longer than others."""
    _asking()


@cache
def _asking() -> Ask:
    # By its path: the SDK needs some 20 MiB, which a process that asks no model does without.
    asking: Ask = import_string("sessions_app.clients.model_endpoint.ask")
    return asking
