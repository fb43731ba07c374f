"""Judges who says what: questions are the user's, answers the assistant's, results results, system messages marked."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.properties.fates import Judged
from tests.properties.wanted import PROVIDER_FORMATS, markers
from tests.provider_rules import all_told

SPEAKERS = {"user": "user", "system": "user", "assistant": "assistant"}
SYSTEM = "[system message]\n"


def speaker_faults(judged: Judged) -> Iterator[str]:
    """Judge each marked text of the runs by where it stands."""
    sent = judged.sent
    of_system = [
        each["text"] for run in judged.conversation["runs"] for each in run["events"] if each["role"] == "system"
    ]
    if sent.format != "seed":
        unmarked = [each for each in markers(of_system) & judged.all_markers if SYSTEM + each not in sent.body]
        yield from (f"speakers: the system message {each} is not marked" for each in unmarked)
    if sent.format not in PROVIDER_FORMATS:
        return
    right = {marker: place for run in judged.conversation["runs"] for marker, place in _places(run)}
    for told in all_told(sent.own, sent.format):
        place = "result" if told.what == "result" else told.speaker
        for marker in markers([told.text]):
            if right.get(marker, place) != place and told.speaker != "system":
                yield f"speakers: {marker} is the {place}'s, and should be the {right[marker]}'s"


def _places(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((marker, "assistant") for marker in markers([run["error"]]))
    for event in run["events"]:
        if event["role"]:
            yield from ((marker, SPEAKERS[event["role"]]) for marker in markers([event["text"]]))
        if event["call"]:
            results = [text for text in (event["call"]["result"], event["call"]["error"]) if text]
            yield from ((marker, "result") for marker in markers(results))
