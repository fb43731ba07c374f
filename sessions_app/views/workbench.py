"""A conversation on the workbench: its saved settings or a profile, A, a draft of others, B, and what one request asks.

Draft and request live in the address, as far as they are short; what is longer is posted with every step.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.text import Truncator

from sessions_app.domain.errors import ConvowebError, InvalidInput, InvalidSettings
from sessions_app.domain.following.phrase import Phrase, read_phrase
from sessions_app.domain.memory_settings import EffectiveSettings, stored_values
from sessions_app.domain.plan import PromptPlan
from sessions_app.domain.request_draft import RequestDraft, read_request
from sessions_app.domain.settings_draft import Draft, read_draft
from sessions_app.models import Profile, Project, Session
from sessions_app.queries.request_inputs import carried
from sessions_app.queries.settings_controls import address
from sessions_app.services.prompts import effective_settings, session_plan, session_prompt, settings_of_turn
from sessions_app.services.settings import project_settings
from sessions_app.views.projects import project_for
from sessions_app.views.session_pages import session_of
from sessions_app.views.sides import ChoiceOfA, Side, choice_of_a

LONGEST_LABEL = 18
THEN = "Then"
TABS = {"prompt": "tune", "why": "tune-why", "compare": "tune-compare", "replay": "tune-replay"}


@dataclass(frozen=True, slots=True)
class Bench:
    """A conversation on the workbench, with its saved settings, the draft and what is asked.

    `texts` are those that it was made from; `carried` is what addresses carry of what is asked, `left_out` names what
    is too long for that. `then` are the settings of the past turn, if one is asked for: they take the place of the
    saved ones as A. `choice` tells whether a profile does.
    """

    project: Project
    conversation: Session
    saved: EffectiveSettings
    inherited: EffectiveSettings
    draft: Draft
    asked: RequestDraft
    carried: Mapping[str, Sequence[str]]
    left_out: Sequence[str]
    texts: QueryDict
    then: EffectiveSettings | None
    choice: ChoiceOfA

    @property
    def profile(self) -> Profile | None:
        """The profile that is A."""
        return self.choice.profile

    @property
    def in_place(self) -> EffectiveSettings:
        """The settings in force: the saved ones, or those of the past turn."""
        return self.then or self.saved

    @property
    def a(self) -> EffectiveSettings:
        """The settings that the draft is compared with."""
        return self.choice.settings or self.in_place

    @property
    def overrides(self) -> dict[str, Any]:
        """What makes the draft's values of those of A."""
        return self._drafted_over(self.a)

    def requested(self, key: str) -> Mapping[str, Any]:
        """Return the sparse settings of a request that gives a side's prompt."""
        if key == "b":
            return self._drafted_over(self.in_place)
        return _differing(stored_values(self.a.values), self.in_place)

    def _drafted_over(self, settings: EffectiveSettings) -> dict[str, Any]:
        return _differing(stored_values(self.saved.values) | self.draft.overrides, settings)

    def asked_by(self, key: str) -> RequestDraft:
        """Return what is asked for under a side: Then is what was sent, without what a request would add today."""
        if key == "b" or self.then is None or self.profile:
            return self.asked
        return read_request({"at": self.asked.texts["at"]})

    @property
    def phrase(self) -> Phrase | None:
        """The words that are followed from page to page."""
        return read_phrase(self.texts.get("words", ""))

    @property
    def past_turn(self) -> int | None:
        """The turn whose prompt is asked for."""
        return self.asked.arguments.get("at")

    def page(self, name: str = "tune") -> str:
        """Return the address of a tab without the draft."""
        return reverse(name, args=[self.project.slug, self.conversation.public_id])

    def url(self, name: str = "tune", **besides: str) -> str:
        """Return the address of a tab with this draft and what is asked."""
        return self.page(name) + address(self.draft.texts, {**self.carried, **besides})


