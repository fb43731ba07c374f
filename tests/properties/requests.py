"""Random requests for prompts as plain data: settings, and what is asked for beside the conversation."""

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.properties.conversations import Plain

STRATEGIES = ("buffer", "summary", "minimal", "task", "tool", "conversation", "hierarchical", "head_tail")
FORMATS = ("openai", "responses", "anthropic", "gemini", "text", "seed")
MODELS = ("gpt-4.1-mini", "gpt-4.1-mini", "gpt-4o", "gpt-4", "claude-sonnet-4-5", "someone/unheard-of")
UNHEARD_OF = "someone/unheard-of"
ROOMY = 5_000_000
SMALLEST_BUDGET = 1

TOOLS: list[Plain] = [
    {
        "type": "function",
        "function": {
            "name": "find_order",
            "description": "Find an order.",
            "parameters": {
                "type": "object",
                "properties": {
                    "number": {"type": "string", "description": "Its number."},
                    "state": {"type": "string", "enum": ["open", "sent"]},
                    "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
                },
            },
        },
    },
    {"type": "function", "function": {"name": "now"}},
]
BASE: list[Plain] = [
    {"role": "system", "content": "qB0z Obey."},
    {"role": "user", "content": "qB1z Hello."},
    {"role": "assistant", "content": "qB2z Hello to you."},
]


def request(chance: Random, conversation: Mapping[str, Any], strategy: str, format: str) -> Plain:
    """Make a request with a limit that everything fits, where the model's window allows."""
    unlimited = "unlimited"
    settings = {
        "strategy": strategy,
        "format": format,
        "model": chance.choice(MODELS),
        "max_input_tokens": ROOMY,
        "reserve_output_tokens": chance.choice([0, 1024, 1024]),
        "autoprune": chance.random() < 0.94,
        "max_runs": chance.choice([unlimited] * 5 + [1, 3, 9]),
        "last_n": chance.choice([unlimited] * 7 + [0, 1, 5]),
        "max_history": chance.choice([0, 1, 4, 5, 9, 100]),
        "head_runs": chance.choice([0, 1, 3, 20]),
        "tool_result_max_tokens": chance.choice([unlimited] * 3 + [1, 4, 40]),
        "keep_tool_results": chance.choice([unlimited] * 3 + [0, 1, 3]),
        "offset": chance.choice([0, 0, 1, 6]),
        "max_summary_tokens": chance.choice([2, 8, 40, *[512] * 5]),
        "on_gap": chance.choice(["warn", "stopgap", "stopgap", "error"]),
        "include_parent_context": chance.random() < 0.4,
        "parent_depth": chance.choice([1, 2]),
    }
    return {
        "settings": settings,
        "query": chance.choice([None, "qQz What did I say?", "qQz " + "Please. " * 40]),
        "context": chance.choice([[]] * 3 + [["qC0z A fact."], ["qC0z A fact.\n", "qC1z 另一个事实。"]]),
        "tools": chance.choice([[]] * 3 + [TOOLS, TOOLS[1:]]),
        "instructions": chance.choice([None] * 5 + ["qJz This time only.", ""]),
        "base": _base(chance, format),
        "shorten": chance.random() < 0.25,
        "at": chance.randint(1, len(conversation["runs"])) if chance.random() < 0.12 else None,
    } | _mistake(chance, conversation)


def _base(chance: Random, format: str) -> Plain | None:
    if format not in ("openai", "text") or chance.random() < 0.8:
        return None
    return {"messages": BASE[: chance.randint(0, 3)], "index": chance.choice([None, 0, 1, 2, -1, 9])}


def _mistake(chance: Random, conversation: Mapping[str, Any]) -> Plain:
    """Ask for what is refused, now and then."""
    if chance.random() > 0.02:
        return {}
    return chance.choice(
        [
            {"query": " \n"},
            {"context": ["qC0z A fact.", ""]},
            {"tools": [{"type": "function", "function": {"name": "no name"}}]},
            {"at": len(conversation["runs"]) + 1},
            {"base": {"messages": [{"role": "nobody", "content": "qB0z"}], "index": None}},
        ]
    )


def with_settings(asked: Mapping[str, Any], **settings: Any) -> Plain:
    """Return the request under some other settings."""
    return {**asked, "settings": asked["settings"] | settings}


def with_cut(chance: Random, asked: Mapping[str, Any], answer: Mapping[str, Any]) -> Plain:
    """Return the request with a limit that should end inside the history, as the roomy answer needs it."""
    tokens = answer["tokens"]
    movable = tokens["runs"] + (tokens["summary"] + tokens["parent_context"]) // 2
    limit = tokens["total"] - 1 - round(chance.choice([chance.random(), chance.random() ** 3]) * movable)
    return with_settings(asked, max_input_tokens=max(SMALLEST_BUDGET, limit))
