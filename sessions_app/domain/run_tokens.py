"""What is stored with a run as its tokens: what it needs in a prompt, as messages of OpenAI, in o200k_base."""

from sessions_app.domain.memory_settings import MemorySettings, PromptFormat
from sessions_app.domain.pieces import tokens_of
from sessions_app.domain.prompt_formats import openai
from sessions_app.domain.tokens import STORED_COUNTER, TokenCounter
from sessions_app.domain.transcript import Run


def are_exact(settings: MemorySettings, counter: TokenCounter) -> bool:
    """Whether what is stored with finished runs is what they need in prompts under these settings, to the token."""
    are_results_whole = settings.keep_tool_results is None and settings.tool_result_max_tokens is None
    return settings.format is PromptFormat.OPENAI and counter == STORED_COUNTER and are_results_whole


def run_tokens(run: Run, counter: TokenCounter = STORED_COUNTER) -> int:
    """Return exactly what a finished run needs; for an open one, whose end is not known, the sum of its events."""
    if run.status.is_open:
        return sum(event.tokens for event in run.events)
    return tokens_of(openai.render_run(run, counter))
