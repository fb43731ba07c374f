"""How a prompt introduces its summary: by a heading, or as a template of the project says."""

from typing import Any

import pytest
import tiktoken

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.plan import Prompt, WarningCode
from sessions_app.domain.transcript import SummaryEntry
from tests.domain.fakes.transcripts import SUMMARY_TEMPLATES, InMemoryTranscript, exchange, settings
from tests.domain.recount import count_prompt

TEMPLATE = "What happened before:\n\n{summary}\n\nTrust it."


def build(summary: str = "They met {runs}.", instructions: str = "", **overrides: Any) -> Prompt:
    reader = InMemoryTranscript(
        [exchange("one", "two") for _ in range(3)], instructions, [SummaryEntry("s1", 1, 1, summary)]
    )
    return build_prompt(reader=reader, settings=settings(offset=2, **overrides), query="Go on.")


def system_of(prompt: Prompt) -> Any:
    return prompt.messages[0]["content"] if prompt.messages is not None and prompt.system is None else prompt.system


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic", "gemini", "seed"])
def test_the_template_stands_in_the_place_of_the_heading(format: str):
    prompt = build(format=format, summary_template=TEMPLATE)
    assert system_of(prompt) == "What happened before:\n\nThey met {runs}.\n\nTrust it."
    assert prompt.covers_through == 1


def test_the_other_parts_keep_their_headings():
    prompt = build(instructions="Be kind.", summary_template=TEMPLATE)
    assert system_of(prompt) == ("# Instructions\nBe kind.\n\nWhat happened before:\n\nThey met {runs}.\n\nTrust it.")
    assert [(each.part.value, each.heading) for each in prompt.segments][:2] == [
        ("instructions", "Instructions"),
        ("summary", ""),
    ]


def test_griptapes_text_says_it_in_place_of_griptapes_sentence():
    assert build(format="text").text.startswith("User: Summary of the conversation so far: They met {runs}.\n\nUser: ")
    said = build(format="text", summary_template=TEMPLATE).text
    assert said.startswith("User: What happened before:\n\nThey met {runs}.\n\nTrust it.\n\nUser: one\n\n")


def test_a_summary_that_is_named_like_a_place_is_only_text():
    assert "so: {summary} {runs} {0} % \\1." in system_of(
        build("{summary} {runs} {0} % \\1", summary_template="so: {summary}.")
    )


def test_without_a_summary_the_template_is_not_sent():
    reader = InMemoryTranscript([exchange("one", "two")], "Be kind.")
    with_template, without = (
        build_prompt(reader=reader, settings=settings(summary_template=each), query="Go on.") for each in (TEMPLATE, "")
    )
    assert with_template.fingerprint == without.fingerprint


@pytest.mark.parametrize("template", ["", *SUMMARY_TEMPLATES])
@pytest.mark.parametrize("instructions", ["", "Be kind.", "Be kind.\n", "Be // kind. \n\n"])
@pytest.mark.parametrize("summary", ["/ They met.", "\n They met. ", "They met: "])
@pytest.mark.parametrize(
    ("model", "encoding"), [("gpt-4.1-mini", "o200k_base"), ("gpt-4", "cl100k_base"), ("gpt-oss-120b", "o200k_harmony")]
)
def test_its_tokens_are_counted_to_the_token(template: str, instructions: str, summary: str, model: str, encoding: str):
    prompt = build(summary, instructions, model=model, summary_template=template)
    assert prompt.encoding == encoding
    assert count_prompt("openai", prompt.messages or (), None, encoding) == prompt.tokens.total
    prompt = build(summary, instructions, model=model, summary_template=template, format="text")
    assert len(tiktoken.get_encoding(encoding).encode(prompt.text or "")) == prompt.tokens.total


def test_a_template_that_leaves_no_room_leaves_the_summary_out_and_warns():
    prompt = build(max_input_tokens=60, summary_template=f"{'word ' * 60}{{summary}}")
    assert prompt.covers_through is None
    assert WarningCode.SUMMARY_CUT in [warning.code for warning in prompt.warnings]


@pytest.mark.parametrize("template", ["Before:", "{summary} {summary}", "{summary} of {user}", "{{summary}}"])
def test_a_template_in_which_the_summary_does_not_stand_once_is_refused(template: str):
    with pytest.raises(InvalidInput) as refused:
        build(summary_template=template)
    assert [error.pointer for error in refused.value.errors] == ["/summary_template"]
