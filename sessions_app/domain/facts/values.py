"""What a fact is, and what can have become of it in a summary."""

from dataclasses import dataclass
from enum import StrEnum

from sessions_app.domain.transcript import Role


class FactKind(StrEnum):
    """What a fact is about."""

    FIRST_PERSON = "first_person"
    NAME = "name"
    NUMBER = "number"
    DATE = "date"

    @property
    def label(self) -> str:
        """The kind as people read it."""
        return "statement" if self is FactKind.FIRST_PERSON else self.value


@dataclass(frozen=True, slots=True)
class Fact:
    """A short excerpt, one line, in the speaker's words; `position` is the run in which it was said first."""

    kind: FactKind
    text: str
    position: int
    speaker: Role


class FactState(StrEnum):
    """What became of a fact: of one that stood in the predecessor (kept, gone), of one newly covered (the others)."""

    GONE = "gone"
    MISSED = "missed"
    KEPT = "kept"
    KEPT_NEW = "kept_new"

    @property
    def is_kept(self) -> bool:
        """Whether the fact stands in the text."""
        return self in {FactState.KEPT, FactState.KEPT_NEW}

    @property
    def label(self) -> str:
        """The state as people read it."""
        return LABELS[self]


LABELS = {
    FactState.GONE: "gone",
    FactState.MISSED: "never in",
    FactState.KEPT: "kept",
    FactState.KEPT_NEW: "kept, new",
}


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact and what became of it."""

    fact: Fact
    state: FactState
