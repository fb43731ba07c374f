"""What must hold of the prompts: with room for all, every run is in the summary or word for word, never in both."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.faults.marks import marks_in
from tests.faults.rows import Rows, SessionRow

ROOM_FOR_ALL = {
    "strategy": "summary",
    "max_input_tokens": "unlimited",
    "max_runs": "unlimited",
    "last_n": "unlimited",
    "format": "openai",
}

Ask = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]


def prompt_faults(rows: Rows, session: SessionRow, ask: Ask) -> Iterator[str]:
    """Yield what does not hold of a session's next prompt, in words."""
    answer = ask(session.name, ROOM_FOR_ALL)
    if answer is None:
        yield f"{session.name}: no prompt could be built"
        return
    marks = [run.mark for run in rows.lineage(session)]
    sent = Counter(marks_in(json.dumps(answer["messages"])))
    if wrong := [f"{mark} {sent[mark]} times" for mark in marks if sent[mark] != 1]:
        yield f"{session.name}: the prompt of {len(marks)} runs holds {', '.join(wrong[:6])}"
    told = [(run, fates["fate"]) for fates in answer["fates"] for run in range(fates["first"], fates["last"] + 1)]
    if [run for run, _ in told] != list(range(1, len(marks) + 1)):
        yield f"{session.name}: the prompt tells a fate of {[run for run, _ in told]}, there are {len(marks)} runs"
    texts = marks_in(json.dumps([message for message in answer["messages"] if message["role"] != "system"]))
    if (kept := [marks[run - 1] for run, fate in told if fate == "kept"]) != texts:
        yield f"{session.name}: the prompt holds {texts} word for word and tells of {kept}"
