"""A conversation on the workbench: its saved settings, A, a draft of others, B, and what one request asks for.

Draft and request live in the address, as far as they are short; what is longer is posted with every step.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from sessions_app.domain.errors import ConvowebError, InvalidInput, InvalidSettings
from sessions_app.domain.memory_settings import EffectiveSettings, stored_values
from sessions_app.domain.plan import Prompt, PromptPlan, PromptWarning, WarningCode
from sessions_app.domain.request_draft import RequestDraft, read_request
from sessions_app.domain.settings_draft import Draft, read_draft
from sessions_app.models import Project, Session
from sessions_app.queries.prompt_figures import needed_parts
from sessions_app.queries.request_inputs import carried
from sessions_app.queries.settings_controls import address
from sessions_app.services.prompts import effective_settings, session_plan, session_prompt, settings_of_turn
from sessions_app.services.settings import project_settings
from sessions_app.views.projects import project_for
from sessions_app.views.session_pages import session_of

TABS = {"prompt": "tune", "why": "tune-why", "compare": "tune-compare", "replay": "tune-replay"}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two settings that are compared: the plan of its next prompt, or why there is none."""

    key: str
    label: str
    prompt: PromptPlan | None
    refusal: ConvowebError | None

    @property
    def sent(self) -> Prompt | None:
        """The prompt with what is sent, if it was built."""
        return self.prompt if isinstance(self.prompt, Prompt) else None

    @property
    def lost(self) -> int:
        """How many runs are lost."""
        return sum(fates.count for fates in self.prompt.lost) if self.prompt else 0

    @property
    def sentence(self) -> str:
        """What came of it, as it is read out."""
        if self.prompt is None:
            return f"{self.label}: no prompt. {self.refusal.detail if self.refusal else ''}".strip()
        unseen = f", {self.prompt.unseen:,} not seen by the model" if self.prompt.unseen else ""
        return f"{self.label}: {self.prompt.tokens.total:,} of {self.prompt.budget:,} tokens{unseen}"

    @property
    def needs(self) -> list[tuple[str, int]]:
        """What needs how many tokens, if that is why there is no prompt."""
        return needed_parts(self.refusal)

    @property
    def message_count(self) -> int:
        """How many messages are sent, if the prompt was built."""
        if self.sent is None:
            return 0
        return 1 if self.sent.messages is None else len(self.sent.messages)

    @property
    def warnings(self) -> Sequence[PromptWarning]:
        """What is to be known of the prompt; the page says by itself that a turn is past."""
        found = self.prompt.warnings if self.prompt else ()
        return [warning for warning in found if warning.code is not WarningCode.SETTINGS_OF_TODAY]

    @property
    def setting_warnings(self) -> Mapping[str, str]:
        """Those of them that are about a setting, by its name."""
        return {warning.setting: warning.detail for warning in self.warnings if warning.setting}

    @property
    def other_warnings(self) -> Sequence[PromptWarning]:
        """Those that are about no setting."""
        return [warning for warning in self.warnings if not warning.setting]


@dataclass(frozen=True, slots=True)
class Bench:
    """A conversation on the workbench, with its saved settings, the draft and what is asked.

    `texts` are those that it was made from; `carried` is what addresses carry of what is asked, `left_out` names what
    is too long for that. `then` are the settings of the past turn, if one is asked for: they take the place of the
    saved ones as A.
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
    then: EffectiveSettings | None = None

    @property
    def a(self) -> EffectiveSettings:
        """The settings that the draft is compared with."""
        return self.then or self.saved

    @property
    def overrides(self) -> dict[str, Any]:
        """What makes the draft's values of those of A."""
        before, saved = stored_values(self.a.values), stored_values(self.saved.values)
        return {name: value for name, value in saved.items() if value != before[name]} | self.draft.overrides

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
    draft = read_draft(given, saved=saved, inherited=inherited, seen=_seen(texts.get("seen", "")))
    asked = read_request(dict(texts.lists()))
    short = carried(asked)
    then = _settings_of_then(conversation, asked.arguments.get("at"))
    return Bench(project, conversation, saved, inherited, draft, asked, short.texts, short.left_out, texts, then)


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


def _seen(text: str) -> Mapping[str, Any]:
    """Return the saved values that a form was made from."""
    try:
        seen = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return seen if isinstance(seen, dict) else {}


def compared(bench: Bench, *, built: str) -> dict[str, Any]:
    """Decide the prompt under A and B, and build those of the sides `built`; without a draft they are the same.

    At a past turn A are the settings of then; without a draft B are those of today, if they are others.
    """
    same = not bench.overrides and not bench.draft.errors
    a = _side("a", "Then" if bench.then else "Saved", bench, {}, is_built="a" in built or (bool(built) and same))
    label = "Today" if bench.then and not bench.draft.count else "Draft"
    if bench.draft.errors:
        b = Side("b", label, None, InvalidSettings(" ".join(bench.draft.errors.values())))
    elif same:
        b = Side("b", label, a.prompt, a.refusal)
    else:
        b = _side("b", label, bench, bench.draft.overrides, is_built="b" in built)
    return {"sides": (a, b), "difference": _difference(a, b)}


def _difference(a: Side, b: Side) -> str:
    """Return the tokens of B less those of A, signed; nothing if one has no prompt."""
    if a.prompt is None or b.prompt is None:
        return ""
    return f"{b.prompt.tokens.total - a.prompt.tokens.total:+,}".replace("-", "\N{MINUS SIGN}")


def _side(key: str, label: str, bench: Bench, overrides: Mapping[str, Any], *, is_built: bool) -> Side:
    if bench.asked.errors:
        return Side(key, label, None, InvalidInput(" ".join(bench.asked.errors.values())))
    # Only a prompt that asks for nothing besides can be decided without being built.
    decide: Callable[..., PromptPlan] = session_prompt if is_built or bench.asked.has_more else session_plan
    try:
        prompt = decide(session=bench.conversation, overrides=overrides, **_arguments(bench, key))
    except ConvowebError as refusal:
        return Side(key, label, None, refusal)
    return Side(key, label, prompt, None)


def _arguments(bench: Bench, key: str) -> dict[str, Any]:
    return {**bench.asked.arguments, **({"as_saved": True} if bench.then and key == "b" else {})}
