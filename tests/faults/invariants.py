"""What must hold of the rows at every moment, and what besides when nothing is left to do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.faults.endpoint import Call
from tests.faults.rows import UNFINISHED, EntryRow, Rows, SessionRow


class UnknownText(Exception):
    """Nobody has written this text."""


@dataclass
class Judge:
    """Knows who wrote which text: the endpoint's calls by their answer, and people's edits with the text before.

    It remembers what completed entries said, since none may ever say anything else.
    """

    calls: Mapping[str, Call]
    edits: Mapping[str, str]
    remembered: dict[int, tuple[str, int]] = field(default_factory=dict)

    def texts_behind(self, text: str) -> list[str]:
        """Return a text and those it was made from, newest first."""
        found = []
        while text:
            found.append(text)
            if text not in self.calls and text not in self.edits:
                raise UnknownText(text)
            text = self.calls[text].previous if text in self.calls else self.edits[text]
        return found

    def given(self, text: str) -> list[str]:
        """Return the marks of all runs that were given for a text and those behind it, in the order of the calls."""
        calls = [self.calls[each] for each in reversed(self.texts_behind(text)) if each in self.calls]
        return [mark for call in calls for mark in call.given]

    def faults(self, rows: Rows) -> Iterator[str]:
        """Yield what does not hold, in words."""
        for session in rows.sessions:
            marks = [run.mark for run in rows.lineage(session)]
            entries = rows.ledgers[session.id]
            for fault in (
                *_positions(rows, session),
                *_ledger(entries),
                *_chain(entries, session),
                *self._texts(entries, marks[: rows.finished(session)]),
            ):
                yield f"{session.name}: {fault}"

    def _texts(self, entries: list[EntryRow], marks: list[str]) -> Iterator[str]:
        by_id = {entry.id: entry for entry in entries}
        for entry in entries:
            if entry.status != "completed" or not entry.text.strip():
                continue
            try:
                yield from self._text(entry, by_id.get(entry.predecessor or 0), marks)
            except UnknownText as error:
                yield f"#{entry.number} says what nobody wrote: {str(error)[:80]!r}"

    def _text(self, entry: EntryRow, predecessor: EntryRow | None, marks: list[str]) -> Iterator[str]:
        if self.remembered.setdefault(entry.id, (entry.text, entry.covers_through)) != (
            entry.text,
            entry.covers_through,
        ):
            yield f"#{entry.number} was completed and has changed since"
        given, covered = self.given(entry.text), marks[: entry.covers_through]
        if given != covered:
            yield f"#{entry.number} covers {_short(covered)}; summarizers were given {_short(given)} for it"
        if len(covered) != entry.covers_through:
            yield f"#{entry.number} covers {entry.covers_through} of {len(covered)} finished runs"
        before = predecessor.text if predecessor else ""
        if entry.origin != "adopted" and before and before not in self.texts_behind(entry.text):
            yield f"#{entry.number} was not made from its predecessor #{predecessor and predecessor.number}"


def _positions(rows: Rows, session: SessionRow) -> Iterator[str]:
    positions = [run.position for run in rows.lineage(session)]
    if positions != list(range(1, session.last_position + 1)):
        yield f"its runs stand at {positions}, its last position is {session.last_position}"


def _ledger(entries: list[EntryRow]) -> Iterator[str]:
    unfinished = [entry.number for entry in entries if entry.status in UNFINISHED]
    if len(unfinished) > 1:
        yield f"{len(unfinished)} unfinished entries: {unfinished}"
    if [entry.number for entry in entries] != list(range(1, len(entries) + 1)):
        yield f"its entries are numbered {[entry.number for entry in entries]}"
    for entry in entries:
        if entry.status == "completed" and not entry.text.strip():
            yield f"#{entry.number} is completed without a text"


def _chain(entries: list[EntryRow], session: SessionRow) -> Iterator[str]:
    """Yield what is wrong with the chain in use: the entry in use, what it was made from, and nothing else."""
    by_id = {entry.id: entry for entry in entries}
    chain: list[EntryRow] = []
    head = session.summary
    while head is not None and len(chain) <= len(entries):
        if head not in by_id:
            yield "an entry in use belongs to another session"
            return
        chain.append(by_id[head])
        head = chain[-1].predecessor
    in_use = {entry.number for entry in entries if entry.status == "completed" and entry.retired_at is None}
    if in_use != {entry.number for entry in chain}:
        yield f"entries {sorted(in_use)} are in use, but the chain is {[entry.number for entry in chain]}"
    for newer, older in pairwise(chain):
        moved = newer.covers_through - older.covers_through
        if moved < 0 or (moved > 0) == (newer.origin == "edited"):
            yield f"#{newer.number} ({newer.origin}) covers {newer.covers_through} after {older.covers_through}"


def unsettled(rows: Rows) -> list[str]:
    """Return what is still to be done."""
    waiting = [f"{each.name} waits" for each in rows.sessions if each.wanted_at or each.next_attempt_at]
    entries = [entry for entry in rows.entries if entry.status in UNFINISHED]
    return waiting + [f"{rows.by_id[entry.session].name}: #{entry.number} is {entry.status}" for entry in entries]


def not_summarized(rows: Rows, defaults: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sessions whose settings ask for more than their summary holds, when nothing rests or waits."""
    for session in rows.sessions:
        settings = {**defaults, **session.settings}
        finished, covered = rows.finished(session), _covered(rows, session)
        if settings["strategy"] != "summary" or covered >= finished - settings["offset"]:
            continue
        for wanted, why in _wants(rows, session, settings, covered):
            if wanted:
                yield f"{session.name}: covered are 1-{covered} of {finished} under {settings}, {why}"


def _wants(rows: Rows, session: SessionRow, settings: Mapping[str, Any], covered: int) -> Iterator[tuple[bool, str]]:
    runs = rows.lineage(session)
    waiting = sum(run.tokens for run in runs[covered:] if run.status not in UNFINISHED)
    yield settings["summarize_at"] == 0, "and all that has aged is to be"
    if isinstance(settings.get("max_runs"), int):
        yield covered < rows.finished(session) - settings["max_runs"], "and capped runs are to be"
    if isinstance(settings.get("max_input_tokens"), int):
        share = settings["summarize_at"] * settings["max_input_tokens"]
        yield waiting > share, f"and the others need {waiting} tokens"


def _covered(rows: Rows, session: SessionRow) -> int:
    return max((each.covers_through for each in rows.ledgers[session.id] if each.id == session.summary), default=0)


def _short(marks: list[str]) -> str:
    return " ".join(marks) if len(marks) < 12 else f"{' '.join(marks[:5])} ... {' '.join(marks[-5:])} ({len(marks)})"
