"""Judges the fates that an answer tells, from the markers that really stand in the prompt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.properties.handed_down import covered_by
from tests.properties.sent import Sent
from tests.properties.wanted import Marks, Want, markers, marks_of, past_of, wants

SHORTENED = "[shortened]"
MOST_EXTRACTED = 200


@dataclass(frozen=True)
class Judged:
    """A prompt beside what could be in it."""

    conversation: Mapping[str, Any]
    sent: Sent

    @cached_property
    def finished(self) -> int:
        return past_of(self.conversation, self.sent.asked).finished

    @cached_property
    def covered(self) -> int:
        return covered_by(self.conversation, self.sent)

    @cached_property
    def wanted(self) -> list[Want]:
        return wants(past_of(self.conversation, self.sent.asked), self.sent.asked["settings"], self.covered)

    @cached_property
    def told(self) -> dict[int, str]:
        ranges = self.sent.answer["fates"]
        return {at: each["fate"] for each in ranges for at in range(each["first"], each["last"] + 1)}

    @cached_property
    def extracted(self) -> range:
        extract = self.sent.extract
        return range(extract[0], extract[1] + 1) if extract else range(0)

    @cached_property
    def open_position(self) -> int | None:
        """The open run, if it is there; a prompt of a past turn knows of none."""
        is_open = self.finished < len(self.conversation["runs"]) and self.sent.asked["at"] is None
        return self.finished + 1 if is_open else None

    @property
    def codes(self) -> set[str]:
        return {warning["code"] for warning in self.sent.answer["warnings"]}

    def marks(self, position: int, places: Sequence[int]) -> Marks:
        return marks_of(self.conversation["runs"][position - 1], places, self.sent.asked["settings"])

    def markers_of(self, position: int) -> frozenset[str]:
        return self.in_body.get(position, frozenset())

    @cached_property
    def in_body(self) -> dict[int, frozenset[str]]:
        return {
            position: frozenset(each for each in self.all_markers if each.startswith(f"q{position}n"))
            for position in set(self.sent.positions)
        }

    @cached_property
    def all_markers(self) -> frozenset[str]:
        return markers([self.sent.body])


def fate_faults(judged: Judged) -> Iterator[str]:
    """Every run has exactly one fate, the right one, with a reason."""
    yield from _form_faults(judged)
    kept = [want for want in judged.wanted if judged.told.get(want.position) == "kept"]
    if kept != judged.wanted[: len(kept)]:
        yield f"fates: kept are {[want.position for want in kept]} of {[want.position for want in judged.wanted]}"
    yield from _word_faults(judged, kept)
    for position in range(1, judged.finished + 1):
        right = _right_fate(judged, position, is_kept=position in {want.position for want in kept})
        if judged.told.get(position) != right:
            yield f"fates: run {position} is {right}, told is {judged.told.get(position)}"
    yield from _open_faults(judged)
    yield from _warning_faults(judged, kept)
    yield from _extract_faults(judged, kept)


def _form_faults(judged: Judged) -> Iterator[str]:
    ranges = judged.sent.answer["fates"]
    told = [position for each in ranges for position in range(each["first"], each["last"] + 1)]
    if told != list(range(1, (judged.open_position or judged.finished) + 1)):
        yield f"fates: told of {told}"
    if not all(each["reason"].strip() for each in ranges):
        yield "fates: a reason is missing"
    unseen = sum(fate in ("capped", "skipped", "pruned", "lost") for fate in judged.told.values())
    if unseen != judged.sent.answer["unseen"]:
        yield f"fates: {judged.sent.answer['unseen']} unseen are told, {unseen} are"


def _right_fate(judged: Judged, position: int, *, is_kept: bool) -> str:
    """Return the first fate that holds."""
    settings, age = judged.sent.asked["settings"], judged.finished - position
    if is_kept:
        return "kept"
    if position <= judged.covered:
        return "summarized"
    if settings["max_runs"] != "unlimited" and age >= settings["max_runs"]:
        return "capped"
    if position not in {want.position for want in judged.wanted}:
        return "skipped"
    if position in judged.extracted:
        return "summarized"
    return "lost" if settings["strategy"] == "summary" else "pruned"


def _word_faults(judged: Judged, kept: Sequence[Want]) -> Iterator[str]:
    """A run that is kept is there with all that is wanted of it and nothing else, any other is not there at all."""
    is_cut = "newest_run_shortened" in judged.codes
    for want in kept:
        marks, found = judged.marks(want.position, want.places), judged.markers_of(want.position)
        if not found <= marks.may:
            yield f"fates: run {want.position} is sent with {sorted(found - marks.may)}"
        if not marks.must <= found and not (is_cut and want is kept[0]):
            yield f"fates: run {want.position} is kept without {sorted(marks.must - found)}"
    if is_cut and not (kept and _is_trace_of(judged, kept[0])):
        yield "fates: a run is said to be shortened, and none is"
    there = {position for position in judged.in_body if position <= judged.finished}
    strangers = there - {want.position for want in kept}
    if strangers:
        yield f"fates: {sorted(strangers)} are sent and told to be otherwise"


def _is_trace_of(judged: Judged, want: Want) -> bool:
    """Whether something of a cut run is there; of one that says nothing, nothing can be."""
    events = [judged.conversation["runs"][want.position - 1]["events"][place] for place in want.places]
    said = [event["text"] for event in events if event["role"] in ("user", "assistant") and event["text"].strip()]
    return SHORTENED in judged.sent.body or bool(judged.markers_of(want.position)) or not said


def _open_faults(judged: Judged) -> Iterator[str]:
    """The open run, or the input of the past turn, is the tail of the prompt unless a query is."""
    asked, position = judged.sent.asked, judged.finished + 1
    if position > len(judged.conversation["runs"]):
        return
    events = judged.conversation["runs"][position - 1]["events"]
    said = markers([event["text"] for event in events if event["role"] == "user"])
    found = judged.markers_of(position)
    if asked["query"] is not None and found:
        yield f"fates: the open run {position} is sent beside a query"
    if asked["query"] is None and not said <= found:
        yield f"fates: the open run {position} is sent without {sorted(said - found)}"
    if asked["query"] is None and asked["at"] is not None and not found <= said:
        yield f"fates: of the turn {position} more than its input is sent"
    if judged.open_position:
        right = "kept" if asked["query"] is None else "skipped"
        if judged.told.get(position) != right:
            yield f"fates: the open run {position} is {right}, told is {judged.told.get(position)}"
        if ("open_run_skipped" in judged.codes) != (right == "skipped"):
            yield "warnings: of the open run"


def _warning_faults(judged: Judged, kept: Sequence[Want]) -> Iterator[str]:
    lost = [position for position, fate in judged.told.items() if fate == "lost"]
    details = {warning["code"]: warning["detail"] for warning in judged.sent.answer["warnings"]}
    names = f"Run {lost[0]} " if len(lost) == 1 else f"Runs {lost[0]}-{lost[-1]} " if lost else ""
    if bool(lost) != ("runs_lost" in details) or (lost and names not in details["runs_lost"]):
        yield f"warnings: {lost} are lost"
    if bool(judged.wanted and not kept) != ("newest_run_dropped" in details):
        yield "warnings: of the newest run that is dropped"
    settings = judged.sent.asked["settings"]
    if not settings["autoprune"] and ({"pruned", "lost"} & set(judged.told.values()) or judged.extracted):
        yield "refusals: runs are dropped though that is forbidden"
    if settings["on_gap"] == "error" and (lost or judged.extracted):
        yield "refusals: runs are lost though that is to be an error"


def _extract_faults(judged: Judged, kept: Sequence[Want]) -> Iterator[str]:
    """An extract is warned of, wanted, and of the runs that it names, the newest of those that are dropped."""
    extract, extracted = judged.sent.extract, judged.extracted
    if bool(extracted) != ("runs_extracted" in judged.codes):
        yield "warnings: of an extract"
    if extract is None:
        return
    dropped = [want.position for want in judged.wanted if want not in kept]
    if sorted(dropped)[-MOST_EXTRACTED:] != list(extracted):
        yield f"fates: the extract is of {extracted}, dropped are {dropped}"
    if not markers([extract[2]]) <= _markers_among(judged):
        yield "fates: the extract is of other runs than it says"
    if judged.sent.asked["settings"]["on_gap"] != "stopgap":
        yield "fates: an extract that nobody asked for"


def _markers_among(judged: Judged) -> frozenset[str]:
    texts = [
        text
        for position in judged.extracted
        for event in judged.conversation["runs"][position - 1]["events"]
        for text in (event["text"], *(event["call"] or {}).values())
        if isinstance(text, str)
    ]
    errors = [judged.conversation["runs"][position - 1]["error"] for position in judged.extracted]
    return markers([*texts, *errors])
