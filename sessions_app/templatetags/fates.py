"""Fates of runs and parts of a prompt: one word, icon, color and pattern for each, the same on every page."""

from collections.abc import Mapping
from dataclasses import dataclass

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions_app.domain.plan import Fate, Part, WarningCode
from sessions_app.templatetags.icons import icon

register = template.Library()


@dataclass(frozen=True, slots=True)
class FateLook:
    """How a fate is shown: its words, its icon and what it means in a sentence."""

    word: str
    icon: str
    meaning: str


FATES: Mapping[str, FateLook] = {
    Fate.KEPT: FateLook("In the prompt", "circle-check", "Word for word in the prompt"),
    Fate.SUMMARIZED: FateLook("In the summary", "fold-vertical", "Covered by the summary in the prompt"),
    Fate.CAPPED: FateLook("Not sent: capped", "hourglass", "Beyond max_runs"),
    Fate.SKIPPED: FateLook("Not sent: skipped", "skip-forward", "The strategy or last_n leaves it out"),
    Fate.PRUNED: FateLook("Not sent: pruned", "scissors", "Dropped by the budget"),
    Fate.LOST: FateLook("Lost", "triangle-alert", "Dropped by the budget although the strategy summarizes"),
    "query": FateLook("Query", "corner-down-right", "The question being answered"),
}

PART_WORDS: Mapping[str, str] = {
    Part.INSTRUCTIONS: "Instructions",
    Part.TOOLS: "Tools",
    Part.PARENT_CONTEXT: "Parent context",
    Part.SUMMARY: "Summary",
    Part.RUNS: "Runs",
    Part.CONTEXT: "Context",
    Part.QUERY: "Query",
    Part.OVERHEAD: "Overhead",
    "free": "Free",
    "reserved": "Reserve",
}

WARNING_WORDS: Mapping[str, str] = {
    WarningCode.RUNS_LOST: "Runs are lost",
    WarningCode.RUNS_EXTRACTED: "An extract stands in for runs",
    WarningCode.RUNS_IN_NEITHER: "Runs are in neither prompt nor summary",
    WarningCode.NEWEST_RUN_DROPPED: "The newest run is not sent",
    WarningCode.NEWEST_RUN_SHORTENED: "The newest run is cut",
    WarningCode.SUMMARY_CUT: "The summary is cut",
    WarningCode.PARENT_CONTEXT_CUT: "The parent context is cut",
    WarningCode.MODEL_UNKNOWN: "Unknown model",
    WarningCode.OPEN_RUN_SKIPPED: "The open run is left out",
    WarningCode.LIMIT_ABOVE_WINDOW: "The window binds",
    WarningCode.HEAD_OF_THE_NEWEST: "head_runs does not reach the beginning",
    WarningCode.SUMMARIZE_TO_ABOVE_AT: "summarize_to is above summarize_at",
    WarningCode.SETTING_WITHOUT_EFFECT: "A setting has no effect",
    WarningCode.SETTINGS_OF_TODAY: "Settings of today",
    WarningCode.TOOL_CALLS_LEFT_OUT: "Tool calls are not sent",
}

_SHARED_PATTERNS: Mapping[str, str] = {
    Part.SUMMARY: str(Fate.SUMMARIZED),
    Part.RUNS: str(Fate.KEPT),
    Part.PARENT_CONTEXT: "parent",
}


@register.filter
def pattern(name: str) -> str:
    """Return the `data-fate` value, which is also the pattern's name, of a fate or a part of the prompt."""
    return _SHARED_PATTERNS.get(name, str(name))


@register.filter
def fate_word(fate: str) -> str:
    """Return the word that stands for a fate on pages."""
    return FATES[fate].word


@register.filter
def fate_short(fate: str) -> str:
    """Return the word of a fate where it stands beside its color and others."""
    return FATES[fate].word.removeprefix("Not sent: ").capitalize()


@register.filter
def part_word(part: str) -> str:
    """Return the word that stands for a part of the prompt on pages."""
    return PART_WORDS[part]


@register.filter
def warning_word(code: str) -> str:
    """Return the heading of a warning on pages."""
    return WARNING_WORDS[code]


@register.simple_tag(name="fate")
def fate_label(fate: str, label: str = "", *, reason: str = "") -> SafeString:
    """Draw the label of a fate; `label` replaces its word where the icon says enough, `reason` is told on hovering."""
    look = FATES[fate]
    return format_html(
        '<span class="fate" data-fate="{}" title="{}">{}{}</span>',
        str(fate),
        f"{look.meaning}: {reason}" if reason else look.meaning,
        icon(look.icon),
        label or look.word,
    )


@register.simple_tag
def fate_to_come(fate: str, reason: str = "") -> SafeString:
    """Draw the label of a fate in the prompt to come, on a page that tells of other prompts, too."""
    word = FATES[fate].word
    label = "in the next prompt" if fate == Fate.KEPT else f"next prompt: {word[0].lower()}{word[1:]}"
    return fate_label(fate, label, reason=reason)


@register.simple_tag
def result_cut(told: str) -> SafeString:
    """Draw the mark of a run whose tool results the next prompt has not whole; `told` says how much of them is left."""
    title = f"In the next prompt {told}"
    return format_html(
        '<span class="fate cut-m" data-fate="pruned" title="{}">{}tool result cut</span>', title, icon("scissors")
    )


@register.simple_tag
def swatch(name: str) -> SafeString:
    """Draw the small square with the color and pattern of a fate or a part; the word stands beside it."""
    return format_html('<span class="sw" data-fate="{}" aria-hidden="true"></span>', pattern(name))
