"""The draft of a project's default settings: what its page shows of it, and saving it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from sessions_app.domain.budget import budget_of
from sessions_app.domain.errors import WindowUnknown
from sessions_app.domain.memory_settings import EffectiveSettings, Layer, stored_values
from sessions_app.domain.settings_draft import Draft, read_draft
from sessions_app.domain.settings_effects import settings_warnings
from sessions_app.models import Project
from sessions_app.queries.language_models import with_facts
from sessions_app.queries.project_defaults import (
    DefaultChange,
    Reach,
    inheritance_of,
    project_changes,
    reach_of,
    with_versions,
)
from sessions_app.queries.settings_controls import address, control_groups, drafted_settings
from sessions_app.queries.settings_versions import next_number, version_in_force
from sessions_app.services.foreseen_defaults import Foreseen, foreseen_defaults
from sessions_app.services.settings import built_in_settings, project_settings, save_project_settings
from sessions_app.services.settings_versions import LONGEST_NOTE
from sessions_app.views.settings_versions import Kept, tell_saved
from sessions_app.views.workbench import seen_values


@dataclass(frozen=True, slots=True)
class Saving:
    """What is asked before defaults are saved: the changes, the number of the version, whom they reach.

    `foreseen` is what they do to some of those.
    """

    changes: Sequence[DefaultChange]
    version: int
    reach: Reach
    foreseen: Foreseen


@dataclass(frozen=True, slots=True)
class DraftedDefaults:
    """A project's default settings, saved and as a draft has them."""

    project: Project
    saved: EffectiveSettings
    built_in: EffectiveSettings
    draft: Draft

    @property
    def changes(self) -> list[DefaultChange]:
        """What saving the draft changes."""
        return project_changes(draft=self.draft, defaults=self.saved, built_in=self.built_in)

    def question(self) -> Saving:
        """Return what is asked before it is saved."""
        changes = {change.name: change.new for change in self.changes}
        return Saving(
            changes=with_versions(self.changes, project=self.project),
            version=next_number(project=self.project, session=None),
            reach=reach_of(project=self.project, names=list(changes)),
            foreseen=foreseen_defaults(project=self.project, changes=changes),
        )

    def page(self, name: str = "project-settings") -> str:
        """Return the address of a page without the draft."""
        return reverse(name, args=[self.project.slug])

    def url(self, name: str = "project-settings") -> str:
        """Return the address of a page with this draft."""
        return (self.page(name) + address(self.draft.texts, {})).removesuffix("?")


def drafted_defaults(project: Project, texts: Mapping[str, str]) -> DraftedDefaults:
    """Return the draft that the texts of an address or a form ask for."""
    saved, built_in = project_settings(project=project), built_in_settings()
    seen = seen_values(texts.get("seen", ""))
    draft = read_draft(dict(texts.items()), saved=saved, inherited=built_in, seen=seen, layer=Layer.PROJECT)
    return DraftedDefaults(project, saved, built_in, draft)


def defaults_context(drafted: DraftedDefaults) -> dict[str, Any]:
    """Return what the form of the defaults shows."""
    newest = version_in_force(project=drafted.project, session=None)
    return {
        "draft": drafted.draft,
        "groups": control_groups(
            project=drafted.project,
            session=None,
            draft=drafted.draft,
            saved=drafted.saved,
            built_in=drafted.built_in,
            carried={},
            warnings=dict(_warnings(drafted)),
        ),
        "seen": json.dumps(stored_values(drafted.saved.values)),
        "inheritance": inheritance_of(drafted.project),
        "version": newest.version if newest else None,
    }


def told_why_not_saved(request: HttpRequest, draft: Draft) -> bool:
    """Tell why a draft cannot be saved, if it cannot."""
    if draft.errors:
        messages.error(request, f"Nothing was saved. {' '.join(draft.errors.values())}")
    elif not draft.changes:
        messages.info(request, "There is nothing to save: the draft does not differ from what is saved.")
    else:
        return False
    return True


def save_as_default(request: HttpRequest, project: Project, changes: Sequence[DefaultChange], *, note: str) -> None:
    """Save changes as the defaults of a project, and tell how many sessions changed and how to undo it."""
    now = timezone.now()
    with transaction.atomic():
        save_project_settings(
            project=project,
            changes={change.name: change.new for change in changes},
            now=now,
            actor=request.user.get_username(),
            note=note[:LONGEST_NOTE],
        )
        words = f"{settings_counted(len(changes))} saved as the default of {project}"
        tell_saved(request, Kept(project, None), words, now=now)


def settings_counted(count: int) -> str:
    """Write how many settings."""
    return "1 setting" if count == 1 else f"{count} settings"


def _warnings(drafted: DraftedDefaults) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with values, by the setting that it is about."""
    settings = with_facts(drafted_settings(drafted.draft, drafted.saved), project_id=drafted.project.pk)
    for warning in settings_warnings(settings, settings.model):
        yield warning.setting, warning.detail
    try:
        budget_of(settings.values, settings.model)
    except WindowUnknown as refusal:
        yield "max_input_tokens", refusal.detail
