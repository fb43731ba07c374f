"""Griptape's conversation memory: the record of a driver, or a memory as its `to_dict` gives it.

A record has no id, and its runs have no times. It is known again by its first run, whose id and input stay when it
grows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessions_app.domain.conversation_files import Conversation, FileFormat, refusing_depth
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.foreign_files import cleaned, cleaning_notes, hash_of, items_of, json_text, text_of
from sessions_app.domain.json_heads import first_object
from sessions_app.domain.json_streams import json_rows
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus

MEMORIES = ("ConversationMemory", "SummaryConversationMemory")
ERROR, LIST, IMAGE, IMAGE_URL = "ErrorArtifact", "ListArtifact", "ImageArtifact", "ImageUrlArtifact"
TEXTS = (
    "TextArtifact",
    "InfoArtifact",
    "ErrorArtifact",
    "GenericArtifact",
    "JsonArtifact",
    "BooleanArtifact",
    "UrlArtifact",
)
# Where the metadata of a session and of a run keep what has no place of its own.
OTHERS = "griptape"

_SEPARATOR = "\n\n"


def recognises(head: bytes, file_name: str) -> bool:  # noqa: ARG001 (the signature of the table)
    """Tell a memory by its type, or by runs that have an input or an output of an artifact's type."""
    first = first_object(head)
    if first.get("type") in MEMORIES:
        return True
    runs = first.get("runs")
    run = runs[0] if isinstance(runs, list) and runs else None
    sides = [run.get(side) for side in ("input", "output")] if isinstance(run, Mapping) else []
    return any(isinstance(side, Mapping) and str(side.get("type")).endswith("Artifact") for side in sides)


@dataclass(slots=True)
class _Artifact:
    """What an artifact says: texts and images, and the types of those in it of which nothing else could be kept."""

    texts: list[str] = field(default_factory=list)
    parts: list[Mapping[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    separator: str = _SEPARATOR

    def event(self, role: Role) -> Event:
        if len(self.parts) == len(self.texts):
            return Event(EventKind.MESSAGE, self.separator.join(self.texts), role)
        return Event(EventKind.MESSAGE, "\n".join(self.texts), role, tuple(self.parts))

    def add_text(self, text: str) -> None:
        self.texts.append(text)
        self.parts.append({"type": "text", "text": text})

    def add_image(self, address: str) -> None:
        self.parts.append({"type": "image_url", "image_url": {"url": address}})

    def add(self, artifact: Any, where: str) -> None:
        kind = artifact.get("type") if isinstance(artifact, Mapping) else None
        if not isinstance(kind, str):
            raise InvalidInput(f"{where} must be an artifact: an object with a type and a value.")
        value = artifact.get("value")
        if kind == LIST and isinstance(value, list):
            for item in value:
                self.add(item, where)
        elif kind == IMAGE and isinstance(value, str) and text_of(artifact, "format").isalnum():
            self.add_image(f"data:image/{artifact['format']};base64,{value}")
        elif kind == IMAGE_URL and isinstance(value, str):
            self.add_image(value)
        elif kind in TEXTS:
            self.add_text("" if value is None else json_text(value))
        else:
            self.left_out.append(kind)
            self.add_text(f"[{kind} not imported]")


@refusing_depth
def conversation(given: Any) -> Conversation:
    """Read one memory."""
    row = cleaned(given, "a memory: an object with runs")
    if "runs" not in row:
        raise InvalidInput("It has no runs: a list of them is needed, maybe an empty one.")
    left_out: list[str] = []
    runs = tuple(_run(number, run, left_out) for number, run in enumerate(items_of(row, "runs"), 1))
    if not runs:
        raise InvalidInput("It has no runs.")
    others = {name: value for name, value in row.items() if name != "runs" and value not in (None, {})}
    return Conversation(
        source_id=_identity(row),
        instructions="",
        runs=runs,
        metadata={OTHERS: others} if others else {},
        notes=(*cleaning_notes(given, row), *_notes(row, left_out)),
    )


def _run(number: int, run: Any, left_out: list[str]) -> NewRun:
    where = f"Run {number}"
    if not isinstance(run, Mapping):
        raise InvalidInput(f"{where} must be an object with an input and an output.")
    kept = {name: run[name] for name in ("id", "meta") if run.get(name) is not None}
    events: list[Event] = []
    error = ""
    for side, role in (("input", Role.USER), ("output", Role.ASSISTANT)):
        artifact = run.get(side)
        if artifact is None:
            continue
        said = _Artifact(separator=_separator(artifact))
        said.add(artifact, f"The {side} of run {number}")
        left_out += said.left_out
        if artifact["type"] != "TextArtifact":
            kept[f"{side}_type"] = artifact["type"]
        if side == "output" and artifact["type"] == ERROR:
            error = said.texts[0] or ERROR
        else:
            events.append(said.event(role))
    status = RunStatus.FAILED if error else RunStatus.COMPLETED
    return NewRun(tuple(events), status, error=error, metadata={OTHERS: kept} if kept else {})


def _separator(artifact: Any) -> str:
    separator = artifact.get("item_separator") if isinstance(artifact, Mapping) else None
    return separator if isinstance(separator, str) else _SEPARATOR


def _identity(row: Mapping[str, Any]) -> str:
    """Return what stays when a memory grows; all that it says if its first run has no id."""
    first = row["runs"][0]
    return hash_of([first["id"], first.get("input")] if first.get("id") else row)


def _notes(row: Mapping[str, Any], left_out: list[str]) -> Iterator[str]:
    if row.get("summary"):
        yield "The summary of the file is kept in the metadata; the session makes its own."
    if left_out:
        kinds = ", ".join(sorted(set(left_out)))
        yield f"Artifacts of which only a marked place was kept: {len(left_out)} ({kinds[:200]})."


GRIPTAPE = FileFormat(
    name="griptape",
    label="Griptape memory",
    files="JSON",
    about="The record of a driver, or a memory as its to_dict gives it. A run with an error is a failed run.",
    recognises=recognises,
    rows=json_rows,
    conversation=conversation,
)
