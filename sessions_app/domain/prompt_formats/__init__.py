"""The prompt formats: one file each, and the table that names them."""

from collections.abc import Mapping
from typing import Final

from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.pieces import Renderer
from sessions_app.domain.prompt_formats import anthropic, gemini, openai, responses, seed, text

PROMPT_FORMATS: Final[Mapping[PromptFormat, Renderer]] = {
    PromptFormat.OPENAI: openai,
    PromptFormat.RESPONSES: responses,
    PromptFormat.ANTHROPIC: anthropic,
    PromptFormat.GEMINI: gemini,
    PromptFormat.TEXT: text,
    PromptFormat.SEED: seed,
}
