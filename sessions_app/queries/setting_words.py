"""What the value of a setting means, in one line under its control."""

from collections.abc import Mapping

from sessions_app.domain.memory_settings import EffectiveSettings, OnGap, PromptFormat
from sessions_app.domain.strategies import STRATEGIES
from sessions_app.domain.tokens import EXACT

FORMATS: Mapping[PromptFormat, str] = {
    PromptFormat.OPENAI: "Messages of OpenAI's Chat Completions.",
    PromptFormat.RESPONSES: "Input items of OpenAI's Responses.",
    PromptFormat.ANTHROPIC: "Anthropic's messages, system text beside them.",
    PromptFormat.GEMINI: "Gemini's contents, system text beside them.",
    PromptFormat.TEXT: "One string, as Griptape's prompt stack writes it.",
    PromptFormat.SEED: "The dictionaries of chuk-ai-session-manager.",
}
GAPS: Mapping[OnGap, str] = {
    OnGap.WARN: "What neither fits nor is summarized is lost, with a warning.",
    OnGap.ERROR: "No prompt rather than one that loses runs.",
    OnGap.STOPGAP: "An extract stands in for what neither fits nor is summarized.",
}


IN_NEXT_SUMMARY = frozenset({"offset", "summarize_at", "summarize_to", "max_summary_tokens"})
"""What these settings do to summaries shows only with the next one, which is made once they are saved."""


def setting_words(name: str, settings: EffectiveSettings, *, changed: bool) -> str:
    """Say what the value in force of a choice or of the model means, or what a change does not show yet.

    Nothing is said of a setting that its help explains.
    """
    values, model = settings.values, settings.model
    window = f"a window of {model.window:,} tokens" if model.window else "its window is not known"
    counted = model.encoding if model.margin == EXACT else f"Estimated as {model.encoding} times {float(model.margin)}"
    words = {
        "strategy": f"Sends {STRATEGIES[values.strategy].ABOUT}.",
        "model": f"{counted}, {window}.",
        "format": FORMATS[values.format],
        "on_gap": GAPS[values.on_gap],
    }
    if changed and name in IN_NEXT_SUMMARY:
        return "Shows in the next summary, once saved."
    return words.get(name, "")