def bench_of(request: HttpRequest, slug: str, session_id: str, texts: QueryDict) -> Bench:
    """Return the bench that the texts of an address, a form or both ask for."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    saved, inherited = effective_settings(session=conversation), project_settings(project=project)
    given = {name: values[-1] for name, values in texts.lists() if values}
    draft = read_draft(given, saved=saved, inherited=inherited, seen=seen_values(texts.get("seen", "")))
    asked = read_request(dict(texts.lists()))
    short = carried(asked)
    then = _settings_of_then(conversation, asked.arguments.get("at"))
    choice = choice_of_a(session=conversation, asked=texts.get("a", ""))
    phrase = read_phrase(texts.get("words", ""))
    short_texts = {**short.texts, **choice.carried, **({"words": [phrase.words]} if phrase else {})}
    return Bench(
        project, conversation, saved, inherited, draft, asked, short_texts, short.left_out, texts, then, choice
    )


def _differing(values: Mapping[str, Any], settings: EffectiveSettings) -> dict[str, Any]:
    before = stored_values(settings.values)
    return {name: value for name, value in values.items() if value != before[name]}


def _settings_of_then(conversation: Session, at: int | None) -> EffectiveSettings | None:
    """Return the settings of a past turn; None if none is asked for, or one that is none."""
    found = None if at is None else settings_of_turn(session=conversation, at=at)
    return found if found and found.versions else None


def texts_of(request: HttpRequest) -> QueryDict:
    """Return the texts of the address and, over them, those of the form."""
    texts = request.GET.copy()
    for name, values in request.POST.lists():
        texts.setlist(name, values)
    return texts


def seen_values(text: str) -> Mapping[str, Any]:
    """Return the saved values that a form was made from."""
    try:
        seen = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return seen if isinstance(seen, dict) else {}


def compared(bench: Bench, *, built: str) -> dict[str, Any]:
    """Decide the prompt under A and B, and build those of the sides `built`; without a draft they are the same.

    At a past turn A are the settings of then; without a draft B are those of today, if they are others. Beside a
    profile as A, B without a draft is what is saved. What the request adds is asked for under B alone at a past turn.
    """
    same = not bench.overrides and not bench.draft.errors and bench.asked_by("a").texts == bench.asked.texts
    chosen = bench.profile.settings if bench.profile else {}
    a = _side("a", _label_a(bench), bench, chosen, is_built="a" in built or (bool(built) and same))
    label = "Draft" if bench.draft.count else "Today" if bench.then else "Saved" if bench.profile else "Draft"
    if bench.draft.errors:
        b = Side("b", label, None, InvalidSettings(" ".join(bench.draft.errors.values())))
    elif same:
        b = Side("b", label, a.prompt, a.refusal)
    else:
        b = _side("b", label, bench, bench.draft.overrides, is_built="b" in built)
    scale = max((side.prompt.budget for side in (a, b) if side.prompt), default=0)
    return {"sides": (a, b), "difference": _difference(a, b), "scale": scale}


def _label_a(bench: Bench) -> str:
    if bench.profile:
        return Truncator(bench.profile.name).chars(LONGEST_LABEL)
    return THEN if bench.then else "Saved"


def _difference(a: Side, b: Side) -> str:
    """Return the tokens of B less those of A, signed; nothing if one has no prompt."""
    if a.prompt is None or b.prompt is None:
        return ""
    return f"{b.prompt.tokens.total - a.prompt.tokens.total:+,}".replace("-", "\N{MINUS SIGN}")


def _side(key: str, label: str, bench: Bench, overrides: Mapping[str, Any], *, is_built: bool) -> Side:
    if bench.asked.errors:
        return Side(key, label, None, InvalidInput(" ".join(bench.asked.errors.values())))
    # Only a prompt that asks for nothing besides can be decided without being built.
    decide: Callable[..., PromptPlan] = session_prompt if is_built or bench.asked_by(key).has_more else session_plan
    try:
        prompt = decide(session=bench.conversation, overrides=overrides, **_arguments(bench, key))
    except ConvowebError as refusal:
        return Side(key, label, None, refusal)
    return Side(key, label, prompt, None)


def _arguments(bench: Bench, key: str) -> dict[str, Any]:
    is_of_today = bench.then and (key == "b" or bench.profile)
    return {**bench.asked_by(key).arguments, **({"as_saved": True} if is_of_today else {})}
