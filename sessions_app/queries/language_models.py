"""The models that a project can name in its settings, and what is known of them."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import merge
from itertools import groupby, islice

from sessions_app.domain.errors import NotFound
from sessions_app.domain.language_models import NO_FACTS, LanguageModel, language_model, listed_names
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.models import ModelOverride, Project


def known_models(*, project: Project, words: str, after: str, count: int) -> list[LanguageModel]:
    """Return up to `count` models whose names contain the words, by name, from behind a name.

    They are those of the built-in tables and those of which the project says something.
    """
    overrides = ModelOverride.objects.filter(project=project)
    rows = overrides.filter(name__icontains=words, name__gt=after).order_by("name")
    own = list(rows.values_list("name", flat=True)[:count])
    names = (name for name, _ in groupby(merge(own, _listed(words, after))))
    found = list(islice(_known(names, frozenset(own)), count))
    facts = {row.name: row.to_value() for row in overrides.filter(name__in=[model.name for model in found])}
    return [model.with_facts(facts.get(model.name, NO_FACTS)) for model in found]


def known_model(*, project: Project, name: str) -> LanguageModel:
    """Return one model, or raise NotFound if neither the tables nor the project know it."""
    facts = ModelOverride.objects.filter(project=project).facts_of(name)
    model = language_model(name).with_facts(facts)
    if not model.is_known and facts == NO_FACTS:
        raise NotFound("No model with this name is known.")
    return model


def with_facts(settings: EffectiveSettings, *, project_id: int) -> EffectiveSettings:
    """Return settings with what the project says of the model that they name."""
    facts = ModelOverride.objects.filter(project=project_id).facts_of(settings.values.model)
    return replace(settings, facts=facts)


def _listed(words: str, after: str) -> Iterator[str]:
    names = listed_names()
    return (name for name in names[bisect_right(names, after) :] if words.lower() in name.lower())


def _known(names: Iterable[str], own: frozenset[str]) -> Iterator[LanguageModel]:
    """Yield the models; a few listed names are those of a family, by which none of its models is found."""
    for name in names:
        model = language_model(name)
        if model.is_known or name in own:
            yield model
