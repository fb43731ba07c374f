"""Which rules of a provider a list of messages breaks, and where: one table of rules, each with its check.

C are the rules of OpenAI's chat completions, R of its Responses, A of Anthropic's messages, G of Gemini's contents. V
are the stricter ones that satisfy all four and the servers that speak like them. The formats text and seed have none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessions_app.domain import provider_checks, validity_checks
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.message_shapes import PROVIDER_FORMATS, read_messages
from sessions_app.domain.validity_checks import Findings, Judged

OPENAI, RESPONSES = (PromptFormat.OPENAI,), (PromptFormat.RESPONSES,)
ANTHROPIC, GEMINI = (PromptFormat.ANTHROPIC,), (PromptFormat.GEMINI,)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by its id: the formats that it binds, what it says, and the check that finds where it is broken."""

    rule: str
    formats: tuple[PromptFormat, ...]
    says: str
    check: Callable[[Judged], Findings]


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule and the index of the message that breaks it."""

    rule: str
    index: int
    detail: str


_v, _p = validity_checks, provider_checks

RULES: Final[tuple[Rule, ...]] = (
    Rule("C1", OPENAI, "A tool message answers a call of the assistant's message before it.", _v.orphan_results),
    Rule("C2", OPENAI, "Every call is answered once, directly behind its message.", _v.unanswered_calls),
    Rule("C3", OPENAI, "Content is null only beside calls.", _v.null_contents),
    Rule("C4", OPENAI, "Tool names are 1 to 64 of A-Z a-z 0-9 _ -.", _v.names),
    Rule("C5", OPENAI, "Call ids have at most 40 characters.", _v.long_ids),
    Rule("C8", OPENAI, "Arguments are JSON text.", _v.arguments),
    Rule("R1", RESPONSES, "Every function call has its output.", _v.unanswered_calls),
    Rule("R2", RESPONSES, "Every output has its function call.", _v.orphan_results),
    Rule("R3", RESPONSES, "Reasoning is directly followed by the item that it belongs to.", _p.reasoning_alone),
    Rule("R4", RESPONSES, "No item is known by an id alone.", _p.reasoning_by_id),
    Rule("R5", RESPONSES, "Item ids begin as those of their type do.", _p.item_id_prefixes),
    Rule("R6", RESPONSES, "Item ids are unique.", _p.repeated_item_ids),
    Rule("R7", RESPONSES, "The assistant's parts are output, the user's are input.", _p.part_types),
    Rule("A1", ANTHROPIC, "The first message is the user's.", _v.first_not_user),
    Rule("A2", ANTHROPIC, "Roles alternate.", _v.neighbours),
    Rule("A3", ANTHROPIC, "No content is empty.", _v.empty_contents),
    Rule("A4", ANTHROPIC, "No text block is blank.", _v.blank_texts),
    Rule("A5", ANTHROPIC, "Every tool use has its result in the next message.", _v.results_elsewhere),
    Rule("A6", ANTHROPIC, "Every result has its tool use in the message before.", _v.orphan_results),
    Rule("A7", ANTHROPIC, "Results come first in their message.", _v.results_not_first),
    Rule("A8", ANTHROPIC, "Tool use ids are unique, 1 to 64 of A-Z a-z 0-9 _ -.", _v.illegal_ids),
    Rule("A9", ANTHROPIC, "Roles are user and assistant.", _v.unknown_roles),
    Rule("A10", ANTHROPIC, "A final text of the assistant does not end with white space.", _v.trailing_space),
    Rule("A11", ANTHROPIC, "The last message is the user's.", _v.last_not_user),
    Rule("A12", ANTHROPIC, "Thinking is signed, and the assistant's.", _p.unsigned_thinking),
    Rule("A13", ANTHROPIC, "There are at most 100,000 messages.", _p.too_many_messages),
    Rule("G1", GEMINI, "Roles are user and model.", _v.unknown_roles),
    Rule("G2", GEMINI, "System text is not among the contents.", _v.system_messages),
    Rule("G3", GEMINI, "A function call turn is behind a user or function response turn.", _p.calls_out_of_turn),
    Rule("G4", GEMINI, "A function response is right behind its call.", _v.orphan_results),
    Rule("G5", GEMINI, "One turn has as many responses as there are calls.", _v.results_elsewhere),
    Rule("G6", GEMINI, "No content, part or text is empty.", _p.empty_parts),
    Rule("G7", GEMINI, "There is a content, and the last is the user's.", _v.last_not_user),
    Rule("G8", GEMINI, "The first call of a turn has a thought signature.", _p.unsigned_calls),
    Rule("V1", PROVIDER_FORMATS, "One system block, first.", _v.late_system_messages),
    Rule("V1", PROVIDER_FORMATS, "No role is unknown.", _v.unknown_roles),
    Rule("V2", PROVIDER_FORMATS, "Then the user speaks.", _v.first_not_user),
    Rule("V3", PROVIDER_FORMATS, "No two neighbours have one role.", _v.neighbours),
    Rule("V4", PROVIDER_FORMATS, "No text is empty.", _v.empty_texts),
    Rule("V5", PROVIDER_FORMATS, "Every call is answered once, before anything else.", _v.unanswered_calls),
    Rule("V6", PROVIDER_FORMATS, "No result is without its call.", _v.orphan_results),
    Rule("V7", PROVIDER_FORMATS, "Call ids are legal and unique.", _v.illegal_ids),
    Rule("V8", PROVIDER_FORMATS, "Tool names are legal.", _v.names),
    Rule("V9", PROVIDER_FORMATS, "The last message is the user's or a tool's.", _v.last_not_user),
    Rule("V10", PROVIDER_FORMATS, "Reasoning is sent only where the format carries it.", _v.carried_reasoning),
    Rule("V11", PROVIDER_FORMATS, "A final text does not end with white space.", _v.trailing_space),
)

UNCHECKED: Final[Mapping[str, str]] = {
    "C6": "which roles a model takes is no matter of the messages; ours have the role system",
    "C7": "it allows and forbids nothing",
    "R8": "the budget sees to it",
    "G9": "it allows and forbids nothing; V3 is stricter",
    "V12": "the budget is no matter of the messages; the builder keeps it",
}
"""Rules that messages alone cannot break, and why."""


def validate(
    messages: Sequence[Mapping[str, Any]],
    format: PromptFormat,  # noqa: A002
    *,
    query_follows: bool = False,
) -> list[Violation]:
    """Return which rules the messages of a format break, and where, by index and id.

    `query_follows` says that the user's next message is still to come, so that the last role is not judged.
    """
    if format not in PROVIDER_FORMATS:
        return []
    judged = Judged(read_messages(messages, format), format, query_follows)
    found = {
        Violation(rule.rule, index, detail)
        for rule in RULES
        if format in rule.formats
        for index, detail in rule.check(judged)
    }
    return sorted(found, key=lambda violation: (violation.index, violation.rule, violation.detail))
