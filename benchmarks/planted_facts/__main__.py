"""Print the table and write it and its curve into the documents: `python -m benchmarks.planted_facts`."""

import os
import re
import sys
import tempfile
from pathlib import Path

from benchmarks.planted_facts import first_sentences
from benchmarks.planted_facts.conversations import conversations
from benchmarks.planted_facts.drawing import drawing
from benchmarks.planted_facts.survival import SHOWN, Fate, curve, fates, table
from convoweb import vocabularies
from sessions_app.domain.summarizers import extractive

DOCS = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = DOCS / "summarizers.md", DOCS / "images" / "planted-facts.svg"
TABLE = re.compile(r"(?<=<!-- make facts -->\n).*?(?=<!-- end -->)", re.DOTALL)

OURS, BASELINE = "extractive", "first sentences"
SUMMARIZERS = {OURS: extractive.summarize, BASELINE: first_sentences.summarize}
PROMISED = 0.8


def main() -> int:
    """Return 1 if what docs/summarizers.md promises does not hold."""
    with tempfile.TemporaryDirectory(prefix="convoweb-facts-") as folder:
        # Where tiktoken looks for its vocabularies, which it would fetch from the network otherwise.
        os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabularies.install(Path(folder)))
        found = list(fates(conversations(), SUMMARIZERS))
    lines = "\n".join(table(found, tuple(SUMMARIZERS)))
    print(lines)
    publish(found, lines)
    return int(not promise_holds(found))


def publish(found: list[Fate], lines: str) -> None:
    """Put the table and the curve where readers find them."""
    PAGE.write_text(TABLE.sub(lambda _: f"\n{lines}\n\n", PAGE.read_text()))
    title = f"Facts still in the summary, of {len(found)} that were said once"
    PICTURE.write_text(drawing(title, {name: curve(found, name) for name in SUMMARIZERS}, SHOWN))


def promise_holds(found: list[Fate]) -> bool:
    """Whether our summarizer is ahead of the baseline after every step, and keeps enough to the end."""
    ours, baseline = curve(found, OURS), curve(found, BASELINE)
    return all(map(float.__gt__, ours, baseline)) and ours[-1] >= PROMISED


if __name__ == "__main__":
    sys.exit(main())
