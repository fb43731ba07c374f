"""What a run prints: what happened, counted, and what should not have."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.faults.rows import Rows


@dataclass
class Report:
    """Counts by a name of the thing counted; `faults` are sentences."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def tell_kills(self) -> None:
        """Tell how often was killed, and how often judged."""
        counts = self.counts
        self.lines += [
            f"kills: {counts['kills']}, {counts['kills at work']} of them left an entry running",
            f"judged: all rows {counts['judgements']} times, {counts['prompts']} prompts",
        ]

    def tell_requests(self, asked: Mapping[tuple[str, int], int], answered: Counter[str]) -> None:
        """Tell what people asked of the API, and what the endpoint answered."""
        actions: Counter[str] = Counter()
        for (action, _), number in asked.items():
            actions[action] += number
        refused = sum(number for (_, status), number in asked.items() if status >= 400)
        self.lines += [
            f"people: {sum(asked.values())} requests, {refused} refused: {listed(actions)}",
            f"endpoint: {sum(answered.values())} calls: {listed(answered)}",
        ]

    def tell_rows(self, rows: Rows) -> None:
        """Tell what stands in the database."""
        found = (f"{e.status}, {e.origin}" if e.status == "completed" else e.status for e in rows.entries)
        attempts = sum(entry.attempts for entry in rows.entries)
        entries = f"{len(rows.entries)} entries in {attempts} attempts"
        self.lines += [
            f"rows: {len(rows.sessions)} sessions, {len(rows.runs)} runs, {entries}",
            *(f"  entries {state}: {number}" for state, number in Counter(found).most_common()),
            *(f"  failed: {error}: {number}" for error, number in Counter(_errors(rows)).most_common()),
        ]


def listed(counts: Counter[str]) -> str:
    """Return counts in one line, the largest first."""
    return ", ".join(f"{name} {number}" for name, number in counts.most_common()) or "none"


def _errors(rows: Rows) -> Iterator[str]:
    return (entry.error[:90] for entry in rows.entries if entry.status == "failed")
