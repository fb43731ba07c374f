"""What a project says of language models itself: setting it and taking it back."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from sessions_app.domain.errors import FieldError, InvalidInput, NotFound
from sessions_app.domain.language_models import NO_FACTS, ModelFacts, check_name
from sessions_app.models import ModelOverride, Project, Session
from sessions_app.services.project_locks import lock_project
from sessions_app.services.wishes import wish_for_all


def set_model_override(*, project: Project, name: str, facts: ModelFacts, now: datetime) -> ModelOverride:
    """Let a project's own facts of a model win over the built-in tables, in place of what it said before."""
    check_name(name)
    if facts == NO_FACTS:
        detail = "Give at least one of context_window, input_price, cached_input_price, output_price."
        raise InvalidInput(detail, errors=[FieldError("", detail)])
    with transaction.atomic():
        earlier = _facts_locked(project, name)
        row, _ = ModelOverride.objects.update_or_create(project=project, name=name, defaults=asdict(facts))
        _wish(project, earlier, facts, now)
    return row


def remove_model_override(*, project: Project, name: str, now: datetime) -> None:
    """Take back what a project says of a model; from then on the built-in tables hold."""
    with transaction.atomic():
        earlier = _facts_locked(project, name)
        deleted, _ = ModelOverride.objects.filter(project=project, name=name).delete()
        if not deleted:
            raise NotFound("This project says nothing of a model with this name.")
        _wish(project, earlier, NO_FACTS, now)


def _facts_locked(project: Project, name: str) -> ModelFacts:
    """Return what is said now, behind the project's lock, so that writers compare with what they replace."""
    lock_project(project.pk)
    return ModelOverride.objects.filter(project=project).facts_of(name)


def _wish(project: Project, earlier: ModelFacts, facts: ModelFacts, now: datetime) -> None:
    """Have budgets worked out anew if the window has changed; prices are in none of them."""
    if facts.context_window != earlier.context_window:
        wish_for_all(sessions=Session.objects.filter(project=project), now=now)
