"""The keyboard shortcuts: the one table that the help sheet, the commands and the documentation are made of."""

from collections.abc import Sequence
from dataclasses import dataclass

# Pages are named as their addresses are.
LIST = ("sessions",)
RUNS = ("session", "session-fork")
LEDGER = ("summary-ledger",)
PAST = ("then",)
BENCH = ("tune", "tune-why", "tune-compare", "tune-replay", "tune-profile")
OF_SESSIONS = (*RUNS, *LEDGER, *PAST, "session-versions")


@dataclass(frozen=True, slots=True)
class Shortcut:
    """What keys do, and on which pages; without any, on all. Keys of a `sequence` are pressed one after the other."""

    keys: tuple[str, ...]
    does: str
    pages: tuple[str, ...] = ()
    sequence: bool = False


SHORTCUTS: Sequence[Shortcut] = (
    Shortcut(("J", "K"), "Next, previous row", LIST),
    Shortcut(("J", "K"), "Next, previous run", RUNS),
    Shortcut(("J", "K"), "Next, previous entry", LEDGER),
    Shortcut(("J", "K"), "Next, previous turn", PAST),
    Shortcut(("→", "←"), "Expand, collapse", LIST),
    Shortcut(("↵",), "Open", (*LIST, *LEDGER)),
    Shortcut(("Space",), "Tick for tags, export, deletion", LIST),
    Shortcut(("N", "P"), "Next, previous lost run, or run with the words looked for", RUNS),
    Shortcut(("X",), "Open or close tool results", RUNS),
    Shortcut(("W",), "What the model saw then", RUNS),
    Shortcut(("T",), "Tune", OF_SESSIONS),
    Shortcut(("F",), "Fork here", RUNS),
    Shortcut(("E",), "Export as OpenAI JSONL", RUNS),
    Shortcut(("]",), "Inspector", RUNS),
    Shortcut(("1", "2", "3", "4"), "Prompt, Why, Compare, Replay", BENCH),
    Shortcut(("⌘ S",), "Save the draft", BENCH),
    Shortcut(("⌘ K",), "Commands"),
    Shortcut(("/",), "Search"),
    Shortcut(("G", "S"), "Sessions", sequence=True),
    Shortcut(("G", "U"), "Summaries", sequence=True),
    Shortcut(("G", "I"), "Import", sequence=True),
    Shortcut(("G", "T"), "Settings", sequence=True),
    Shortcut(("[",), "Sidebar"),
    Shortcut(("?",), "This list"),
    Shortcut(("Esc",), "Close"),
)


def shortcuts_of(page: str) -> Sequence[Shortcut]:
    """Return what works on this page and not on every one."""
    return [shortcut for shortcut in SHORTCUTS if page in shortcut.pages]


def shortcuts_everywhere() -> Sequence[Shortcut]:
    """Return what works on every page of a project."""
    return [shortcut for shortcut in SHORTCUTS if not shortcut.pages]
