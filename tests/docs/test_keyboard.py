from pathlib import Path

from sessions_app.queries.shortcuts import SHORTCUTS

PAGE = Path(__file__).parents[2] / "docs" / "keyboard.md"


def test_the_page_lists_the_keys_that_there_are():
    listed = [line.split(" | ")[:2] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    keys = [["| " + " ".join(f"`{key}`" for key in shortcut.keys), shortcut.does] for shortcut in SHORTCUTS]
    assert listed == keys
