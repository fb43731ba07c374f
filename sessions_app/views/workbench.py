"""A conversation on the workbench: its saved settings, A, and a draft of others, B, which lives in the address."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from sessions_app.domain.errors import ConvowebError, InvalidSettings
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.plan import Prompt, PromptPlan
from sessions_app.domain.settings_draft import Draft, read_draft
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Project, Session
from sessions_app.queries.prompt_figures import needed_parts
from sessions_app.queries.settings_controls import address
from sessions_app.services.prompts import effective_settings, session_plan, session_prompt
from sessions_app.services.settings import project_settings
from sessions_app.views.projects import project_for
from sessions_app.views.session_pages import session_of

TABS = {"prompt": "tune", "why": "tune-why"}


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
        return len(self.sent.messages or ("text",)) if self.sent else 0


@dataclass(frozen=True, slots=True)
class Bench:
    """A conversation on the workbench, with its saved settings and the draft."""

    project: Project
    conversation: Session
    saved: EffectiveSettings
    inherited: EffectiveSettings
    draft: Draft
    query: str

    def url(self, name: str = "tune", **carried: str) -> str:
        """Return the address of a tab with this draft and query."""
        page = reverse(name, args=[self.project.slug, self.conversation.public_id])
        return page + address(self.draft.texts, {"query": self.query, **carried})


def bench_of(request: HttpRequest, slug: str, session_id: str, texts: QueryDict) -> Bench:
    """Return the bench that an address or a form asks for."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    saved, inherited = effective_settings(session=conversation), project_settings(project=project)
    given = {name: values[-1] for name, values in texts.lists() if values}
    draft = read_draft(given, saved=saved, inherited=inherited, seen=_seen(texts.get("seen", "")))
    return Bench(project, conversation, saved, inherited, draft, clean_text(texts.get("query", "").strip()))


def _seen(text: str) -> Mapping[str, Any]:
    """Return the saved values that a form was made from."""
    try:
        seen = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return seen if isinstance(seen, dict) else {}


def compared(bench: Bench, *, built: str) -> dict[str, Any]:
    """Decide the next prompt under A and B and build that of the side `built`; without a draft they are the same."""
    same = not bench.draft.changes and not bench.draft.errors
    a = _side("a", "Saved", bench, {}, decide=session_prompt if built == "a" or (built and same) else session_plan)
    if bench.draft.errors:
        b = Side("b", "Draft", None, InvalidSettings(" ".join(bench.draft.errors.values())))
    elif bench.draft.changes:
        decide = session_prompt if built == "b" else session_plan
        b = _side("b", "Draft", bench, bench.draft.overrides, decide=decide)
    else:
        b = Side("b", "Draft", a.prompt, a.refusal)
    return {"sides": (a, b), "difference": _difference(a, b)}


def _difference(a: Side, b: Side) -> str:
    """Return the tokens of B less those of A, signed; nothing if one has no prompt."""
    if a.prompt is None or b.prompt is None:
        return ""
    return f"{b.prompt.tokens.total - a.prompt.tokens.total:+,}".replace("-", "\N{MINUS SIGN}")


def _side(
    key: str, label: str, bench: Bench, overrides: Mapping[str, Any], *, decide: Callable[..., PromptPlan]
) -> Side:
    try:
        prompt = decide(session=bench.conversation, overrides=overrides, query=bench.query or None)
    except ConvowebError as refusal:
        return Side(key, label, None, refusal)
    return Side(key, label, prompt, None)
