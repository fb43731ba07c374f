"""Which of the features a run or a conversation really has, read from the plain data."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.properties.conversations import HUGE, MEGABYTE, texts_of

CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
EMOJI = re.compile("[\U0001f1e6-\U0001faff]")

OF_RUNS = (
    "tools",
    "parallel calls",
    "repeated ids",
    "unanswered calls",
    "arguments that are no JSON",
    "CJK",
    "emoji",
    "images",
    "huge messages",
    "empty texts",
    "special tokens",
    "a megabyte of spaces",
    "opaque reasoning",
    "system messages inside",
    "failed runs",
    "cancelled runs",
    "open runs",
)
FEATURES = (*OF_RUNS, "forks", "summaries")


def features_of(conversation: Mapping[str, Any]) -> set[str]:
    """Return the features of a conversation."""
    found = set[str]().union(*map(run_features, conversation["runs"]))
    ids = [each["call"]["id"] for run in conversation["runs"] for each in run["events"] if each["call"]]
    found |= {"repeated ids"} if len(set(ids)) < len(ids) else set()
    found |= {"forks"} if conversation["shared"] is not None else set()
    return found | ({"summaries"} if conversation["summaries"] else set())


def run_features(run: Mapping[str, Any]) -> set[str]:
    """Return the features of a run by itself."""
    status = {"failed": "failed runs", "cancelled": "cancelled runs", "pending": "open runs", "running": "open runs"}
    calls = [each for each in run["events"] if each["kind"] == "call"]
    texts = [text for event in run["events"] for text in texts_of(event)]
    found = {*_of_calls(calls), *_of_texts(texts), *_of_events(run["events"])}
    return found | ({status[run["status"]]} if run["status"] in status else set())


def _of_calls(calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    parents = [call["parent"] for call in calls if call["parent"] is not None]
    ids = [call["call"]["id"] for call in calls]
    yield from ["tools"] if calls else []
    yield from ["parallel calls"] if len(set(parents)) < len(parents) else []
    yield from ["repeated ids"] if len(set(ids)) < len(ids) else []
    if any(each["call"]["result"] is None and each["call"]["error"] is None for each in calls):
        yield "unanswered calls"
    if not all(_is_json(each["call"]["arguments"]) for each in calls):
        yield "arguments that are no JSON"


def _of_texts(texts: Sequence[str]) -> Iterator[str]:
    if any(CJK.search(text) for text in texts):
        yield "CJK"
    if any(EMOJI.search(text) for text in texts):
        yield "emoji"
    if any("<|" in text for text in texts):
        yield "special tokens"
    if any(len(text) > MEGABYTE for text in texts):
        yield "a megabyte of spaces"
    if any(HUGE < len(text) < MEGABYTE for text in texts):
        yield "huge messages"


def _of_events(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for event in events:
        if event["kind"] == "reasoning":
            yield "opaque reasoning"
        if event["role"] == "system":
            yield "system messages inside"
        if event["kind"] == "message" and not event["text"].strip():
            yield "empty texts"
        if any(part["type"] == "image_url" for part in event["content"] or ()):
            yield "images"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
