"""What a property run has seen, counted, and how it is printed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.properties.features import FEATURES
from tests.properties.requests import FORMATS, STRATEGIES

LAWS = ("budget", "validity", "fates", "gaps", "order", "warnings", "refusals", "exception")
MOST_SHOWN = 20


@dataclass
class Tally:
    """Counts of prompts, refusals and faults; `examples` are the first of the faults, with how to see them again."""

    built: int = 0
    cut: int = 0
    runs: int = 0
    cells: Counter[tuple[str, str]] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    tenths: Counter[int] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, asked: Mapping[str, Any], answer: Mapping[str, Any], features: set[str], sent: set[str]) -> None:
        """Count an answer."""
        if answer["refusal"]:
            self.refusals[answer["refusal"]] += 1
            return
        codes = {warning["code"] for warning in answer["warnings"]}
        fates = Counter({each["fate"]: 0 for each in answer["fates"]})
        for each in answer["fates"]:
            fates[each["fate"]] += each["last"] - each["first"] + 1
        self.built += 1
        self.runs += fates.total()
        self.cut += bool(codes & {"newest_run_shortened", "runs_extracted"} or {"pruned", "lost"} & set(fates))
        self.cells[asked["settings"]["strategy"], asked["settings"]["format"]] += 1
        self.tenths[min(9, answer["tokens"]["total"] * 10 // max(1, answer["budget"]))] += 1
        self.fates += fates
        self.warnings += Counter(codes)
        self.features += Counter(features)
        self.sent += Counter(sent)

    def blame(self, faults: list[str], where: str) -> None:
        """Count faults by the law that they break."""
        for fault in faults:
            self.faults[fault.partition(":")[0]] += 1
            if len(self.examples) < MOST_SHOWN:
                self.examples.append(f"{where}: {fault}")

    def merge(self, other: "Tally") -> None:
        """Add what another part of the run has seen."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def shortcomings(self) -> list[str]:
        """Return which of the promises on what is tried are not kept."""
        found = (
            [] if self.cut * 2 >= self.built else [f"only {self.cut} of {self.built} budgets end inside the history"]
        )
        rare = [name for name in FEATURES if self.features[name] * 10 < self.built]
        found += [f"{name}: only in {self.features[name]} of {self.built} prompts" for name in rare]
        empty = [(strategy, shape) for strategy in STRATEGIES for shape in FORMATS if not self.cells[strategy, shape]]
        return [*found, *(f"no prompt of {strategy} in {shape}" for strategy, shape in empty)]

    def lines(self) -> Iterator[str]:
        """Yield the histogram."""
        yield f"{self.built:,} prompts, {self.runs:,} fates; the budget ends inside the history in {self.cut:,}"
        yield ""
        yield f"{'prompts':14}" + "".join(f"{shape:>11}" for shape in FORMATS)
        for strategy in STRATEGIES:
            yield f"{strategy:14}" + "".join(f"{self.cells[strategy, shape]:11,}" for shape in FORMATS)
        yield from _table("fates of runs", self.fates)
        yield from _table("warnings, in prompts", self.warnings)
        yield from _table("refusals", self.refusals)
        yield ""
        yield "budget used, in tenths: " + "  ".join(f"{tenth / 10}: {self.tenths[tenth]:,}" for tenth in range(10))
        yield ""
        yield f"{'features':28}{'prompts':>9}{'sent in':>9}"
        yield from (f"{name:28}{self.features[name]:9,}{self.sent[name]:9,}" for name in FEATURES)
        yield ""
        names = list(dict.fromkeys([*LAWS, *self.faults]))
        yield "faults: " + "  ".join(f"{name}: {self.faults[name]}" for name in names)
        yield from self.examples


def _table(title: str, counts: Counter[str]) -> Iterator[str]:
    yield ""
    yield f"{title}: " + "  ".join(f"{name}: {count:,}" for name, count in counts.most_common())
