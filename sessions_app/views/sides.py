"""The two sides of the workbench: which settings A are, and what came of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions_app.domain.cut_results import count_cut_results
from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.plan import Prompt, PromptPlan, PromptWarning, WarningCode
from sessions_app.models import Profile, Session
from sessions_app.queries.profiles import profile_names
from sessions_app.queries.prompt_figures import needed_parts
from sessions_app.services.prompts import effective_settings

PROFILE = "profile:"
LONGEST_ASKED = 40


@dataclass(frozen=True, slots=True)
class ChoiceOfA:
    """What A may be instead of the settings in force: one of the profiles, if `asked` names it."""

    asked: str
    profiles: Sequence[Profile]
    profile: Profile | None = None
    settings: EffectiveSettings | None = None

    @property
    def is_gone(self) -> bool:
        """Whether something is asked for that there is not."""
        return bool(self.asked) and self.profile is None

    @property
    def carried(self) -> dict[str, Sequence[str]]:
        """What addresses carry of it."""
        return {"a": [self.asked]} if self.profile else {}


def choice_of_a(*, session: Session, asked: str) -> ChoiceOfA:
    """Return the profiles of the session's project, and what the one that is asked for makes of its settings."""
    profiles = profile_names(session.project)
    chosen = next((each for each in profiles if asked == f"{PROFILE}{each.pk}"), None)
    if chosen is None:
        return ChoiceOfA(asked[:LONGEST_ASKED], profiles)
    return ChoiceOfA(asked, profiles, chosen, effective_settings(session=session, overrides=chosen.settings))


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
    def cut_results(self) -> int:
        """How many tool results of a built prompt are cut, or have a mark in their place."""
        return count_cut_results(self.sent) if self.sent else 0

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
