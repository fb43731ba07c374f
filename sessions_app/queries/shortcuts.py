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
    """What keys do, and on which pages; without any, on all of a project, or on all others, too (`anywhere`)."""

    keys: tuple[str, ...]
    does: str
    pages: tuple[str, ...] = ()
    anywhere: bool = False


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
    Shortcut(("G", "S"), "Sessions"),
    Shortcut(("G", "U"), "Summaries"),
    Shortcut(("G", "I"), "Import"),
    Shortcut(("G", "T"), "Settings"),
    Shortcut(("[",), "Sidebar", anywhere=True),
    Shortcut(("?",), "This list", anywhere=True),
    Shortcut(("Esc",), "Close", anywhere=True),
)


def shortcuts_of(page: str) -> Sequence[Shortcut]:
    """Return what works on this page and not on every one."""
    return [shortcut for shortcut in SHORTCUTS if page in shortcut.pages]


def shortcuts_everywhere(*, in_project: bool) -> Sequence[Shortcut]:
    """Return what works on every page of a project, or on every page there is."""
    return [shortcut for shortcut in SHORTCUTS if not shortcut.pages and (in_project or shortcut.anywhere)]
