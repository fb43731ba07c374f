"""Times Griptape in an environment of its own: a JSON object in, seconds out."""

import json
import logging
import sys
import time

from griptape.artifacts import TextArtifact
from griptape.common import Message, PromptStack
from griptape.drivers.prompt.openai import OpenAiChatPromptDriver
from griptape.memory.structure import ConversationMemory, Run
from griptape.tokenizers import OpenAiTokenizer

logging.disable(logging.CRITICAL)

asked = json.load(sys.stdin)
tokenizer = OpenAiTokenizer(model=asked["model"], max_input_tokens=asked["limit"])
driver = OpenAiChatPromptDriver(model=asked["model"], api_key="none", tokenizer=tokenizer)
memory = ConversationMemory(autoload=False)
start = time.perf_counter()
for question, answer in asked["turns"]:
    memory.add_run(Run(input=TextArtifact(question), output=TextArtifact(answer)))
written = time.perf_counter() - start


def build() -> PromptStack:
    stack = PromptStack(messages=[Message(asked["query"], role=Message.USER_ROLE)])
    return memory.add_to_prompt_stack(driver, stack, 0)


tokenizer.count_tokens("warm up")
taken = []
for _ in range(asked["rounds"]):
    start = time.perf_counter()
    stack = build()
    taken.append(time.perf_counter() - start)
kept = (len(stack.messages) - 1) // 2
print(json.dumps({"seconds": min(taken), "kept": kept, "write": written / len(asked["turns"])}))
