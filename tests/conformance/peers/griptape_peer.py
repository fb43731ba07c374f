"""Answers what Griptape does: a JSON object a line in, its answer a line out. Runs in an environment of its own.

Importing Griptape patches `json` for the whole process, so nobody else may.
"""

import json
import logging
import re
import sys
from typing import Any

from attrs import define, field
from griptape.artifacts import TextArtifact
from griptape.common import Message, PromptStack
from griptape.drivers.prompt.openai import OpenAiChatPromptDriver
from griptape.memory.structure import ConversationMemory, Run, SummaryConversationMemory
from griptape.tokenizers import OpenAiTokenizer

logging.disable(logging.CRITICAL)


@define
class Recorder:
    """Stands for a prompt driver: notes which runs it is to summarize, and answers or fails."""

    failing: set[int]
    calls: list[list[str]] = field(factory=list)

    def run(self, prompt_stack: PromptStack) -> Message:
        text = prompt_stack.messages[0].to_text()
        self.calls.append(re.findall(r"summary \d+|question \d+", text))
        if len(self.calls) in self.failing:
            raise RuntimeError("the summarizer fails")
        return Message(f"summary {len(self.calls)}", role=Message.ASSISTANT_ROLE)


def driver(model: str, limit: int) -> OpenAiChatPromptDriver:
    tokenizer = OpenAiTokenizer(model=model, max_input_tokens=limit)
    return OpenAiChatPromptDriver(model=model, api_key="none", tokenizer=tokenizer)


def memory_of(asked: dict[str, Any]) -> ConversationMemory | SummaryConversationMemory:
    runs = [Run(input=TextArtifact(given), output=TextArtifact(answer)) for given, answer in asked["runs"]]
    if asked.get("summary") is None:
        return ConversationMemory(runs=runs, autoload=False, autoprune=asked.get("autoprune", True))
    return SummaryConversationMemory(
        runs=runs,
        autoload=False,
        summary=asked["summary"],
        summary_index=asked["summary_index"],
        prompt_driver=Recorder(set()),
    )


def stack_of(base: list[list[str]]) -> PromptStack:
    return PromptStack(messages=[Message(text, role=role) for role, text in base])


def told(stack: PromptStack) -> list[list[str]]:
    return [[message.role, message.to_text()] for message in stack.messages]


def to_prompt_stack(asked: dict[str, Any]) -> dict[str, Any]:
    """The memory's messages, and the string that they are as a prompt."""
    stack = memory_of(asked).to_prompt_stack(asked["last_n"])
    return {"messages": told(stack), "text": driver(asked["model"], 1).prompt_stack_to_string(stack)}


def add_to_prompt_stack(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages with the memory inserted, under each of the limits."""
    memory, answers = memory_of(asked), []
    for limit in asked["limits"]:
        stack = memory.add_to_prompt_stack(driver(asked["model"], limit), stack_of(asked["base"]), asked["index"])
        text = driver(asked["model"], limit).prompt_stack_to_string(stack)
        answers.append({"messages": told(stack), "text": text})
    return answers


def add_runs(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """What the summarizer is called with, and the index, after each of the adds."""
    recorder = Recorder(set(asked["failing"]))
    memory = SummaryConversationMemory(
        autoload=False, offset=asked["offset"], max_runs=asked["max_runs"], prompt_driver=recorder
    )
    steps = []
    for number in range(1, asked["adds"] + 1):
        before = len(recorder.calls)
        memory.add_run(Run(input=TextArtifact(f"question {number}"), output=TextArtifact("answer")))
        steps.append({"calls": recorder.calls[before:], "index": memory.summary_index})
    return steps


OPERATIONS = {each.__name__: each for each in (to_prompt_stack, add_to_prompt_stack, add_runs)}


def answer(line: str) -> dict[str, Any]:
    asked = json.loads(line)
    try:
        return {"answer": OPERATIONS[asked["operation"]](asked)}
    except Exception as error:  # noqa: BLE001 (what the package raises is an answer too)
        return {"error": f"{type(error).__name__}: {error}"}


for each in sys.stdin:
    print(json.dumps(answer(each)), flush=True)
